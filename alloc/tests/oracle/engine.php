<?php
/*
 * The PHP side of the oracle: carries out a list of operations and notes the four memory
 * figures after each one, without touching the heap by anything but the operations.
 *
 * Input (stdin): one 64-bit little-endian word for each operation, see `operation.h`.
 * Output (stdout): one record for the start and one for each operation; a record is five
 * such words: used, real, peak used, peak real, and what gc_mem_caches() answered (or 0).
 *
 * A heap which has just started is not empty: the first chunk holds PHP's own blocks, free
 * pages between them, and partly used runs of most block sizes. fill_first_chunk() takes
 * all of that and keeps it, so that the first chunk offers nothing: every later page comes
 * from the second chunk on, as in a fresh heap whose first chunk is one block of 511 pages.
 */
declare(strict_types=1);

const CHUNK_BYTES = 2097152;
const PAGE_BYTES = 4096;
/* str_repeat() asks for the length and this: header 24, terminator, rounded to 8. */
const STRING_OVERHEAD = 32;
const STRINGS = 256;
const ARRAYS = 16;
const FIXED_ARRAYS = 16;
const PIECE_BYTES = [8, 40, 104, 1000, 4096, 20000, 65536];
const RECORD_WORDS = 5;

/* The list node of a huge block; no string is as small. */
const NODE_BYTES = 24;
/* Every block size an operation can cause; 8, 16 and 32 are never asked for. */
const BIN_BYTES = [
    NODE_BYTES, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768,
    896, 1024, 1280, 1536, 1792, 2048, 2560, 3072,
];

/* Blocks which are taken and kept (or given back) one by one. */
final class Filler
{
    private const CAPACITY = 4096;
    private const NODES = 512;
    private array $strings;
    private array $keys = [];
    private SplObjectStorage $nodes;
    private int $kept = 0;
    private int $kept_nodes = 0;

    public function __construct()
    {
        $this->strings = array_fill(0, self::CAPACITY, null);
        /* Attaching an object takes one 24-byte block once the table has its size. */
        $this->nodes = new SplObjectStorage();
        for ($i = 0; $i < self::NODES; $i++) {
            $this->keys[] = new stdClass();
            $this->nodes->attach($this->keys[$i]);
        }
        for ($i = self::NODES - 1; $i >= 0; $i--) {
            $this->nodes->detach($this->keys[$i]);
        }
    }

    public function take(int $bytes, int $index): void
    {
        if ($bytes === NODE_BYTES) {
            $this->nodes->attach($this->keys[$this->kept_nodes + $index]);
        } else {
            $this->strings[$this->kept + $index] = str_repeat('x', $bytes - STRING_OVERHEAD);
        }
    }

    public function drop(int $bytes, int $index): void
    {
        if ($bytes === NODE_BYTES) {
            $this->nodes->detach($this->keys[$this->kept_nodes + $index]);
        } else {
            $this->strings[$this->kept + $index] = null;
        }
    }

    public function keep(int $bytes, int $count): void
    {
        for ($i = 0; $i < $count; $i++) {
            $this->take($bytes, $i);
        }
        if ($bytes === NODE_BYTES) {
            $this->kept_nodes += $count;
        } else {
            $this->kept += $count;
        }
    }

    /* True if so many blocks need a new run: given back, it is whole and gc collects it. */
    public function opens_run(int $bytes, int $count): bool
    {
        for ($i = 0; $i < $count; $i++) {
            $this->take($bytes, $i);
        }
        for ($i = $count - 1; $i >= 0; $i--) {
            $this->drop($bytes, $i);
        }
        return gc_mem_caches() > 0;
    }

    /* Free blocks of this size in runs which hold other blocks too. */
    public function free_blocks(int $bytes): int
    {
        $too_many = 1;
        while (!$this->opens_run($bytes, $too_many)) {
            $too_many *= 2;
        }
        $free = intdiv($too_many, 2);
        while ($too_many - $free > 1) {
            $middle = intdiv($free + $too_many, 2);
            if ($this->opens_run($bytes, $middle)) {
                $too_many = $middle;
            } else {
                $free = $middle;
            }
        }
        return $free;
    }
}

final class Engine
{
    private array $strings;
    private array $arrays;
    private array $fixed = [];
    private array $pieces = [];

    public function __construct()
    {
        $this->strings = array_fill(0, STRINGS, null);
        $this->arrays = array_fill(0, ARRAYS, null);
        for ($i = 0; $i < FIXED_ARRAYS; $i++) {
            $this->fixed[] = new SplFixedArray(0);
        }
        foreach (PIECE_BYTES as $bytes) {
            $this->pieces[] = str_repeat('x', $bytes);
        }
    }

