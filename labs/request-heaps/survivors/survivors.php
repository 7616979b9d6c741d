<?php
/* COUNT,KEEP: makes so many arrays and frees all, or (KEEP) all but one in so many. */
[$count, $keep] = array_map('intval', explode(',', $argv[1]));
function row(string $point): void
{
    $rss = (int) explode(' ', file_get_contents('/proc/self/statm'))[1] * 4096;
    echo "$point.used ", memory_get_usage(), "\n";
    echo "$point.real ", memory_get_usage(true), "\n";
    echo "$point.rss ", $rss, "\n";
}
$kept = array_fill(0, 1000, null);
row('start');
row('start');
$rows = [];
for ($i = 0; $i < $count; $i++) {
    $rows[] = $keep ? ['id' => $i] : [$i];
}
row('full');
if ($keep) {
    for ($i = 0; $i < $count; $i += $keep) {
        $kept[intdiv($i, $keep)] = $rows[$i];
    }
}
$rows = null;
row('freed');
gc_mem_caches();
row('gc');
