<?php
/*
 * Fills an array against the limit; prints the last readings before the fatal error. With
 * an argument it makes a point of that many rows.
 */
ini_set('display_errors', '0');
ini_set('log_errors', '0');
$used = $real = $count = 0;
$look_at = (int) ($argv[1] ?? 0);
register_shutdown_function(function () use (&$used, &$real, &$count, &$rows) {
    $rows = null;
    echo "used $used\nreal $real\ncount $count\n";
    preg_match('/tried to allocate (\d+) bytes/', error_get_last()['message'], $tried);
    echo "tried ", $tried[1], "\n";
});
$rows = [];
for (;;) {
    $rows[] = str_repeat('x', 100);
    $used = memory_get_usage();
    $real = memory_get_usage(true);
    $count++;
    if ($count === $look_at) {
        point('last');
    }
}
