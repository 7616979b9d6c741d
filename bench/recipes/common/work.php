<?php
// The works behind PHP-FPM; the page is the last word of the query string or of the path.
require __DIR__ . '/works.php';

$body = work(basename($_SERVER['QUERY_STRING'] ?: ($_SERVER['REQUEST_URI'] ?? '')));
header('Content-Type: text/plain');
if ($body === null) {
    http_response_code(404);
}
echo $body;
