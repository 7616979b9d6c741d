"""A target that is slow to read for as long as a test wants, whatever the machine."""
import os

import servers
import tool


class HeldTarget:
    """strata begins to read it and does not get to the end, until told.

    strata must run with the variables in environment.
    """

    def __init__(self, pid, home):
        self.held, self.go = os.path.join(home, "held"), os.path.join(home, "go")
        self.undone = os.path.join(home, "undone")  # once destructors of libraries were called
        os.mkfifo(self.go)
        self.environment = {"LD_PRELOAD": tool.target("libheld_read.so"),
                            "HELD_FILE": f"/proc/{pid}/smaps", "HELD_FOLDER": home}

    def wait(self):
        servers.wait_until(lambda: os.path.exists(self.held), "the look into the target")

    def release(self):
        with open(self.go, "wb"):
            pass