    /* Carries out one operation; $collected is what a gc gave back. */
    private function step(int $word): int
    {
        $slot = ($word >> 8) & 0xff;
        $other = ($word >> 16) & 0xff;
        $amount = $word >> 24;
        switch ($word & 0xff) {
            case 1: /* make */
                $this->strings[$slot] = str_repeat('x', $amount);
                break;
            case 2: /* drop */
                $this->strings[$slot] = null;
                break;
            case 3: /* add a piece */
                $this->strings[$slot] .= $this->pieces[$other];
                break;
            case 4: /* add a string, perhaps itself */
                $this->strings[$slot] .= $this->strings[$other];
                break;
            case 5: /* cut */
                $this->strings[$slot] = substr($this->strings[$slot], 0, $amount);
                break;
            case 6: /* quote: takes twice the room, then shrinks it in place */
                $this->strings[$slot] = quotemeta($this->strings[$slot]);
                break;
            case 7: /* append */
                for ($i = 0; $i < $amount; $i++) {
                    $this->arrays[$slot][] = $i;
                }
                break;
            case 8: /* copy */
                $this->arrays[$slot] = $this->arrays[$other];
                $this->arrays[$slot][0] = 1;
                break;
            case 9: /* drop array */
                $this->arrays[$slot] = null;
                break;
            case 10: /* resize */
                $this->fixed[$slot]->setSize($amount);
                break;
            case 11: /* gc */
                return gc_mem_caches();
            case 12: /* reset peak */
                memory_reset_peak_usage();
                break;
        }
        return 0;
    }

    public function run(array $words, SplFixedArray $records): void
    {
        $at = 0;
        $collected = 0;
        foreach ($words as $word) {
            $records[$at] = memory_get_usage();
            $records[$at + 1] = memory_get_usage(true);
            $records[$at + 2] = memory_get_peak_usage();
            $records[$at + 3] = memory_get_peak_usage(true);
            $records[$at + 4] = $collected;
            $at += RECORD_WORDS;
            $collected = $this->step($word);
        }
        $records[$at] = memory_get_usage();
        $records[$at + 1] = memory_get_usage(true);
        $records[$at + 2] = memory_get_peak_usage();
        $records[$at + 3] = memory_get_peak_usage(true);
        $records[$at + 4] = $collected;
    }
}

function word(int $kind, int $slot, int $other, int $amount): int
{
    return $kind | $slot << 8 | $other << 16 | $amount << 24;
}

/* One of each, so that no first call has anything left to set up; ends with nothing kept. */
function warm_up(Engine $engine, Filler $filler, SplFixedArray $records): void
{
    $engine->run([
        word(1, 0, 0, 100), word(3, 0, 0, 0), word(1, 1, 0, 9), word(4, 0, 1, 0),
        word(4, 0, 0, 0), word(5, 0, 0, 50), word(6, 0, 0, 0), word(2, 0, 0, 0),
        word(2, 1, 0, 0), word(7, 0, 0, 20), word(8, 1, 0, 0), word(9, 0, 0, 0),
        word(9, 1, 0, 0), word(10, 0, 0, 20), word(10, 0, 0, 5), word(10, 0, 0, 0),
        word(11, 0, 0, 0), word(12, 0, 0, 0),
    ], $records);
    $filler->free_blocks(NODE_BYTES);
    $filler->free_blocks(BIN_BYTES[1]);
    gc_mem_caches();
}

function fail(string $why): never
{
    fwrite(STDERR, "engine.php: $why\n");
    exit(1);
}

/* Nothing here may leave a block behind when it returns: constants only, no arrays. */
function fill_first_chunk(Filler $filler): void
{
    foreach (BIN_BYTES as $bytes) {
        $filler->keep($bytes, $filler->free_blocks($bytes));
    }
    foreach (BIN_BYTES as $bytes) {
        if (!$filler->opens_run($bytes, 1)) {
            fail("blocks of $bytes bytes are still free");
        }
    }
    if (memory_get_usage(true) !== CHUNK_BYTES) {
        fail('the start took more than one chunk');
    }
    /* The page which has to come from a second chunk is given back; that chunk stays, in
       the cache. */
    for (;;) {
        $filler->take(PAGE_BYTES, 0);
        if (memory_get_usage(true) !== CHUNK_BYTES) {
            $filler->drop(PAGE_BYTES, 0);
            return;
        }
        $filler->drop(PAGE_BYTES, 0);
        $filler->keep(PAGE_BYTES, 1);
    }
}

function main(): void
{
    gc_disable();
    $words = unpack('P*', stream_get_contents(STDIN));
    $records = new SplFixedArray((max(count($words), 32) + 1) * RECORD_WORDS);
    $engine = new Engine();
    $filler = new Filler();
    warm_up($engine, $filler, $records);
    fill_first_chunk($filler);
    memory_reset_peak_usage();
    $engine->run($words, $records);
    for ($i = 0; $i <= count($words); $i++) {
        $record = '';
        for ($j = 0; $j < RECORD_WORDS; $j++) {
            $record .= pack('P', $records[$i * RECORD_WORDS + $j]);
        }
        fwrite(STDOUT, $record);
    }
}

main();
