<?php
// The works behind RoadRunner's PSR-7 worker.
require __DIR__ . '/works.php';
require '/opt/rr-worker/vendor/autoload.php';

$factory = new Nyholm\Psr7\Factory\Psr17Factory();
$worker = new Spiral\RoadRunner\Http\PSR7Worker(
    Spiral\RoadRunner\Worker::create(), $factory, $factory, $factory);
while ($request = $worker->waitRequest()) {
    $page = basename($request->getUri()->getPath());
    $body = work($page);
    $worker->respond(new Nyholm\Psr7\Response($body === null ? 404 : 200, [], $body ?? ''));
}
