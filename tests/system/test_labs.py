"""Labs that start servers and make cgroups leave nothing behind, however they end."""
import glob
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

import servers
import tool

LABS = os.path.join(os.environ["STRATA_BUILD"], "libexec", "strata", "labs")
CGROUPS = ["/sys/fs/cgroup/memory/strata-lab-*", "/sys/fs/cgroup/strata-lab-*"]


def children(pid):
    try:
        return servers.children(pid)
    except FileNotFoundError:
        return []


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""


def descendants(pid):
    found = children(pid)
    for child in list(found):
        found += descendants(child)
    return found


def cgroups_of(pid):
    return [path for pattern in CGROUPS for path in glob.glob(pattern) if path.endswith(f"-{pid}")]


class Labs(unittest.TestCase):
    def start(self, folder, *words, **variables):
        environment = dict(os.environ, TMPDIR=folder, **variables)
        return subprocess.Popen([os.path.join(LABS, words[0]), *words[1:]], env=environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.STDOUT, start_new_session=True)

    def left_behind(self, lab, folder, known):
        self.assertEqual(os.listdir(folder), [])
        self.assertEqual(cgroups_of(lab.pid), [])
        done = subprocess.run(["ps", "-s", str(lab.pid), "-o", "pid=,args="], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.stdout.strip(), "")
        self.assertEqual([pid for pid in known if os.path.exists(f"/proc/{pid}")], [])

    def end_when(self, words, ready, end, code):
        """Starts a lab, waits until ready(its descendants), ends it, and looks for what it left."""
        with tempfile.TemporaryDirectory(dir=servers.base()) as folder, self.start(folder, *words) as lab:
            servers.wait_until(lambda: ready(lab, descendants(lab.pid)), words[0], lab)
            known = descendants(lab.pid)
            end(lab, known)
            output = lab.communicate(timeout=240)[0]
            self.assertEqual(lab.returncode, code, output)
            self.left_behind(lab, folder, known)

    def test_interrupt_with_a_server(self):
        self.end_when(["lab-mysql-churn", "clients=8"],
                      lambda _, known: "mariadbd" in map(name_of, known),
                      lambda lab, _: os.killpg(lab.pid, signal.SIGINT), 130)

    def test_terminate_with_a_cgroup(self):
        self.end_when(["lab-alloc-test", "mib=32"],
                      lambda lab, known: cgroups_of(lab.pid) and len(known) > 1,
                      lambda lab, _: lab.terminate(), 143)

    def test_a_lab_that_is_killed(self):
        self.end_when(["lab-docker-number", "files=1000"],
                      lambda lab, known: cgroups_of(lab.pid) and len(known) > 1,
                      lambda lab, known: os.kill(known[0], signal.SIGKILL), 128 + signal.SIGKILL)

    def test_a_server_that_is_not_installed(self):
        with tempfile.TemporaryDirectory(dir=servers.base()) as folder, \
                self.start(folder, "lab-mysql-churn",
                           STRATA_MARIADB_INSTALL_DB="no-such-program") as lab:
            output = lab.communicate(timeout=240)[0]
            self.assertEqual(lab.returncode, 5, output)
            self.assertIn("install the package mariadb-server-core", output)
            self.left_behind(lab, folder, [])

    def test_a_limit_below_what_a_lab_takes(self):
        """In a cgroup that may have less the lab does not start, and says how it would."""
        if os.getuid() != 0:
            self.fail("needs root, to make a cgroup with a limit")
        version1 = os.path.exists("/sys/fs/cgroup/memory/cgroup.procs")
        cgroup = f"/sys/fs/cgroup/{'memory/' if version1 else ''}strata-test-{os.getpid()}"
        os.mkdir(cgroup)
        self.addCleanup(os.rmdir, cgroup)
        with open(f"{cgroup}/memory.{'limit_in_bytes' if version1 else 'max'}", "w", encoding="ascii") as file:
            file.write(str(256 << 20))
        done = subprocess.run(["sh", "-c", 'echo $$ >"$1/cgroup.procs" && exec "$2" lab alloc-test', "sh",
                               cgroup, tool.STRATA], env=dict(os.environ, STRATA_LABS=LABS), capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual((done.returncode, done.stdout), (5, ""), done.stderr)
        self.assertIn("256.0 MiB are the limit of its cgroup; 'strata lab alloc-test mib=44' takes", done.stderr)

    def test_a_share_is_computed_without_a_cgroup(self):
        """Nobody may make cgroups without being root; the lab then limits the others itself."""
        if os.getuid() != 0:
            self.fail("this test must be run as root")
        with servers.folder() as programs, tempfile.TemporaryDirectory(dir=servers.base()) as folder:
            os.chmod(folder, 0o777)
            # The build may lie where only its owner can go.
            lab = shutil.copy(os.path.join(LABS, "lab-alloc-test"), programs)
            done = subprocess.run(
                ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", lab, "--check", "mib=32"],
                env=dict(os.environ, TMPDIR=folder, STRATA_PROGRAM=tool.copy_for_everybody(programs)),
                capture_output=True, text=True, timeout=240, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("the share of others is computed", done.stdout)
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
