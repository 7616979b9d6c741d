<?php
/* Fills an array against the limit; prints the last readings before the fatal error. */
ini_set('display_errors', '0');
ini_set('log_errors', '0');
$used = $real = $count = 0;
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
}
