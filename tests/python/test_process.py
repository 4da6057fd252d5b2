"""Ctrl-C, threads, processes, memory."""
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from unittest import mock

import numpy as np
from support import BACKEND, backend, everywhere, sines

import kedge
from kedge import _library as c

LONG = {"tolerance": 1e-13, "preconditioner": "jacobi", "max_iterations": 10**7}


class Processes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = backend()

    def test_ctrl_c_ends_a_solve_and_the_next_one_works(self):
        solver = kedge.Solver(kedge.square(100), sines(order=2).replace(**LONG), self.context)
        inside, until = threading.Event(), time.monotonic() + 60

        def interrupt():
            if inside.wait(60):
                os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()
        # A signal that came after this block would end the process: its solves may end, with a note, but it goes on.
        with self.assertRaises(KeyboardInterrupt), warnings.catch_warnings():
            warnings.simplefilter("ignore", kedge.Note)
            while time.monotonic() < until:
                solver.solve(on_failure="warn", progress=lambda p: inside.set() or True)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)
        self.assertTrue(kedge.Solver(kedge.square(4), sines(), self.context).solve().report.converged)

    def test_ctrl_c_ends_a_solve_that_nothing_watches(self):
        problem = sines(order=2).replace(**LONG)
        solver = kedge.Solver(kedge.square(100), problem, "host")  # a GPU has done it before it is asked
        statuses, solve = [], c.library.kedge_solver_solve

        def counted(*arguments):
            statuses.append(solve(*arguments))
            return statuses[-1]

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kedge.Note)
            began = time.monotonic()
            solver.solve(on_failure="warn")
            threading.Timer(0.2 * (time.monotonic() - began), os.kill, (os.getpid(), signal.SIGINT)).start()
            with mock.patch.object(c.library, "kedge_solver_solve", counted), self.assertRaises(KeyboardInterrupt):
                solver.solve(on_failure="warn")
                time.sleep(60)  # a signal that came too late would end this
        self.assertEqual(statuses, [c.STATUS.index("ERR_CANCELLED")])
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_a_signal_handler_that_solves_in_a_solve_is_refused(self):
        solver = kedge.Solver(kedge.square(60), sines(order=2).replace(**{**LONG, "tolerance": 1e-10}), self.context)
        other = kedge.Solver(kedge.square(4), sines(), self.context)
        refused = []

        def handler(_number, _frame):
            try:
                other.solve()
            except kedge.Error as error:
                refused.append(str(error))

        before = signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        try:
            report = solver.solve(on_failure="warn", progress=lambda p: True).report
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.assertTrue(report.converged)
        self.assertTrue(refused)
        for sentence in refused:
            self.assertIn("in the midst of a call in the same context", sentence)
        self.assertTrue(other.solve().report.converged)

    def test_what_a_call_made_goes_when_ctrl_c_comes_as_it_returns(self):
        mesh = kedge.square(2, backend=self.context)
        solver = kedge.Solver(mesh, sines(order=1), self.context)
        for name, call, n in (("kedge_mesh_refine", mesh.refine, 1), ("kedge_solver_solve", solver.solve, 1),
                              ("kedge_solver_solve_many", lambda: solver.solve(sources=[1, 2]), 2)):
            kind, function = "mesh" if "mesh" in name else "solution", getattr(c.library, name)
            destroy, gone = getattr(c.library, f"kedge_{kind}_destroy"), []

            def interrupted(*arguments, function=function):
                status = function(*arguments)
                self.context.failure = KeyboardInterrupt()
                return status

            def counted(handle, destroy=destroy, gone=gone):
                gone.append(handle)
                destroy(handle)

            with mock.patch.object(c.library, name, interrupted), \
                    mock.patch.object(c.library, f"kedge_{kind}_destroy", counted):
                with self.assertRaises(KeyboardInterrupt):
                    call()
            self.assertEqual(len(gone), n, name)
        self.assertTrue(solver.solve().report.converged)

    def test_a_process_ends_while_a_daemon_solves(self):
        program = """if True:
            import threading
            from support import backend, sines
            import kedge
            context, inside = backend(), threading.Event()
            problem = sines(order=2, tolerance=1e-13, preconditioner="jacobi", max_iterations=10**7)
            solver = kedge.Solver(kedge.square(150), problem, context)
            threading.Thread(target=solver.solve, kwargs={"on_failure": "warn", "progress": lambda p: inside.set() or True},
                             daemon=True).start()
            inside.wait()
        """
        for _ in range(3):
            end = subprocess.run([sys.executable, "-B", "-c", program], stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertEqual((end.returncode, end.stderr), (0, b""))

    def test_other_threads_go_on_during_a_solve(self):
        count, done = [0], threading.Event()

        def work():
            while not done.wait(0.001):
                count[0] += 1

        thread = threading.Thread(target=work)
        thread.start()
        try:
            kedge.Solver(kedge.square(60), sines(order=2, preconditioner="jacobi"), self.context).solve()
        finally:
            done.set()
            thread.join()
        self.assertGreater(count[0], 5)

    def test_threads_wait_a_short_while_unless_the_environment_says_how(self):
        script = "import os, kedge; print(os.environ.get('GOMP_SPINCOUNT'))"

        def spins(**policy):
            """The turns of a waiting thread as libgomp says them, and GOMP_SPINCOUNT after the import."""
            environment = {name: value for name, value in os.environ.items()
                           if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
            done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, check=True,
                                  env={**environment, "OMP_DISPLAY_ENV": "verbose", **policy})
            (turns,) = [line.split("'")[1] for line in done.stderr.splitlines() if "GOMP_SPINCOUNT" in line]
            return turns, done.stdout.strip()

        self.assertEqual(spins(), ("1000", "None"))
        self.assertEqual(spins(GOMP_SPINCOUNT="77"), ("77", "77"))
        self.assertEqual(spins(OMP_WAIT_POLICY="passive"), ("0", "None"))

    def test_an_import_behind_that_of_gmsh_is_noted_unless_the_environment_says_how_to_wait(self):
        gmsh = "import sys, types; sys.modules['gmsh'] = types.ModuleType('gmsh'); "

        def noted(script, **policy):
            environment = {name: value for name, value in os.environ.items()
                           if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
            done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, check=True,
                                  env={**environment, **policy})
            return "<string>:1: Note: gmsh was imported before kedge, " in done.stderr

        self.assertTrue(noted(gmsh + "import kedge"))
        self.assertFalse(noted("import kedge; " + gmsh))
        self.assertFalse(noted(gmsh + "import kedge", OMP_WAIT_POLICY="passive"))

    def test_threads_that_cannot_be_had_raise_an_error(self):
        script = ("import resource, kedge\nresource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
                  "try:\n    kedge.Context('host', threads=4)\nexcept kedge.OutOfMemory as error:\n    print(error)\n"
                  "print(kedge.Context('host', threads=1))\n")
        done = subprocess.run([sys.executable, "-B", "-c", script], text=True, capture_output=True, check=True,
                              env={**os.environ, "OMP_STACKSIZE": "2G"})
        first, second = done.stdout.splitlines()
        self.assertRegex(first, "^4 threads cannot be started: Resource temporarily unavailable; take fewer")
        self.assertIn("host", second)

    def test_threads_solve_with_a_context_each(self):
        mesh, problem = kedge.square(8), sines()

        def norm(_):
            return kedge.Solver(mesh, problem, backend=BACKEND).solve().report.u_l2

        with ThreadPoolExecutor(3) as pool:
            norms = list(pool.map(norm, range(6)))
        self.assertEqual(len(set(norms)), 1)

    def test_threads_take_turns_in_one_context(self):
        solver = kedge.Solver(kedge.square(8), sines(), self.context)
        with ThreadPoolExecutor(3) as pool:
            solutions = list(pool.map(lambda _: solver.solve().u, range(6)))
        for u in solutions[1:]:
            np.testing.assert_array_equal(u, solutions[0])

    def test_functions_are_called_while_the_caller_waits_for_other_threads(self):
        problem = kedge.Problem(order=5, source=lambda x, y: np.exp(x), boundary=everywhere(kedge.Dirichlet(0)))
        solver = kedge.Solver(kedge.square(20), problem, self.context)
        with ThreadPoolExecutor(2) as pool:
            one, two = pool.map(lambda _: solver.solve().u, range(2))
        np.testing.assert_array_equal(one, two)

    def test_a_forked_process_is_told_what_to_do(self):
        mesh = kedge.square(2)
        receive, send = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                mesh.refine()
                os.write(send, b"went on")
            except kedge.Error as error:
                os.write(send, str(error).encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        self.assertIn("get_context('spawn')", os.read(receive, 1000).decode())
        os.close(receive)
        os.close(send)

    def test_pickling_is_refused(self):
        mesh = kedge.square(2)
        solver = kedge.Solver(mesh, sines(order=1), self.context)
        for thing in (mesh, solver, solver.solve(), self.context):
            with self.assertRaisesRegex(TypeError, "cannot be pickled"):
                pickle.dumps(thing)
        problem = pickle.loads(pickle.dumps(sines(order=1)))
        self.assertEqual(problem.settings, sines(order=1).settings)

    def test_a_failure_of_another_process_has_its_sentence_and_report(self):
        with self.assertRaises(kedge.NotConverged) as caught:
            kedge.solve(kedge.square(4), sines(max_iterations=1), self.context)
        there = pickle.loads(pickle.dumps(caught.exception))
        self.assertIsInstance(there, kedge.NotConverged)
        self.assertEqual((str(there), there.report.iterations), (str(caught.exception), 1))
        self.assertEqual((there.solution, there.solutions), (None, []))

    def test_contexts_and_what_is_made_in_them_go_when_they_are_left(self):
        context = backend()
        mesh = kedge.square(4, backend=context)
        solver = kedge.Solver(mesh, sines(), context)
        s = solver.solve()
        left = [weakref.ref(thing) for thing in (context, mesh, solver, s)]
        del context, mesh, solver
        s.u_star
        del s
        gc.collect()
        self.assertEqual([ref() for ref in left], [None] * 4)

    def test_a_solver_goes_though_its_functions_refer_to_it(self):
        order, makers = [], ("context", "mesh", "problem", "solver", "solution")

        def noted(name, destroy):
            return lambda handle: (order.append(name), destroy(handle))

        with ExitStack() as stack:
            for name in makers:
                full = f"kedge_{name}_destroy"
                stack.enter_context(mock.patch.object(c.library, full, noted(name, getattr(c.library, full))))
            context = backend()
            things = {"number": 1}
            p = sines(order=1).replace(source=lambda x, y: things["number"] + 0 * x)
            solver = kedge.Solver(kedge.square(2, backend=context), p, context)
            things.update(solver=solver, solution=solver.solve(progress=lambda p: bool(things)))
            left = [weakref.ref(thing) for thing in (context, solver, things["solution"])]
            gc.collect()
            del order[:], context, solver, things, p
            gc.collect()
            self.assertEqual([ref() for ref in left], [None] * 3)
        self.assertEqual(sorted(order), sorted(makers))
        places = [order.index(name) for name in ("solution", "mesh", "context")]
        self.assertEqual(places, sorted(places))
        places = [order.index(name) for name in ("solver", "problem", "context")]
        self.assertEqual(places, sorted(places))

    def test_an_update_lets_go_the_function_before(self):
        solver = kedge.Solver(kedge.square(2), kedge.Problem(boundary=everywhere(kedge.Dirichlet(0))), self.context)
        left = []
        for _ in range(3):
            def source(x, y):
                return x
            left.append(weakref.ref(source))
            solver.update(source=source)
            del source
        gc.collect()
        self.assertEqual([ref() is None for ref in left], [True, True, False])
        self.assertTrue(solver.solve().report.converged)

    def test_contexts_whose_functions_wait_for_each_other_are_refused(self):
        zero, both, said = everywhere(kedge.Dirichlet(0)), threading.Barrier(2), []
        solvers = [kedge.Solver(kedge.square(2), kedge.Problem(boundary=zero), BACKEND, threads=1) for _ in range(2)]

        def solve(k):
            met = []

            def source(x, y):
                if not met:
                    met.append(both.wait(20))
                return solvers[1 - k].solve(source=2).means("u")[0] + 0 * x

            try:
                solvers[k].solve(source=source)
                said.append("solved")
            except kedge.Error as error:
                said.append(str(error))

        threads = [threading.Thread(target=solve, args=(k,), daemon=True) for k in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        self.assertEqual(len(said), 2)
        self.assertTrue([one for one in said if "wait for each other" in one])
        nested = solvers[0].solve(source=lambda x, y: solvers[1].solve(source=2).means("u")[0] + 0 * x)
        self.assertTrue(nested.report.converged)

    def test_solutions_give_their_memory_back(self):
        def resident():
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        solver = kedge.Solver(kedge.square(50), sines(order=3, tolerance=1e-11), self.context)
        for _ in range(5):
            solver.solve()
        before = resident()
        for _ in range(20):
            solver.solve()
        # a solution takes 2 MB
        self.assertLess(resident() - before, 8e6)


if __name__ == "__main__":
    unittest.main()
