// Threads, native code that allocates on its own threads, and much garbage.
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
const zlib = require("zlib");
const crypto = require("crypto");

function work(seed) {
    const text = Buffer.from("strata ".repeat(20000 + seed));
    const back = zlib.brotliDecompressSync(zlib.brotliCompressSync(text, { params: { 1: 4 } }));
    let objects = [];
    for (let i = 0; i < 200000; i++) {
        objects.push({ i, name: "n" + (i % 97) });
        if (objects.length > 5000) objects = objects.slice(2500);
    }
    return crypto.createHash("sha256").update(back).update(JSON.stringify(objects)).digest("hex");
}

async function main() {
    const threads = [];
    for (let round = 0; round < 3; round++) {
        for (let i = 0; i < 4; i++) {
            threads.push(new Promise((resolve, reject) => {
                const worker = new Worker(__filename, { workerData: i });
                worker.on("message", resolve);
                worker.on("error", reject);
            }));
        }
        console.log((await Promise.all(threads)).join("\n"));
    }
    const deflated = await Promise.all([...Array(40).keys()].map((i) => new Promise((resolve, reject) =>
        zlib.deflate(Buffer.alloc(100000 + i * 1000, i), (error, data) => error ? reject(error) : resolve(data.length)))));
    console.log(deflated.join(" "));
    const keys = await Promise.all([...Array(16).keys()].map((i) => new Promise((resolve, reject) =>
        crypto.scrypt("secret" + i, "salt", 32, (error, key) => error ? reject(error) : resolve(key.toString("hex"))))));
    console.log(keys.join("\n"));
}

if (isMainThread) main(); else parentPort.postMessage(work(workerData));
