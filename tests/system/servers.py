"""Real servers for the system tests: started by hand, on unix sockets, ended by pid.

Nothing here touches a service of the machine: each server has a folder, a socket and a
configuration of its own, and listens on no network address. A program that is not
installed fails the test and names its package.
"""
import contextlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

# Generous: a machine may be slow, and loaded with other things as well. Only failures take so long.
START_SECONDS = 240

LONGEST_BASE = 48  # of the path that folders are made below; a unix socket's has at most 107 bytes


class MissingPackage(AssertionError):
    """A test that cannot run has failed."""


def program(name, package):
    """The path of a program, or a failure that says what to install."""
    path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if path is None:
        raise MissingPackage(f"missing package: {package} (program '{name}'); run tools/setup test")
    return path


def extension(name, package):
    """An extension of PHP that must be there, or a failure that says what to install."""
    done = subprocess.run([program("php8.2", "php8.2-cli"), "-m"], capture_output=True, text=True,
                          check=True)
    if name not in done.stdout.split():
        raise MissingPackage(f"missing package: {package} (extension '{name}'); run tools/setup test")


def wait_until(condition, what, process=None):
    """Polls until condition() is true; the bound is generous and means failure, never a pass."""
    end = time.monotonic() + START_SECONDS
    while not condition():
        if process is not None and process.poll() is not None:
            raise AssertionError(f"{what}: the process ended with {process.returncode}")
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {START_SECONDS} s")
        time.sleep(0.02)


def connects(path):
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except OSError:
            return False
    return True


def free_port():
    """A port of the loopback device that nobody has now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(command, **options):
    """A child process; ended, by its own pid, when the block is left."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def is_open_to_all(path):
    """Whether any user may pass through all folders of path."""
    while os.stat(path).st_mode & 0o001:
        if path == "/":
            return True
        path = os.path.dirname(path)
    return False


def base():
    """Where folders are made: a short path for sockets, open for servers that give up root."""
    for path in (os.path.realpath(tempfile.gettempdir()), "/tmp", "/var/tmp"):
        if len(path) <= LONGEST_BASE and os.access(path, os.W_OK) and is_open_to_all(path):
            return path
    return None


@contextlib.contextmanager
def folder():
    """A short temporary path that every user may pass through."""
    with tempfile.TemporaryDirectory(prefix="strata-", dir=base()) as path:
        os.chmod(path, 0o755)
        yield path


class Server:
    """What a test needs of a server: the pids it may explain, and its socket."""

    def __init__(self, process, path, pids=None):
        self.process, self.path = process, path
        self.pid = process.pid
        self.pids = pids or [process.pid]


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


# ---- MariaDB


class MariaConnection:
    """As much of the client protocol as a page view needs (no TLS, no password)."""

    CLIENT_FLAGS = 0x00000200 | 0x00008000 | 0x00080000 | 0x00000001

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(START_SECONDS)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")
        self.read_packet()
        hello = struct.pack("<IIB23x", self.CLIENT_FLAGS, 1 << 24, 33)
        self.send_packet(hello + b"root\0\0mysql_native_password\0", 1)
        self.check(self.read_packet())

    def read_exactly(self, count):
        data = self.file.read(count)
        if len(data) != count:
            raise AssertionError("mariadbd closed the connection")
        return data

    def read_packet(self):
        header = self.read_exactly(4)
        return self.read_exactly(int.from_bytes(header[:3], "little"))

    def send_packet(self, payload, number=0):
        self.socket.sendall(len(payload).to_bytes(3, "little") + bytes([number]) + payload)

    @staticmethod
    def check(packet):
        if packet[:1] == b"\xff":
            raise AssertionError(f"mariadbd: {packet[3:].decode(errors='replace')}")
        return packet

    def query(self, text):
        """Runs one statement and returns its rows as lists of bytes (None for NULL)."""
        self.send_packet(b"\x03" + text.encode())
        head = self.check(self.read_packet())
        if head[:1] == b"\0":
            return []
        ends, rows = 0, []
        while ends < 2:
            packet = self.check(self.read_packet())
            if packet[:1] == b"\xfe" and len(packet) < 9:
                ends += 1
            elif ends == 1:
                rows.append(self.split_row(packet))
        return rows

    @staticmethod
    def split_row(packet):
        fields, at = [], 0
        while at < len(packet):
            length, at = packet[at], at + 1
            if length == 0xfb:
                fields.append(None)
                continue
            if length >= 0xfc:
                size = {0xfc: 2, 0xfd: 3, 0xfe: 8}[length]
                length, at = int.from_bytes(packet[at:at + size], "little"), at + size
            fields.append(packet[at:at + length])
            at += length
        return fields

    def close(self):
        self.file.close()
        self.socket.close()


