<?php
// The works in PHP, for every way of serving PHP: the body for a page, or null when there is none.

function blocks(int $bytes): array
{
    $rows = [];
    for ($taken = 0; $taken < $bytes; $taken += 432) {
        $rows[] = str_repeat(chr(65 + $taken % 26), 400); // opcache folds constants
    }
    return $rows;
}

function work_query(): string
{
    $sum = 0.0;
    for ($i = 1; $i <= 1000; $i++) {
        $sum += sqrt($i);
    }
    $db = new PDO('mysql:host=127.0.0.1;port={database}', 'bench', 'bench');
    $db->query('SELECT SLEEP(0.05)')->fetchAll();
    return sprintf("query %.3f\n", $sum);
}

function work_mix(string $page): string
{
    $heavy = $page === 'heavy' || mt_rand(1, 100) === 1;
    $rows = blocks(1048576 * ($heavy ? 20 : 1));
    if ($page === 'heavy') {
        usleep(1000000);
    }
    return count($rows) > 0 ? "mix ok\n" : ''; // used, or opcache would drop the rows at once
}

function work(string $page): ?string
{
    switch ($page) {
        case 'hello':
            return "hello\n";
        case 'large':
            return str_repeat('x', 1048576);
        case 'mix':
        case 'heavy':
            return work_mix($page);
        case 'query':
            return work_query();
        default:
            return null;
    }
}
