"""Problems: every key has an argument; files; what is refused."""
import copy
import inspect
import os
import pickle
import resource
import re
import tempfile
import unittest
from unittest import mock

import numpy as np
from support import ROOT, everywhere

import kedge
from kedge import _library as c
from kedge import problem as module


def keys():
    """The table of keys of the library."""
    found = []
    for file, name in ("keys.c", "kg_problem_keys"), ("waves.c", "kg_wave_keys"):
        text = (ROOT / "src/problem" / file).read_text()
        table = re.search(rf"kg_problem_key {name}\[\] = \{{(.*?)\n\}};", text, re.S).group(1)
        found += re.findall(r'^  \{"([^"]+)", "([^"]+)"', table, re.M)
    return found


class Column:
    """An array that has items too, as those of pandas."""

    def __init__(self, array):
        self.array = array

    def __array__(self, *arguments, **more):
        return np.asarray(self.array)

    def items(self):
        return enumerate(self.array)


class Foreign:
    """An array of a package that does not share it."""

    def __array__(self, *arguments, **more):
        raise RuntimeError("it needs a gradient")


class Problems(unittest.TestCase):
    def test_every_key_of_the_library_has_a_name_here(self):
        self.assertGreater(len(keys()), 30)
        self.assertEqual(sorted(keys()), sorted(module.NAMES))

    def test_every_name_is_an_argument(self):
        for name in module.NAMES.values():
            path, argument = re.fullmatch(r"([\w.]+)\((\w+)\)", name).groups()
            thing = kedge
            for part in path.split("."):
                thing = getattr(thing, part)
            self.assertIn(argument, inspect.signature(thing).parameters, name)

    def test_arguments_become_settings(self):
        p = kedge.Problem(order=3, diffusion={"iron": 45, "air": (2, "0.5*x", 1.5), "default": 1}, reaction="k",
                          parameters={"k": 0.25}, boundary={"hot": kedge.Robin(2, "x"), "cold": kedge.Neumann()},
                          smoothing_steps=2, tolerance=1e-8, max_iterations=50, exact_quadrature=9, equation_quadrature=8)
        self.assertEqual(p.settings["space", "order"], "3")
        self.assertEqual(p.settings["region iron", "diffusion"], "45")
        self.assertEqual(p.settings["region air", "diffusion"], "2, 0.5*x, 1.5")
        self.assertEqual(p.settings["region default", "diffusion"], "1")
        self.assertEqual(p.settings["boundary hot", "coefficient"], "2")
        self.assertEqual(p.settings["boundary cold", "value"], "0")
        self.assertEqual(p.settings["exact", "quadrature"], "9")

    def test_arrays_of_one_number_are_numbers(self):
        p = kedge.Problem(diffusion=np.array(2.0), reaction=np.array(3), tolerance=np.array(1e-8))
        self.assertEqual([p.settings["equation", "diffusion"], p.settings["equation", "reaction"]], ["2.0", "3"])
        self.assertEqual(p.settings["solver", "tolerance"], "1e-08")

    def test_arrays_that_have_items_are_no_dict(self):
        mesh = kedge.square(2, backend="host")
        p = kedge.Problem(order=1, reaction=Column([1.0] * 8), source=Column(range(8)), boundary=everywhere(kedge.Dirichlet(0)))
        solver = kedge.Solver(mesh, p, "host")
        expected = kedge.solve(mesh, p.replace(source=np.arange(8), reaction=1), "host").u
        for s in solver.solve(), solver.solve(Column(range(8))):
            np.testing.assert_allclose(s.u, expected, atol=1e-12)
        with self.assertRaisesRegex(TypeError, "it takes a dict {group: condition}"):
            p.replace(boundary=Column(range(8)))

    def test_replace_leaves_the_old_problem_as_it_is(self):
        p = kedge.Problem(order=3, boundary=everywhere(kedge.Dirichlet(1)))
        q = p.replace(order=4, boundary={"left": kedge.Neumann(2)})
        self.assertEqual((p.settings["space", "order"], q.settings["space", "order"]), ("3", "4"))
        self.assertEqual(p.settings["boundary left", "type"], "dirichlet")
        self.assertEqual(q.settings["boundary left", "type"], "neumann")
        self.assertEqual(q.settings["boundary top", "type"], "dirichlet")

    def test_none_is_the_default_again(self):
        p = kedge.Problem(order=3, source=1, exact="x", diffusion={"domain": 2}, boundary=everywhere(kedge.Dirichlet(1)))
        q = p.replace(exact=None, diffusion=None, order=None)
        self.assertEqual(p.settings["exact", "u"], "x")
        for key in ("exact", "u"), ("space", "order"), ("region domain", "diffusion"), ("equation", "diffusion"):
            self.assertNotIn(key, q.settings)
        mesh = kedge.square(2, backend="host")
        solver = kedge.Solver(mesh, p, "host")
        solver.update(exact=None)
        self.assertFalse(solver.solve().report.has_exact)
        with self.assertRaisesRegex(TypeError, "boundary is None; it takes a dict {group: condition}"):
            p.replace(boundary=None)

    def test_default_is_every_region_that_is_not_named(self):
        mesh = kedge.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]], regions=["iron", "air"])
        p = kedge.Problem(order=1, diffusion={"default": 2, "iron": 3}, source=1,
                          boundary={"default": kedge.Dirichlet("x*y")})
        with tempfile.TemporaryDirectory() as folder:
            p.replace(diffusion=7).write(os.path.join(folder, "a.ini"))
            written = kedge.Problem.read(os.path.join(folder, "a.ini"))
        for problem, iron, air in ((p, 3, 2), (p.replace(diffusion=7), 7, 7), (written, 7, 7),
                                   (p.replace(diffusion={"default": 7}), 3, 7)):
            s = kedge.solve(mesh, problem, "host", on_failure="warn")
            np.testing.assert_allclose(s.sigma, s.q * np.array([iron, air])[:, None, None], atol=1e-12)

    def test_a_file_is_read_with_changes_and_written(self):
        p = kedge.Problem.read(ROOT / "meshes/plate.ini", order=2)
        self.assertEqual(p.settings["space", "order"], "2")
        self.assertEqual(p.mesh().elements, 2846)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.ini")
            p.write(path)
            self.assertEqual(kedge.Problem.read(path).settings, p.settings)

    def test_a_file_that_cannot_be_written_is_as_it_was(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.ini")
            kedge.Problem(order=3).write(path)
            os.chmod(path, 0o640)
            limit = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (3, limit[1]))
            try:
                with self.assertRaisesRegex(kedge.FileError, "cannot write the problem .*: File too large"):
                    kedge.Problem(order=4).write(path)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limit)
            self.assertEqual((os.listdir(folder), kedge.Problem.read(path).settings["space", "order"]), (["a.ini"], "3"))
            kedge.Problem(order=4).write(path)
            self.assertEqual((os.listdir(folder), kedge.Problem.read(path).settings["space", "order"]), (["a.ini"], "4"))
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o640)

    def test_a_written_problem_is_read_back_or_refused(self):
        names = ["wall", "Wände 入口", "a#b;c", "a = b", "[in", "1", " wall ", "a  b", "'x'", '"q"', "k: v", "default"]
        texts = ["x", " x + 1 ", "x +\n    y\n", "\n\n x\n\n + y", "x == y", "x\n == y", "1e3*x"]
        problems = [kedge.Problem(boundary={name: kedge.Robin("1 + x^2", " 2 ")}, diffusion={name: 3}) for name in names]
        problems += [kedge.Problem(source=text, exact=text, diffusion=("1", text, "1")) for text in texts]
        problems += [kedge.Problem(source={"a": 1, "b": "x"}, parameters={"k": "2 + 3 "}).replace(source=2), kedge.Problem()]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.ini")
            for p in problems:
                p.write(path)
                self.assertEqual(kedge.Problem.read(path).settings, p.settings)
            before = kedge.Problem.read(path).settings
            for name in ("wall # 1", "a]b", "a ;b", "inlet [mm] # 1", "# 3", ";", "a\nb", "x\x1b[31m", "a\r.", "x #", "b]"):
                for p in kedge.Problem(boundary={name: kedge.Dirichlet(0)}), kedge.Problem(reaction={name: 1}):
                    with self.subTest(name), self.assertRaisesRegex(kedge.InputError, "cannot hold a section .*; give a group by its number"):
                        p.write(path)
            self.assertEqual((os.listdir(folder), kedge.Problem.read(path).settings), (["a.ini"], before))
            for inner in "run #3", "run ;3", "run#3", "run ] 3":
                os.mkdir(os.path.join(folder, inner))
                with open(os.path.join(folder, inner, "p.ini"), "w") as file:
                    file.write("[mesh]\nfile = a.msh\n")
                p = kedge.Problem.read(os.path.join(folder, inner, "p.ini"))
                if inner[3] == " " and inner[4] in "#;":
                    with self.assertRaisesRegex(kedge.InputError, f"cannot hold '.*{inner}/a.msh' as file of 'mesh': ' #' and ' ;' begin"):
                        p.write(path)
                else:
                    p.write(path)
                    self.assertEqual(kedge.Problem.read(path).settings, p.settings)

    def test_numbers_that_are_not_finite_are_refused_by_the_name_of_the_argument(self):
        nan, inf, left = float("nan"), float("inf"), kedge.Dirichlet(0)
        for arguments, sentence in (({"source": nan}, "source is nan"), ({"diffusion": inf}, "diffusion is inf"), ({"reaction": np.float32(nan)}, "reaction is nan"),
                                    ({"source": np.array(-inf)}, "source is -inf"), ({"diffusion": (1, nan, 1)}, "a part of diffusion is nan"),
                                    ({"boundary": {"default": kedge.Dirichlet(nan)}}, r"boundary\['default'\] is nan"),
                                    ({"boundary": {"top": kedge.Robin(-inf, 1)}}, r"the coefficient of boundary\['top'\] is -inf"),
                                    ({"diffusion": {"iron": 1, "air": inf}}, r"diffusion\['air'\] is inf"), ({"tolerance": nan}, "tolerance is nan"),
                                    ({"parameters": {"k": np.float64(nan)}}, r"parameters\['k'\] is nan"), ({"order": nan}, "order is nan"),
                                    ({"exact": inf}, "exact is inf"), ({"length": nan}, "length is nan"), ({"max_iterations": inf}, "max_iterations is inf")):
            for call in kedge.Problem, kedge.Problem().replace:
                with self.subTest(sentence), self.assertRaisesRegex(kedge.InputError, f"^{sentence}; it must be finite$"):
                    call(**arguments)
        solver = kedge.Solver(kedge.square(1, backend="host"), kedge.Problem(boundary={"default": left}), "host")
        for data, sentence in ({"source": nan}, "source is nan"), ({"boundary": {"default": inf}}, r"boundary\['default'\] is inf"):
            with self.subTest(sentence), self.assertRaisesRegex(kedge.InputError, f"^{sentence}; it must be finite$"):
                solver.solve(**data)

    def test_whole_numbers_may_be_floats(self):
        for two in 2, 2.0, np.float32(2), np.int8(2), np.array(2.0), "2", "2.0", "2e0":
            p = kedge.Problem(order=two, max_iterations=1e3, smoothing_steps=two)
            self.assertEqual(kedge.solve(kedge.square(1, refine=1.0), p.replace(boundary={"default": kedge.Dirichlet(0)}, source=1), "host",
                                         on_failure="warn").report.order, 2)
        self.assertEqual(kedge.square(2, refine=2.0).elements, 128)
        self.assertEqual(kedge.square(2).refine(1.0).elements, 32)
        self.assertEqual(kedge.ring(1, 5, geometry=np.float64(3)).info["geometry"], 3)
        for wrong in 2.5, "2.5", "2.", 13.0, "1e300", "2x", -1.0, True, 1j:
            with self.subTest(wrong), self.assertRaisesRegex(kedge.InputError, "order"):
                kedge.Problem(order=wrong) if wrong != "2." else kedge.Problem(order="0x2")
        for wrong in 1.5, float("nan"), -1.0, "a":
            with self.subTest(wrong), self.assertRaises(kedge.InputError):
                kedge.square(1).refine(wrong)

    def test_every_problem_file_of_the_repository_is_written_as_it_was_read(self):
        with tempfile.TemporaryDirectory() as folder:
            for file in (ROOT / "meshes").glob("*.ini"):
                path = os.path.join(folder, file.name)
                p = kedge.Problem.read(file)
                p.write(path)
                self.assertEqual(kedge.Problem.read(path).settings, p.settings, file)

    def test_a_problem_is_read_by_the_library_once(self):
        mesh, calls = kedge.square(2, backend="host"), []
        regions = {f"r{i}": i + 1 for i in range(400)}
        real = c.library.kedge_problem_set_all

        def counted(handle, n, settings):
            calls.append(n)
            return real(handle, n, settings)

        with mock.patch.object(c.library, "kedge_problem_set_all", counted):
            kedge.Problem(diffusion=regions, reaction=regions)
            self.assertEqual(calls, [800])
            p = kedge.Problem(source="x", boundary={"default": kedge.Dirichlet(0)})
            for _ in range(3):
                kedge.solve(mesh, p, "host").error(norm="u", exact="x")  # the second problem has an exact solution
            self.assertEqual(calls, [800, 3, *[4] * 3])
        before = kedge.solve(mesh, p, "host").means("u").tolist()
        kedge.Solver(mesh, p, "host").update(source="y")  # has a problem of its own, which it changes
        self.assertEqual(kedge.solve(mesh, p, "host").means("u").tolist(), before)

    def test_a_problem_does_not_change_and_goes_to_other_processes(self):
        p = kedge.Problem(order=3, source="x")
        with self.assertRaisesRegex(AttributeError, r"does not change; problem.replace\(order=...\) makes another"):
            p.order = 4
        with self.assertRaises(kedge.ReadOnly):
            del p.settings
        with self.assertRaises(TypeError):
            p.settings["space", "order"] = "4"
        for q in pickle.loads(pickle.dumps(p)), copy.copy(p), copy.deepcopy(p):
            self.assertEqual(q.settings, p.settings)
            self.assertEqual(q.replace(order=4).settings["space", "order"], "4")
        self.assertEqual(p.settings["space", "order"], "3")

    def test_what_is_wrong_is_refused_with_a_sentence(self):
        for arguments, error, sentence in [
                ({"order": 40}, kedge.InputError, "1 to 12"),
                ({"source": "sn(x)"}, kedge.InputError, "sin"),
                ({"smoother": "edges"}, kedge.InputError, "edge"),
                ({"boundary": {"left": 3}}, TypeError, "Dirichlet"),
                ({"boundary": kedge.Dirichlet(0)}, TypeError, "it takes a dict {group: condition}"),
                ({"parameters": 3}, TypeError, "parameters is 3; it takes a dict"),
                ({"source": [1, 2]}, TypeError, "a number or an expression"),
                ({"source": True}, TypeError, "a number or an expression"),
                ({"diffusion": ("x", lambda x, y: x, 1)}, TypeError, "make all of them the one or the other"),
                ({"diffusion": np.ones((4, 2))}, ValueError, r"takes one number an element, \(n,\), or \(n, 3\)"),
                ({"reaction": np.ones((4, 3))}, ValueError, r"takes one number an element, \(n,\)$"),
                ({"source": {"iron": np.array(["x", "y"])}}, TypeError, "source is an array of <U1; it takes real numbers"),
                ({"source": [1.0] * 1000}, TypeError, r"^source is \[1.0, .{,60}\]; it takes .*, or np.array\(\) of a list"),
                ({"exact": np.ones(1000)}, TypeError, r"^exact is array\(.{,90}\); it takes a number or an expression$"),
                ({"source": np.ma.masked_greater([1, 2, 3], 2)}, ValueError, "an array of which elements are masked"),
                ({"source": Foreign()}, TypeError, "^source is an array that cannot be read: it needs a gradient"),
                ({"exact": (1, 2)}, TypeError, "three functions"),
                ({"exact": lambda x, y: x}, TypeError, "three functions"),
                ({"parameters": {3: 1}}, TypeError, "parameters has the name 3; names are text"),
                ({"source": "1\0+2"}, kedge.InputError, r"^source is '1\\x00\+2', which holds a NUL; leave it out$"),
                ({"exact": "x\0"}, kedge.InputError, r"^exact is 'x\\x00', which holds a NUL"),
                ({"diffusion": ("1", "0\0", 1)}, kedge.InputError, r"^diffusion is '1, 0\\x00, 1', which holds a NUL"),
                ({"boundary": {"top": kedge.Neumann("x\0")}}, kedge.InputError, r"^boundary\['top'\] is 'x\\x00'"),
                ({"boundary": {"top\0": kedge.Neumann()}}, kedge.InputError, r"^a section is 'boundary top\\x00'"),
                ({"parameters": {"k\0": 1}}, kedge.InputError, r"^a name is 'k\\x00'")]:
            with self.subTest(sentence), self.assertRaisesRegex(error, sentence):
                kedge.Problem(**arguments)
        for wrong, sentence in ("ordr", "did you mean 'order'"), ("mesh", "it has order, "):
            for call in kedge.Problem, kedge.Problem().replace:
                with self.assertRaisesRegex(TypeError, f"no argument '{wrong}'; {sentence}"):
                    call(**{wrong: 3})
        with self.assertRaisesRegex(kedge.FileError, "cannot open none.ini"):
            kedge.Problem.read("none.ini")
        with self.assertRaisesRegex(kedge.InputError, r"^path is 'none.ini\\x00', which holds a NUL"):
            kedge.Problem.read("none.ini\0")
        with self.assertRaisesRegex(kedge.FileError, "cannot write the problem none/a.ini: none: No such file or directory"):
            kedge.Problem(order=1).write("none/a.ini")
        with self.assertRaisesRegex(ValueError, "is a function"):
            kedge.Problem(source=lambda x, y: x).write("never.ini")
        with self.assertRaisesRegex(ValueError, r"\[region iron\] diffusion is a function, an array"):
            kedge.Problem(diffusion={"iron": np.ones(4)}).write("never.ini")


if __name__ == "__main__":
    unittest.main()
