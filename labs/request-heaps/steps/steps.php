<?php
/* Appends integers and prints used and real every 20,000. */
$rows = [];
for ($n = 1; $n <= 160000; $n++) {
    $rows[] = $n;
    if ($n % 20000 === 0) {
        point((string) $n);
    }
}
