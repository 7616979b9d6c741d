<?php
/* How many strings of 1 MiB fit below the limit: one more each time until the fatal. */
ini_set('display_errors', '0');
ini_set('log_errors', '0');
$fitted = 0;
register_shutdown_function(function () use (&$fitted) {
    echo "fitted $fitted\n";
});
$strings = array_fill(0, 100, null);
for ($i = 0; $i < 100; $i++) {
    $string = str_repeat('x', (int) $argv[1]);
    $strings[$i] = $string;
    $fitted++;
}
