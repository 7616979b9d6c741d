<?php
/* Prints used, real and RSS at five points of one workload. */
point_with_rss('start');
$rows = range(0, 999_999);
point_with_rss('range');
$copy = $rows;
$copy[0] = 1;
point_with_rss('copy');
unset($copy);
point_with_rss('unset-copy');
unset($rows);
point_with_rss('unset-rows');
