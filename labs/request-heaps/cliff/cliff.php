<?php
/* COUNT,PAYLOAD,WARM: how far real, used and RSS rise for that many strings. */
[$count, $payload, $warm] = array_map('intval', explode(',', $argv[1]));
function rss(): int
{
    return (int) explode(' ', file_get_contents('/proc/self/statm'))[1] * 4096;
}
$strings = array_fill(0, $count, null);
if ($warm) {
    /* What fills the first chunk and one more: afterwards that one stays in the cache. */
    $strings[0] = str_repeat('x', 2000000);
    $strings[1] = str_repeat('x', 2000000);
    $strings[0] = $strings[1] = null;
}
rss();
$used = memory_get_usage();
$real = memory_get_usage(true);
$rss = rss();
for ($i = 0; $i < $count; $i++) {
    $strings[$i] = str_repeat('x', $payload);
}
echo 'real ', memory_get_usage(true) - $real, "\n";
echo 'used ', memory_get_usage() - $used, "\n";
echo 'rss ', rss() - $rss, "\n";
