"""The method of ps_mem, written anew: PSS of every process, summed for each program.

For each process the whole of smaps is read and its Pss and Private lines are added up; the name
is that of the executable. It prints the programs, smallest first, as ps_mem does.
"""
import os
import re

LINE = re.compile(r"^(Pss|Private_Clean|Private_Dirty):\s+(\d+)", re.M)


def read(pid):
    """(program, private KiB, proportional KiB), or None for what is gone or has no memory."""
    try:
        program = os.readlink(f"/proc/{pid}/exe")
        with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    private = proportional = 0
    for key, value in LINE.findall(text):
        if key == "Pss":
            proportional += int(value)
        else:
            private += int(value)
    return os.path.basename(program), private, proportional


def main():
    programs = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        found = read(pid)
        if found is not None:
            private, proportional, count = programs.get(found[0], (0, 0, 0))
            programs[found[0]] = private + found[1], proportional + found[2], count + 1
    for name, (private, proportional, count) in sorted(programs.items(), key=lambda item: item[1][1]):
        print(f"{private:10} KiB + {proportional - private:10} KiB = {proportional:10} KiB {name} ({count})")


if __name__ == "__main__":
    main()
