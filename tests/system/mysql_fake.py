"""A process named mariadbd that answers as a database server never should.

    mariadbd mysql_fake.py SOCKET BEHAVIOUR RECEIVED

Listens on SOCKET and writes what clients send to the file RECEIVED. Ends when its standard input
does.
"""
import os
import socket
import sys
import threading
import time

SOCKET, BEHAVIOUR, RECEIVED = sys.argv[1:4]
GREETING = (b"\x0a5.5.5-10.11.99-MariaDB-fake\0" + b"\x01\0\0\0" + b"12345678\0" + b"\xfe\xf7" + b"\x21"
            + b"\x02\0" + b"\xff\x81" + b"\x15" + b"\0" * 10 + b"123456789012\0" + b"mysql_native_password\0")
OK = b"\0\0\0\x02\0\0\0"
COLUMN = b"\x03def\0\0\0\x01a\0\x0c\x21\0\xff\0\0\0\xfd\0\0\0\0\0"
END = b"\xfe\0\0\x02\0"


class Client:
    def __init__(self, connection):
        self.connection, self.number = connection, 0

    def send(self, payload):
        self.connection.sendall(len(payload).to_bytes(3, "little") + bytes([self.number & 255]) + payload)
        self.number += 1

    def receive(self):
        data = self.connection.recv(1 << 16)
        if not data:
            raise ConnectionError
        with open(RECEIVED, "ab") as file:
            file.write(data)
        self.number = data[3] + 1
        return data[4:]

    def rows(self, columns, rows):
        self.send(bytes([columns]))
        for _ in range(columns):
            self.send(COLUMN)
        self.send(END)
        for row in rows:
            self.send(b"".join(bytes([len(cell)]) + cell for cell in row))
        self.send(END)

    def log_in(self):
        self.send(GREETING)
        self.receive()
        self.send(OK)

    def endless(self, packet):
        while True:
            self.send(packet)


def answer(client, query):
    """What the behaviour says to one statement."""
    if query.startswith(b"SET "):
        client.send(OK)
    elif BEHAVIOUR == "infile":
        client.send(b"\xfb/etc/passwd")
        client.receive()
        client.send(OK)
    elif BEHAVIOUR == "columns":
        client.send(b"\xfe" + b"\xff" * 8)
        client.endless(COLUMN)
    elif BEHAVIOUR == "rows":
        client.send(b"\x02")
        client.send(COLUMN)
        client.send(COLUMN)
        client.send(END)
        client.endless(b"\x01a\x01b")
    elif BEHAVIOUR == "cells":
        client.rows(2, [(b"Connections", b"7 or so"), (b"\xff\xfe\0\x1b[31m", b"1"), (b"Uptime", b"5")])
    elif BEHAVIOUR == "packet":
        client.send(b"\x02")
        client.connection.sendall(b"\xff\xff\xff\x02" + b"x" * (1 << 24))
    elif BEHAVIOUR == "leaves" and b"STATUS" in query:
        raise ConnectionError
    elif BEHAVIOUR == "slow" and b"performance_schema." in query:
        client.send(b"\xff" + (1969).to_bytes(2, "little") + b"#70100Query execution was interrupted")
    elif b"VARIABLES" in query:
        client.rows(2, [(b"performance_schema", b"ON"), (b"max_connections", b"151")])
    elif b"STATUS" in query:
        client.rows(2, [(b"Uptime", b"5"), (b"Memory_used", b"1000000")])
    else:
        client.rows(3, [])


def serve(connection):
    client = Client(connection)
    try:
        if BEHAVIOUR == "garbage":
            connection.sendall(os.urandom(4096))
        elif BEHAVIOUR == "hangs":
            time.sleep(3600)
        elif BEHAVIOUR == "drips":
            for byte in b"\xff\xff\xff\0" + GREETING * 10000:
                connection.sendall(bytes([byte]))
                time.sleep(0.3)
        elif BEHAVIOUR == "greets":
            client.endless(b"\x0a" + b"8" * 60000)
        elif BEHAVIOUR in ("mysql_clear_password", "dialog", "sha256_password"):
            client.send(GREETING)
            client.receive()
            client.send(b"\xfe" + BEHAVIOUR.encode() + b"\0" + b"\x04Password:")
            client.receive()
            client.send(OK)
        else:
            client.log_in()
            while True:
                answer(client, client.receive()[1:])
    except OSError:
        pass
    finally:
        connection.close()


def main():
    if len(sys.argv) > 4:
        os.setgid(int(sys.argv[4]))
        os.setuid(int(sys.argv[4]))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(SOCKET)
    listener.listen(8)
    print("ready", flush=True)

    def accept():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()


main()