@contextlib.contextmanager
def mariadb(*options, own_mounts=None):
    """mariadbd with a data folder of its own; see MariaConnection. With own_mounts, a folder which
    only it sees the content of, and no wait for its socket there."""
    server = program("mariadbd", "mariadb-server-core")
    install = program("mariadb-install-db", "mariadb-server-core")
    with folder() as home:
        data, path = os.path.join(home, "data"), os.path.join(home, "socket")
        done = subprocess.run(
            [install, "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal",
             "--skip-test-db", "--user=root"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"mariadb-install-db failed: {done.stdout}{done.stderr}")
        # A server that starts removes the temporary tables which it finds in its tmpdir.
        command = [server, "--no-defaults", f"--datadir={data}", f"--socket={path}", "--user=root",
                   "--skip-networking", f"--pid-file={home}/pid", f"--tmpdir={home}", *options]
        if own_mounts is not None:
            command = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs none {own_mounts} && exec "$@"', "sh",
                       *command]
        with open(os.path.join(home, "log"), "wb") as log, running(command, stdout=log, stderr=log) as process:
            if own_mounts is None:
                wait_until(lambda: connects(path), "mariadbd", process)
            else:
                wait_until(lambda: os.path.exists(f"{home}/pid"), "mariadbd", process)
            yield Server(process, path)


# ---- nginx


@contextlib.contextmanager
def nginx():
    """Master and one worker; serves its own folder."""
    server = program("nginx", "nginx")
    with folder() as home:
        path = os.path.join(home, "socket")
        with open(os.path.join(home, "page.html"), "w", encoding="ascii") as file:
            file.write("page\n" * 20000)
        with open(os.path.join(home, "nginx.conf"), "w", encoding="ascii") as file:
            file.write(f"""daemon off; pid {home}/pid; error_log {home}/error.log; user root;
worker_processes 1;
events {{ worker_connections 64; }}
http {{
    access_log off; client_body_temp_path {home}/body; proxy_temp_path {home}/proxy;
    fastcgi_temp_path {home}/fastcgi; uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi;
    gzip on; gzip_types *; gzip_min_length 1;
    server {{ listen unix:{path}; root {home}; }}
}}
""")
        with running([server, "-p", home, "-e", f"{home}/error.log", "-c", f"{home}/nginx.conf"],
                     stderr=subprocess.DEVNULL) as process:
            wait_until(lambda: connects(path) and children(process.pid), "nginx", process)
            yield Server(process, path, [process.pid] + children(process.pid))


def http_get(path, page):
    """One request with an answer of any length, over a unix socket."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(START_SECONDS)
        connection.connect(path)
        connection.sendall(f"GET {page} HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n".encode())
        answer = b""
        while data := connection.recv(65536):
            answer += data
    if b" 200 " not in answer.split(b"\r\n")[0]:
        raise AssertionError(f"no answer to '{page}': {answer[:80]}")
    return answer


# ---- redis


@contextlib.contextmanager
def redis():
    """Debian's redis-server is redis-check-rdb under another name."""
    server = program("redis-check-rdb", "redis-tools")
    with folder() as home:
        path, name = os.path.join(home, "socket"), os.path.join(home, "redis-server")
        os.symlink(server, name)
        with running([name, "--port", "0", "--unixsocket", path, "--save", "", "--dir", home,
                      "--daemonize", "no"], stdout=subprocess.DEVNULL) as process:
            wait_until(lambda: connects(path), "redis-server", process)
            yield Server(process, path)


REDIS_BATCH = 100


def redis_command(path, *commands):
    """Sends commands (lists of words), some at a time, and returns all answers."""
    answers = b""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(START_SECONDS)
        connection.connect(path)
        for first in range(0, len(commands), REDIS_BATCH):
            answers += redis_batch(connection, commands[first:first + REDIS_BATCH])
    return answers


