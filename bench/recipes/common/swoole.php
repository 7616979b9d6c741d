<?php
// Serves work.php's four works from Swoole: php swoole.php PORT WORKERS coroutine|blocking
[, $port, $workers, $mode] = $argv;
$server = new Swoole\Http\Server('127.0.0.1', (int)$port, SWOOLE_PROCESS);
$server->set([
    'worker_num' => (int)$workers,
    'enable_coroutine' => $mode === 'coroutine',
    'hook_flags' => $mode === 'coroutine' ? SWOOLE_HOOK_ALL : 0,
    'dispatch_mode' => $mode === 'coroutine' ? 2 : 3,
    'log_file' => '/dev/null',
]);
$server->on('request', function ($request, $response) {
    $page = basename($request->server['request_uri']);
    $response->header('Content-Type', 'text/plain');
    if ($page === 'hello') {
        $response->end("hello\n");
    } elseif ($page === 'large') {
        $response->end(str_repeat('x', 1048576));
    } elseif ($page === 'mix' || $page === 'heavy') {
        $rows = [];
        $bytes = 1048576 * ($page === 'heavy' || mt_rand(1, 100) === 1 ? 20 : 1);
        for ($taken = 0; $taken < $bytes; $taken += 432) {
            $rows[] = str_repeat(chr(65 + $taken % 26), 400); // opcache folds constants
        }
        if ($page === 'heavy') {
            usleep(1000000);
        }
        $response->end(count($rows) > 0 ? "mix ok\n" : '');
    } elseif ($page === 'query') {
        $sum = 0.0;
        for ($i = 1; $i <= 1000; $i++) {
            $sum += sqrt($i);
        }
        $db = new PDO('mysql:host=127.0.0.1;port={database}', 'bench', 'bench');
        $db->query('SELECT SLEEP(0.05)')->fetchAll();
        $response->end(sprintf("query %.3f\n", $sum));
    } else {
        $response->status(404);
        $response->end();
    }
});
$server->start();
