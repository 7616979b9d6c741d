"""on_terminal.py COMMAND...: runs it on a pseudo terminal of 100 columns, or of TERMINAL_COLUMNS, prints what it printed."""
import fcntl
import os
import pty
import struct
import sys
import termios

columns = int(os.environ.get("TERMINAL_COLUMNS", "100"))
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    os.execvp(sys.argv[1], sys.argv[1:])
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.buffer.write(data)
sys.stdout.buffer.flush()
os.waitpid(pid, 0)
