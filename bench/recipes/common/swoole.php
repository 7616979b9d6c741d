<?php
// Serves the works from Swoole: php swoole.php PORT WORKERS coroutine|blocking
require __DIR__ . '/works.php';

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
    $body = work($page);
    if ($body === null) {
        $response->status(404);
    }
    $response->end($body ?? '');
});
$server->start();
