<?php
/* Prints used, real and RSS at five points of one workload. */
function row(string $point): void
{
    $rss = (int) explode(' ', file_get_contents('/proc/self/statm'))[1] * 4096;
    echo "$point.used ", memory_get_usage(), "\n";
    echo "$point.real ", memory_get_usage(true), "\n";
    echo "$point.rss ", $rss, "\n";
}
row('start');
row('start');
$rows = range(0, 999_999);
row('range');
$copy = $rows;
$copy[0] = 1;
row('copy');
unset($copy);
row('unset-copy');
unset($rows);
row('unset-rows');
echo 'peak.real ', memory_get_peak_usage(true), "\n";
