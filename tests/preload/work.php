<?php
/* What PHP's bundled extensions do with memory, with one line of result each. */
$rows = [];
for ($i = 0; $i < 20000; $i++) {
    $rows[] = ["id" => $i, "name" => str_repeat(chr(97 + $i % 26), $i % 300), "x" => $i / 7];
}
echo "json ", md5(json_encode($rows)), PHP_EOL;
echo "serialize ", count(unserialize(serialize($rows))), PHP_EOL;
echo "pcre ", preg_match_all('/(\w)(\d+)/', implode(" ", array_map(fn($r) => "k" . $r["id"], $rows))), PHP_EOL;
echo "zlib ", strlen(gzuncompress(gzcompress(serialize($rows), 6))), PHP_EOL;
echo "hash ", hash("sha256", serialize($rows)), PHP_EOL;
echo "iconv ", strlen(iconv("UTF-8", "UTF-16", str_repeat("grün ", 50000))), PHP_EOL;
echo "openssl ", strlen(openssl_encrypt(str_repeat("a", 100000), "aes-256-cbc", "k", 0, str_repeat("i", 16))), PHP_EOL;
if (extension_loaded("mbstring")) {
    echo "mbstring ", mb_strlen(mb_convert_case(str_repeat("grün ", 50000), MB_CASE_UPPER)), PHP_EOL;
}
if (extension_loaded("dom")) {
    $document = new DOMDocument();
    $root = $document->appendChild($document->createElement("r"));
    foreach (array_slice($rows, 0, 5000) as $row) {
        $root->appendChild($document->createElement("e", $row["name"]));
    }
    $copy = new DOMDocument();
    $copy->loadXML($document->saveXML());
    echo "dom ", (new DOMXPath($copy))->query("//e")->length, PHP_EOL;
}
if (extension_loaded("sqlite3")) {
    $database = new SQLite3(":memory:");
    $database->exec("create table t(a, b)");
    $statement = $database->prepare("insert into t values(?, ?)");
    foreach ($rows as $row) {
        $statement->bindValue(1, $row["id"]);
        $statement->bindValue(2, $row["name"]);
        $statement->execute();
    }
    echo "sqlite3 ", $database->querySingle("select sum(length(b)) from t"), PHP_EOL;
}
if (extension_loaded("intl")) {
    $names = array_column(array_slice($rows, 0, 5000), "name");
    (new Collator("de_DE"))->sort($names);
    echo "intl ", md5(implode($names)), PHP_EOL;
}
if (extension_loaded("gd")) {
    $image = imagecreatetruecolor(500, 400);
    for ($i = 0; $i < 200; $i++) {
        imagefilledellipse($image, $i * 7 % 500, $i * 11 % 400, 60, 40, $i * 99991 & 0xffffff);
    }
    ob_start();
    imagepng(imagescale($image, 300, 200));
    echo "gd ", md5(ob_get_clean()), PHP_EOL;
}
$fibers = [];
for ($i = 0; $i < 200; $i++) {
    $fibers[] = $fiber = new Fiber(fn($n) => Fiber::suspend(str_repeat("f", $n)));
    $fiber->start($i * 10);
}
echo "fibers ", count(array_map(fn($f) => $f->resume(), $fibers)), PHP_EOL;
unset($fibers);
for ($i = 0; $i < 20000; $i++) {
    $a = new stdClass();
    $b = new stdClass();
    $a->b = $b;
    $b->a = $a;
}
echo "cycles ", gc_collect_cycles() >= 0 ? "collected" : "", PHP_EOL;
echo "extensions ", implode(" ", get_loaded_extensions()), PHP_EOL;
