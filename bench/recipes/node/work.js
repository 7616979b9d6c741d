// The four works; the page is the last word of the path. The query is a timer of 50 ms.
'use strict';
const cluster = require('cluster');
const http = require('http');

function blocks(bytes) {
    const rows = [];
    for (let taken = 0; taken < bytes; taken += 400) {
        rows.push(Buffer.alloc(400, 120));
    }
    return rows;
}

function answer(response, body) {
    response.writeHead(200, {'Content-Type': 'text/plain', 'Content-Length': body.length});
    response.end(body);
}

function query(response) {
    let sum = 0;
    for (let number = 1; number <= 1000; number++) {
        sum += Math.sqrt(number);
    }
    setTimeout(() => answer(response, `query ${sum.toFixed(3)}\n`), 50);
}

function mix(response, times, ms) {
    const rows = blocks(1048576 * times);
    setTimeout(() => answer(response, rows.length > 0 ? 'mix ok\n' : ''), ms);
}

const pages = {
    hello: (response) => answer(response, 'hello\n'),
    large: (response) => answer(response, 'x'.repeat(1048576)),
    query,
    mix: (response) => mix(response, Math.random() < 0.01 ? 20 : 1, 0),
    heavy: (response) => mix(response, 20, 1000),
};

if (cluster.isPrimary || cluster.isMaster) {
    for (let number = 0; number < {workers}; number++) {
        cluster.fork();
    }
} else {
    http.createServer((request, response) => {
        const page = pages[request.url.split('/').pop()];
        if (page) {
            page(response);
        } else {
            response.writeHead(404);
            response.end();
        }
    }).listen({port}, '127.0.0.1', 511);
}
