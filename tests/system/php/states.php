<?php
// states.php - goes from one random heap to another and prints what PHP says of each.
//
// One line of input for each step: "go SEED" changes the heap and prints used, real and
// both peaks; "gc" prints what gc_mem_caches() returned. Nothing that is printed stays
// allocated, and before each reading the peak is raised above what printing takes, so
// that the figures still hold while the script waits for the next line.
$slots = array_fill(0, 64, null);
$used = $real = $peak = $peak_real = 0;

function change(array &$slots, int $seed): void
{
    mt_srand($seed);
    for ($i = mt_rand(20, 120); $i > 0; $i--) {
        $slot = mt_rand(0, 63);
        switch (mt_rand(0, 5)) {
            case 0:
                $slots[$slot] = str_repeat('x', mt_rand(1, 3000));
                break;
            case 1:
                $slots[$slot] = str_repeat('x', mt_rand(3000, 2000000));
                break;
            case 2:
                $slots[$slot] = str_repeat('x', mt_rand(2000000, 5000000));
                break;
            case 3:
                $rows = [];
                for ($j = mt_rand(1, 3000); $j > 0; $j--) {
                    $rows[] = [$j, str_repeat('y', $j % 200)];
                }
                $slots[$slot] = $rows;
                break;
            default:
                $slots[$slot] = null;
        }
    }
}

fgets(STDIN); // the stream takes its buffer at the first read
echo "ready\n";
while (($line = fgets(STDIN)) !== false) {
    if ($line === "gc\n") {
        $used = gc_mem_caches();
        printf("%d\n", $used);
        continue;
    }
    change($slots, (int)substr($line, 3));
    str_repeat('x', 65536);
    $used = memory_get_usage();
    $real = memory_get_usage(true);
    $peak = memory_get_peak_usage();
    $peak_real = memory_get_peak_usage(true);
    printf("%d %d %d %d\n", $used, $real, $peak, $peak_real);
}
