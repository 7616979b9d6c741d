<?php
// The works behind RoadRunner's PSR-7 worker.
require '/opt/rr-worker/vendor/autoload.php';

$factory = new Nyholm\Psr7\Factory\Psr17Factory();
$worker = new Spiral\RoadRunner\Http\PSR7Worker(
    Spiral\RoadRunner\Worker::create(), $factory, $factory, $factory);
while ($request = $worker->waitRequest()) {
    $page = basename($request->getUri()->getPath());
    $body = '';
    if ($page === 'hello') {
        $body = "hello\n";
    } elseif ($page === 'large') {
        $body = str_repeat('x', 1048576);
    } elseif ($page === 'mix' || $page === 'heavy') {
        $rows = [];
        $bytes = 1048576 * ($page === 'heavy' || mt_rand(1, 100) === 1 ? 20 : 1);
        for ($taken = 0; $taken < $bytes; $taken += 432) {
            $rows[] = str_repeat(chr(65 + $taken % 26), 400); // opcache folds constants
        }
        if ($page === 'heavy') {
            usleep(1000000);
        }
        $body = count($rows) > 0 ? "mix ok\n" : '';
        unset($rows);
    } elseif ($page === 'query') {
        $sum = 0.0;
        for ($i = 1; $i <= 1000; $i++) {
            $sum += sqrt($i);
        }
        $db = new PDO('mysql:host=127.0.0.1;port={database}', 'bench', 'bench');
        $db->query('SELECT SLEEP(0.05)')->fetchAll();
        $body = sprintf("query %.3f\n", $sum);
    }
    $worker->respond(new Nyholm\Psr7\Response($body === '' ? 404 : 200, [], $body));
}
