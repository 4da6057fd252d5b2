"""How threads of the command wait, and that starting itself again for it leaves no trace: check_threads.py KEDGE."""
import os
import signal
import subprocess
import time
import unittest

from command import KEDGE, Command

POLICIES = "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"


class Threads(Command):
    def environment(self, **more):
        """Without the policy that tests have."""
        return {**{name: value for name, value in os.environ.items() if name not in POLICIES}, **more}

    def spins(self, *arguments, **policy):
        """The turns of a waiting thread as libgomp says them, once for each time that the command is started."""
        shown = self.kedge(*arguments, env=self.environment(OMP_DISPLAY_ENV="verbose", **policy)).stderr
        return [line.split("'")[1] for line in shown.splitlines() if "GOMP_SPINCOUNT" in line]

    def test_threads_wait_a_short_while(self):
        for arguments in ("solve", "p.ini", "-q"), ("plan", "p.ini"), ("mesh", "generate", "square", "2", "-o", "a.msh"):
            self.assertEqual(self.spins(*arguments)[1:], ["1000"])

    def test_the_user_s_policy_stays_and_nothing_starts_again(self):
        solve = "solve", "p.ini", "-q"
        self.assertEqual(self.spins(*solve, GOMP_SPINCOUNT="77"), ["77"])
        self.assertEqual(self.spins(*solve, OMP_WAIT_POLICY="passive"), ["0"])
        (active,) = self.spins(*solve, OMP_WAIT_POLICY="active")
        self.assertGreater(int(active), 10**6)

    def test_what_takes_no_threads_does_not_start_again(self):
        for arguments in ("--version",), ("--help",), ("help", "order"), ("info",):
            self.assertEqual(len(self.spins(*arguments)), 1, arguments)

    def test_exit_codes_and_sentences_stay(self):
        environment = self.environment()
        result = self.kedge("solve", "p.ini", "--set", "solver.max_iterations=1", "--set", "solver.preconditioner=jacobi",
                            code=3, env=environment)
        self.assertIn("p.ini: 800 elements", result.stdout)
        self.refused("solve", "no file.ini", says="no file.ini", env=environment)
        self.refused("solve", "p.ini", "--bad", says="unrecognized option '--bad'", env=environment)
        closed = subprocess.run(["sh", "-c", '"$K" solve p.ini >&-'], cwd=self.folder, text=True, capture_output=True,
                                env={**environment, "K": KEDGE})
        self.assertEqual(closed.returncode, 1)
        self.assertIn("cannot write to standard output", closed.stderr)

    def test_standard_input_name_and_ignored_signals_stay(self):
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        process = subprocess.Popen(["kedge-as-called", "solve", "/dev/stdin", "-q"], executable=KEDGE, cwd=self.folder,
                                   stdin=subprocess.PIPE, env=self.environment(), preexec_fn=ignore)
        proc = f"/proc/{process.pid}/"
        deadline = time.monotonic() + 60
        while b"GOMP_SPINCOUNT=1000" not in self.bytes_of(proc + "environ"):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        self.assertEqual(self.bytes_of(proc + "comm"), os.path.basename(KEDGE).encode() + b"\n")
        self.assertEqual(self.bytes_of(proc + "cmdline"), b"kedge-as-called\0solve\0/dev/stdin\0-q\0")
        process.send_signal(signal.SIGHUP)
        with open(self.path("p.ini"), "rb") as problem:
            process.communicate(problem.read())
        self.assertEqual(process.returncode, 0)

    def bytes_of(self, path):
        with open(path, "rb") as file:
            return file.read()

    def test_a_command_that_ld_so_starts_stays_itself(self):
        loader = "/lib64/ld-linux-x86-64.so.2"
        if not os.path.exists(loader):
            self.skipTest(f"no {loader}")
        result = subprocess.run([loader, KEDGE, "solve", "p.ini"], cwd=self.folder, text=True, capture_output=True,
                                env=self.environment())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("converged", result.stdout)


if __name__ == "__main__":
    unittest.main()
