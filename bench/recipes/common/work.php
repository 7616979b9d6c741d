<?php
// The works in PHP; the page is the last word of the query string or of the path.
$page = basename($_SERVER['QUERY_STRING'] ?: ($_SERVER['REQUEST_URI'] ?? ''));
header('Content-Type: text/plain');

function blocks(int $bytes): array
{
    $rows = [];
    for ($taken = 0; $taken < $bytes; $taken += 432) {
        $rows[] = str_repeat(chr(65 + $taken % 26), 400); // opcache folds constants
    }
    return $rows;
}

if ($page === 'hello') {
    echo "hello\n";
} elseif ($page === 'large') {
    echo str_repeat('x', 1048576);
} elseif ($page === 'mix') {
    $rows = blocks(1048576 * (mt_rand(1, 100) === 1 ? 20 : 1));
    echo count($rows) > 0 ? "mix ok\n" : ''; // used, or opcache would drop the rows at once
} elseif ($page === 'heavy') {
    $rows = blocks(1048576 * 20);
    usleep(1000000);
    echo count($rows) > 0 ? "mix ok\n" : ''; // used, or opcache would drop the rows at once
} elseif ($page === 'query') {
    $sum = 0.0;
    for ($i = 1; $i <= 1000; $i++) {
        $sum += sqrt($i);
    }
    $db = new PDO('mysql:host=127.0.0.1;port={database}', 'bench', 'bench');
    $db->query('SELECT SLEEP(0.05)')->fetchAll();
    printf("query %.3f\n", $sum);
} else {
    http_response_code(404);
}
