<?php
/* One request: prints real at its start, does what the query says, prints real again. */
$start = memory_get_usage(true);
$arrays = 478000;
$rows = [];
switch ($_SERVER['QUERY_STRING'] ?? '') {
    case 'small':
    case 'freed':
    case 'collected':
        $rows = array_fill(0, $arrays, null);
        for ($i = 0; $i < $arrays; $i++) {
            $rows[$i] = [$i];
        }
        break;
    case 'huge':
        $rows = array_fill(0, 6000000, 1);
        break;
}
$inside = memory_get_usage(true);
if (in_array($_SERVER['QUERY_STRING'] ?? '', ['freed', 'collected'], true)) {
    $rows = null;
}
if (($_SERVER['QUERY_STRING'] ?? '') === 'collected') {
    gc_mem_caches();
}
echo "start $start\ninside $inside\n";
