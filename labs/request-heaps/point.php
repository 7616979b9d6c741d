<?php
/*
 * point(KEY) prints PHP's own figures of this moment, and waits for a line when somebody
 * looks on from outside (labs/php) and the environment has LAB_STOPS.
 *
 * Nothing that is printed stays allocated, and the text is made twice, so that making it
 * has reached its peak before the peaks are read: the figures still hold while it waits.
 */
function point(string $key): void
{
    for ($pass = 0; $pass < 2; $pass++) {
        $text = null;
        $used = memory_get_usage();
        $real = memory_get_usage(true);
        $peak_used = memory_get_peak_usage();
        $peak_real = memory_get_peak_usage(true);
        $text = sprintf(
            "%s.used %15d\n%s.real %15d\n%s.peak_used %15d\n%s.peak_real %15d\n",
            $key, $used, $key, $real, $key, $peak_used, $key, $peak_real);
    }
    echo $text;
    $text = null;
    if (isset($_SERVER['LAB_STOPS'])) {
        echo "stop\n";
        fgets(STDIN);
    }
}

/* The same and the resident set, whose reading takes memory of its own. */
function point_with_rss(string $key): void
{
    $rss = (int) explode(' ', file_get_contents('/proc/self/statm'))[1] * 4096;
    echo "$key.rss ", $rss, "\n";
    point($key);
}
if (isset($_SERVER['LAB_STOPS'])) {
    fgets(STDIN); /* the stream takes its buffer at the first read */
}
point_with_rss('warm-up');
?>
