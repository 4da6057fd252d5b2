"""How threads of the command wait, and the stacks that they need: check_threads.py KEDGE."""
import os
import resource
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
        """The turns of a waiting thread as libgomp says them, which it does once each time that it is loaded."""
        shown = self.kedge(*arguments, env=self.environment(OMP_DISPLAY_ENV="verbose", **policy)).stderr
        return [line.split("'")[1] for line in shown.splitlines() if "GOMP_SPINCOUNT" in line]

    def test_threads_wait_a_short_while_and_nothing_starts_again(self):
        for arguments in ("solve", "p.ini", "-q"), ("plan", "p.ini"), ("mesh", "generate", "square", "2", "-o", "a.msh"), (
                "info",), ("--version",):
            self.assertEqual(self.spins(*arguments), ["1000"], arguments)

    def test_the_user_s_policy_stays(self):
        solve = "solve", "p.ini", "-q"
        self.assertEqual(self.spins(*solve, GOMP_SPINCOUNT="77"), ["77"])
        self.assertEqual(self.spins(*solve, OMP_WAIT_POLICY="passive"), ["0"])
        (active,) = self.spins(*solve, OMP_WAIT_POLICY="active")
        self.assertGreater(int(active), 10**6)

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
        while b"/libkedge_command" not in self.bytes_of(proc + "maps"):
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

    def test_the_command_starts_by_ld_so_and_through_a_link(self):
        loader = "/lib64/ld-linux-x86-64.so.2"
        if not os.path.exists(loader):
            self.skipTest(f"no {loader}")
        os.symlink(KEDGE, self.path("link"))
        for program in (loader, KEDGE), (self.path("link"),):
            result = subprocess.run([*program, "solve", "p.ini"], cwd=self.folder, text=True, capture_output=True,
                                    env=self.environment(OMP_DISPLAY_ENV="verbose"))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("converged", result.stdout)
            self.assertIn("GOMP_SPINCOUNT = '1000'", result.stderr)

    def test_threads_that_cannot_be_had_are_a_sentence(self):
        def scarce():
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

        if os.environ.get("KEDGE_LARGE_FRAMES"):
            self.skipTest("sanitizers take more room than there is")
        environment = self.environment(OMP_STACKSIZE="2 G")
        for command in ("solve", "p.ini"), ("plan", "p.ini"):
            self.refused(*command, "--threads", "4", code=1, env=environment, preexec_fn=scarce,
                         says="kedge: 4 threads cannot be started: Resource temporarily unavailable; take fewer")
        self.kedge("solve", "p.ini", "-q", "--threads", "1", env=environment, preexec_fn=scarce)

    def test_memory_for_no_file_is_a_sentence(self):
        """At limits at which HDF5 would be called without memory: each run solves or says why not."""
        if os.environ.get("KEDGE_LARGE_FRAMES"):
            self.skipTest("sanitizers take more room than there is")
        codes = set()
        for kilobytes in range(34000, 42000, 1000):
            def limit():
                resource.setrlimit(resource.RLIMIT_AS, (1024 * kilobytes,) * 2)

            run = self.kedge("solve", "p.ini", "-q", "--threads", "1", "-b", "host", "-s",
                             "mesh.generate=square 2", "-o", "o.hdf", code=None,
                             env=self.environment(), preexec_fn=limit)
            codes.add(run.returncode)
            self.assertTrue(run.returncode == 0 or run.stderr.startswith("kedge: "), (kilobytes, run))
        self.assertLessEqual(codes, {0, 1})

    STACK = 256 * 1024

    def solved_on_small_stacks(self, *settings):
        """Solve with stacks of 256 KB, the caller's too, to small errors."""
        if os.environ.get("KEDGE_LARGE_FRAMES"):
            self.skipTest("frames of this build are larger")

        def limit():
            resource.setrlimit(resource.RLIMIT_STACK, (self.STACK, self.STACK))

        keys = [word for setting in settings for word in ("--set", setting)]
        self.kedge("solve", "p.ini", "-q", "--threads", "3", "--report", "r.json", "--set", "output.file=u.vtkhdf", *keys,
                   env=self.environment(OMP_STACKSIZE="256k"), preexec_fn=limit)
        self.assertLess(self.json("r.json")["errors"]["u_star"]["l2"], 1e-3)

    def test_high_orders_need_no_more_stack_than_256_kb(self):
        for more in (), ("equation.reaction=0",), ("solver.precision=mixed",), ("solver.precision=compact",), (
                "solver.operator=ell",), ("solver.operator=matrix-free-plain",), ("solver.smoother=line",):
            with self.subTest(more):
                self.solved_on_small_stacks("mesh.generate=square 8", "space.order=12", *more)

    def test_curved_elements_and_quadrilaterals_need_no_more_stack_than_256_kb(self):
        for mesh in ("disk 4",), ("quads 6", "mesh.map=x + 0.1*y^2, y + 0.05*x*y"), ("mixed 6", "mesh.map=x, y + 0.1*x^2"):
            for more in (), ("space.inverse=exact",), ("equation.diffusion=2 + x, 0.1*y, 3 + y^2",), (
                    "boundary default.type=robin", "boundary default.coefficient=1 + x^2"):
                with self.subTest((mesh, more)):
                    self.solved_on_small_stacks("mesh.generate=" + mesh[0], *mesh[1:], "mesh.geometry=5", "mesh.refine=1",
                                                "space.order=8", *more)

    def test_long_formulas_need_no_more_stack_than_256_kb(self):
        terms = " + ".join(f"{1 + k / 977}*sin({k / 991}*x)" for k in range(1, 700))
        self.solved_on_small_stacks("mesh.generate=square 8", "space.order=4", "solver.tolerance=1e-8",
                                    "equation.diffusion=1e4 + " + terms)


if __name__ == "__main__":
    unittest.main()