def redis_batch(connection, commands):
    text = b""
    for words in [*commands, ["ECHO", "the end"]]:
        text += b"*%d\r\n" % len(words)
        for word in words:
            text += b"$%d\r\n%s\r\n" % (len(word), word.encode())
    connection.sendall(text)
    answer = b""
    while not answer.endswith(b"the end\r\n"):
        data = connection.recv(65536)
        if not data:
            raise AssertionError("redis-server closed the connection")
        answer += data
    return answer


# ---- PHP


def fastcgi_record(kind, content):
    return struct.pack(">BBHHBx", 1, kind, 1, len(content), 0) + content


def fastcgi_open(path, script):
    """A connection on which one FastCGI request was sent."""
    names = {"SCRIPT_FILENAME": script, "SCRIPT_NAME": "/" + os.path.basename(script),
             "REQUEST_METHOD": "GET", "REQUEST_URI": "/", "SERVER_PROTOCOL": "HTTP/1.1"}
    pairs = b"".join(bytes([len(name)]) + struct.pack(">I", len(value) | 1 << 31) +
                     name.encode() + value.encode() for name, value in names.items())
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(START_SECONDS)
    connection.connect(path)
    connection.sendall(fastcgi_record(1, struct.pack(">HB5x", 1, 0)) + fastcgi_record(4, pairs) +
                       fastcgi_record(4, b"") + fastcgi_record(5, b""))
    return connection


def fastcgi_output(answer):
    """What the script wrote, out of the records so far."""
    output, at = b"", 0
    while at + 8 <= len(answer):
        kind, length, padding = struct.unpack_from(">xBxxHB", answer, at)
        if kind == 6:
            output += answer[at + 8:at + 8 + length]
        at += 8 + length + padding
    return output


def fastcgi_get(path, script):
    """One FastCGI request; returns what the script wrote."""
    answer = b""
    with fastcgi_open(path, script) as connection:
        while data := connection.recv(65536):
            answer += data
    return fastcgi_output(answer)


@contextlib.contextmanager
def php_fpm(script, workers=2, settings="", name="www", config=None, started=None):
    """A pool of static workers; script is what its page runs, settings go into its section.
    config: how the server is told its fpm.conf, when not by the whole path; started: how many
    workers there are before any request, when not all."""
    server = program("php-fpm8.2", "php8.2-fpm")
    with folder() as home:
        path = os.path.join(home, "socket")
        page = os.path.join(home, "page.php")
        with open(page, "w", encoding="utf-8") as file:
            file.write(script)
        with open(os.path.join(home, "fpm.conf"), "w", encoding="ascii") as file:
            file.write(f"""[global]
error_log = {home}/log
[{name}]
user = root
group = root
listen = {path}
pm = static
pm.max_children = {workers}
{settings}
""")
        with running([server, "-R", "-F", "-n", "-y", config or f"{home}/fpm.conf"],
                     stderr=subprocess.DEVNULL, cwd=home) as process:
            wait_until(lambda: connects(path) and len(children(process.pid)) == (workers if started is None else started),
                       "php-fpm", process)
            found = Server(process, path, [process.pid] + children(process.pid))
            found.page = page
            yield found


# ---- programs that say when they are ready


@contextlib.contextmanager
def program_that_waits(command, **options):
    """A program which prints one line when its memory is as it should be, and then sleeps."""
    with running(command, stdout=subprocess.PIPE, **options) as process:
        line = process.stdout.readline().decode().strip()
        if not line:
            raise AssertionError(f"'{command[0]}' ended with {process.wait()} before it was ready")
        found = Server(process, None)
        found.line = line
        yield found


PYTHON_SCRIPT = """
import time
kept = [bytes(i % 3000) for i in range(40000)]
dropped = [str(i) * 20 for i in range(200000)]
del dropped
print("ready", flush=True)
time.sleep(600)
"""

PHP_SCRIPT = """<?php
$kept = []; $dropped = [];
for ($i = 0; $i < 200000; $i++) { $kept[] = str_repeat("a", $i % 100); $dropped[] = [$i, "b$i"]; }
unset($dropped);
echo "ready\\n"; flush();
"""


def python_program():
    return program_that_waits([program("python3", "python3"), "-c", PYTHON_SCRIPT])


def php_program():
    script = PHP_SCRIPT.replace("<?php", "") + "sleep(600);"
    return program_that_waits([program("php8.2", "php8.2-cli"), "-r", script])


def end_by_signal(process, number=signal.SIGKILL):
    process.send_signal(number)
    process.wait()
