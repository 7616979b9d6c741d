"""The four works as a WSGI application; the page is the last word of the path."""
import math
import random
import time

BLOCK = 400


def blocks(count):
    return [bytes(BLOCK) for _ in range(count // (BLOCK + 33))]


def query():
    import pymysql
    total = sum(math.sqrt(number) for number in range(1, 1001))
    with pymysql.connect(host="127.0.0.1", port=int("{database}" or 0), user="bench",
                         password="bench") as connection, connection.cursor() as cursor:
        cursor.execute("SELECT SLEEP(0.05)")
        cursor.fetchall()
    return f"query {total:.3f}\n".encode()


def mix(times, seconds=0):
    kept = blocks(1048576 * times)
    time.sleep(seconds)
    return b"mix ok\n" if kept else b""


PAGES = {
    "hello": lambda: b"hello\n",
    "large": lambda: b"x" * 1048576,
    "query": query,
    "mix": lambda: mix(20 if random.randrange(100) == 0 else 1),
    "heavy": lambda: mix(20, 1),
}


def application(environ, start_response):
    page = PAGES.get(environ["PATH_INFO"].rsplit("/", 1)[-1])
    body = page() if page else b""
    start_response("200 OK" if page else "404 Not Found",
                   [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
