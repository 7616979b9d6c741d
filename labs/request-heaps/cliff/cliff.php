<?php
/* COUNT,PAYLOAD,WARM: makes a point before and after that many strings. */
[$count, $payload, $warm] = array_map('intval', explode(',', $argv[1]));
$strings = array_fill(0, $count, null);
if ($warm) {
    /* What fills the first chunk and one more: afterwards that one stays in the cache. */
    $strings[0] = str_repeat('x', 2000000);
    $strings[1] = str_repeat('x', 2000000);
    $strings[0] = $strings[1] = null;
}
point_with_rss('before');
for ($i = 0; $i < $count; $i++) {
    $strings[$i] = str_repeat('x', $payload);
}
point_with_rss('after');
