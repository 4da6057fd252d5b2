"""Waves, step by step."""
import gc
import json
import math
import os
import re
import tempfile
import unittest
import warnings

import numpy as np
from support import OnBackend, ROOT

import kedge

K = math.pi * math.sqrt(2)
EZ, HX, HY = "sin(pi*x)*sin(pi*y)*cos(k*t)", "-pi/k*sin(pi*x)*cos(pi*y)*sin(k*t)", "pi/k*cos(pi*x)*sin(pi*y)*sin(k*t)"


def cavity(**more):
    """A standing wave between conductors."""
    return kedge.Problem(**{"system": "maxwell-tm", "order": 3, "precision": "double", "parameters": {"k": K},
                            "boundary": {"default": kedge.Conductor()}, "exact": {"Ez": EZ, "Hx": HX, "Hy": HY}, **more})


class Waves(OnBackend):
    def march(self, problem=None, mesh=None, initial=None, **more):
        return kedge.march(mesh or kedge.square(4), problem or cavity(), initial, backend=self.context, **{"end": 1, **more})

    def refused(self, sentence, call, *arguments, kind=kedge.InputError, **more):
        with self.assertRaisesRegex(kind, sentence):
            call(*arguments, **more)


class Numbers(Waves):
    def test_errors_are_those_of_the_table(self):
        s = self.march().run()
        self.assertEqual((s.steps, s.t), (55, 1))
        np.testing.assert_allclose((s.error("Ez"), s.error()), (1.14795e-04, 2.60579e-04), rtol=1e-5)
        self.assertAlmostEqual(s.error("H"), math.hypot(s.error("Hx"), s.error("Hy")), delta=1e-15)

    def test_functions_are_as_good_as_text(self):
        def ez(x, y, t):
            return np.sin(np.pi * x) * np.sin(np.pi * y) * np.cos(K * t)

        def hy(x, y, t):
            return np.pi / K * np.cos(np.pi * x) * np.sin(np.pi * y) * np.sin(K * t)

        left = {"left": kedge.Conductor(Ez=EZ), "right": kedge.Incident(Ez=EZ, Hy=HY)}
        same = {"left": kedge.Conductor(Ez=ez), "right": kedge.Incident(Ez=ez, Hy=lambda x, y, t: hy(x, y, t=t))}
        permittivity = np.linspace(1, 2, 32)
        a = self.march(cavity(boundary={**left, "default": kedge.Absorbing()}, permittivity="1+x"))
        b = self.march(cavity(boundary={**same, "default": kedge.Absorbing()}, permittivity=lambda x, y: 1 + x,
                              exact={"Ez": ez, "Hx": HX, "Hy": hy}))
        for _ in range(9):
            np.testing.assert_allclose(a.step()["Hx"], b.step()["Hx"], atol=1e-13)
        self.assertAlmostEqual(a.solution.error(), b.solution.error(), delta=1e-13)
        self.assertLess(self.march(cavity(permittivity=permittivity)).longest, 1.5 * self.march().longest)

    def test_functions_jump_where_elements_meet(self):
        p = kedge.Problem(system="acoustics", order=2, precision="double", boundary={"default": kedge.Wall()})
        for vy in "x < 0.5 ? 1 : 3", lambda x, y: np.where(x < 0.5, 1, 3), lambda x, y: np.where(x <= 0.5, 1, 3):
            self.assertAlmostEqual(self.march(p, initial={"vy": vy}).solution.energy, 2.5, delta=1e-14)
        text, function = (self.march(p.replace(source=source), end=0.1).run() for source in (
            "x < 0.5 ? t : 0", lambda x, y, t: np.where(x <= 0.5, t, 0)))
        np.testing.assert_allclose(function["p"], text["p"], atol=1e-15)

    def test_regions_have_materials_and_energies(self):
        mesh = kedge.Mesh([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]], [[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]],
                          regions=["glass", "glass", "air", "air"])
        p = kedge.Problem(system="maxwell-tm", order=2, permittivity={"glass": 4, "air": 1},
                          boundary={"default": kedge.Absorbing()})
        s = self.march(p, mesh, {"Ez": 1}).solution
        np.testing.assert_allclose((s.energy_of("glass"), s.energy_of("air"), s.energy), (2, 0.5, 2.5), rtol=1e-6)
        self.refused("^the mesh has no group or region 'wood' among", s.energy_of, "wood")
        sound = kedge.Problem(system="acoustics", source={"glass": 1}, boundary={"default": kedge.Wall()})
        self.refused("^source has region 'glass', and region 'air' of the mesh has nothing; add 'air' or 'default' to source$",
                     self.march, sound, mesh)
        self.march(sound.replace(source={"glass": 1, "default": 0}), mesh, end=3)

    def test_currents_drive_waves(self):
        more = {"exact": None, "permittivity": 2}
        text = self.march(cavity(current="x*sin(4*t)", **more)).run(until=0.3)
        function = self.march(cavity(current=lambda x, y, t: x * np.sin(4 * t), **more)).run(until=0.3)
        region = self.march(cavity(current={"domain": "x*sin(4*t)"}, **more)).run(until=0.3)
        self.assertGreater(text.energy, 1e-4)
        np.testing.assert_allclose(function["Hx"], text["Hx"], atol=1e-14)
        np.testing.assert_allclose(region["Hx"], text["Hx"], atol=1e-14)
        space = kedge.Problem(system="maxwell", order=1, precision="double", boundary={"default": kedge.Conductor()})
        text, functions = (self.march(space.replace(current=current), kedge.cube(2), end=0.2).run() for current in (
            ("y*z*t", 0, "x"), (lambda x, y, z, t: y * z * t, 0, lambda x, y, z: x)))
        np.testing.assert_allclose(functions["E"], text["E"], atol=1e-14)
        sound = kedge.Problem(system="acoustics", order=1, boundary={"default": kedge.Wall()}, source="cos(pi*x)")
        self.assertGreater(self.march(sound, end=0.1).run().energy, 1e-4)
        self.refused("current of system = maxwell-tm is", self.march, cavity(current=(1, 2, 3)))
        self.refused("current is of another system; system = acoustics has source", self.march, sound.replace(current=1))
        self.refused("a number, an expression or three of them: jx, jy, jz", sound.replace, kind=kedge.WrongType, current=(1, 2))

    def test_sound_has_its_names(self):
        p = kedge.Problem(system="acoustics", order=2, density={"domain": 1.3}, bulk=5.2, upwind=0.5,
                          boundary={"left": kedge.Incident(p="sin(3*(x-2*t))", vx="sin(3*(x-2*t))/2.6"),
                                    "right": kedge.Soft(p=0), "top": kedge.Absorbing(), "default": kedge.Wall()})
        m = self.march(p, end=0.2)
        s = m.run()
        self.assertEqual((s.fields, s["v"].shape), (("p", "vx", "vy"), (32, 6, 2)))
        self.assertEqual(s(0.1, 0.2), s(0.1, 0.2, "p"))
        self.assertGreater(s.energy, 0)

    def test_fields_in_space_have_three_components(self):
        p = kedge.Problem(system="maxwell", order=2, precision="double", boundary={"default": kedge.Absorbing()})
        s = self.march(p, kedge.cube(2), {"Ey": "x*y", "Hx": lambda x, y, z: x - z}).solution
        np.testing.assert_allclose(s(0.3, 0.4, 0.7), [0, 0.12, 0], atol=1e-14)
        np.testing.assert_allclose(s([0.3], 0.4, 0.7, "H"), [[-0.4, 0, 0]], atol=1e-14)
        self.assertEqual((s["E"].shape, s.nodes(1).shape, s.offsets(1)[-1]), ((48, 10, 3), (48, 4, 3), 192))
        np.testing.assert_allclose(s["Hx"], s.nodes()[..., 0] - s.nodes()[..., 2], atol=1e-14)
        np.testing.assert_allclose(s.means("H")[:, 0], (s.nodes(1)[..., 0] - s.nodes(1)[..., 2]).mean(axis=1), atol=1e-14)


class Steps(Waves):
    def test_each_step_has_its_fields_until_the_next(self):
        m = self.march(initial={"Ez": "x*y"}, end=0.1)
        first = m.solution
        self.assertAlmostEqual(first(0.5, 0.25), 0.125, delta=1e-14)
        kept, count = first["Ez"], 0
        for s in m:
            count += 1
            self.assertEqual((s.steps, s.t), (count, m.t))
        self.assertEqual((m.report.steps, m.ended), (count, True))
        np.testing.assert_array_equal(first["Ez"], kept)
        self.refused("the solution at t = 0 is gone: its march is at t = 0.1", lambda: first["Hx"])
        self.refused("is gone", lambda: first.energy)
        self.refused("is gone", kedge.Probe(m.mesh, 0.5, 0.5).values, first, "Hx")
        self.refused("the march has ended", m.step)

    def test_reports_say_what_was_done(self):
        m = self.march(cavity(exact={"Ez": EZ}))
        s = m.run()
        report = m.wave_report()
        self.assertEqual((report.system, report.precision, report.order, report.unknowns), ("maxwell-tm", "double", 3, 960))
        self.assertEqual((report.stages_done, list(report.errors)), (5 * s.steps, ["Ez"]))
        self.assertEqual((report.errors["Ez"], report.energy, report.longest), (s.error("Ez"), s.energy, m.longest))
        self.assertEqual(sorted(report.stages), ["data", "output", "probes", "source", "stage"])
        self.assertIn(report.kernel, ("compiled",) if self.context.backend == "cuda" else ("host",))
        self.assertAlmostEqual(report.speed, 960 * report.stages_done / report.step_seconds, delta=1e-6 * report.speed)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.json")
            m.write_report(path)
            with open(path, encoding="utf-8") as file:
                written = json.load(file)
        self.assertEqual((written["waves"]["energy"]["end"], written["march"]["steps"]), (s.energy, s.steps))

    def test_times_between_are_hit(self):
        m = self.march(cfl=0.5)
        self.assertEqual(m.run(until=0).steps, 0)
        self.assertEqual((m.run(until=0.37).t, m.run(until=0.37).t), (0.37, 0.37))
        self.assertLessEqual(m.report.step, 0.5 * m.longest)
        self.refused("it does not go back", m.run, until=0.2)

    def test_the_beginning_may_be_an_output(self):
        m = self.march(cavity(time={"at": [0, 0.4]}))
        self.assertEqual((m.run(until=0.4).t, m.run().t), (0.4, 1))
        self.refused("at in .*has -1; times are 0 or later", cavity, time={"at": [-1, 0.4]})

    def test_a_march_goes_on_from_a_file_to_the_same_bits(self):
        m = self.march()
        m.run(until=0.3)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "at")
            m.save(path)
            other = self.march(resume=path)
        self.assertEqual(other.solution.steps, m.solution.steps)
        np.testing.assert_array_equal(other.run()["Ez"], m.run()["Ez"])

    def test_a_march_begins_with_the_fields_of_another(self):
        m = self.march()
        s = m.run(until=0.3)
        other = self.march(initial=s, mesh=m.mesh)
        np.testing.assert_allclose(other.solution["H"], s["H"], atol=1e-13)
        squared = self.march(initial={"Ez": s.field("Hx")**2}, mesh=m.mesh, problem=cavity(order=6)).solution
        self.assertAlmostEqual(squared(0.3, 0.4), s(0.3, 0.4, "Hx")**2, delta=1e-13)

    def test_arrays_that_it_begins_with_are_of_elements(self):
        m = self.march(initial={"Ez": np.arange(32.0)})
        s = m.solution
        np.testing.assert_allclose(s["Ez"], np.arange(32.0)[:, None] + np.zeros(10), atol=1e-14)
        self.refused(r"Ez is an array of the shape \(32, 10\); it takes one number an element", self.march,
                     initial={"Ez": s["Ez"]})

    def test_it_ends_with_what_it_calls(self):
        count = []
        m = self.march(cavity(boundary={"default": kedge.Conductor(Ez=lambda x, y, t: count.append(1) or 0)}))
        m.step()
        self.assertTrue(count)
        del m
        gc.collect()


class Changes(Waves):
    def test_an_update_is_a_problem_that_says_it_before(self):
        p = cavity(exact=None, permittivity=1, current="x", boundary={
            "left": kedge.Incident(Ez="y", Hy=0), "right": kedge.Conductor(Ez=0), "default": kedge.Conductor()})
        before = {"permittivity": "x < 0.5 ? 2 : 3", "current": "t < 0.5 ? x : y",
                  "boundary": {"left": kedge.Incident(Ez="t < 0.5 ? y : 3*y", Hy=0),
                               "right": kedge.Conductor(Ez="t < 0.5 ? 0 : y"), "default": kedge.Conductor()}}
        whole = self.march(p.replace(**before), events=[0.5], steps=100).run()
        m = self.march(p.replace(permittivity=lambda x, y: np.where(x < 0.5, 2, 3)), events=[0.5], steps=100)
        m.run(until=0.5)
        m.update(current=lambda x, y: y)
        m.update(boundary={"left": kedge.Incident(Ez="3*y", Hy=0), "right": kedge.Conductor(Ez=lambda x, y: y),
                           "default": kedge.Conductor()})
        s = m.run()
        self.assertGreater(np.abs(s["Ez"]).max(), 0.1)
        for field in s.fields:
            np.testing.assert_allclose(s[field], whole[field], atol=1e-12)
        self.refused("have changed on the way", m.save, "a.march", kind=kedge.Unsupported)

    def test_an_event_divides_functions_too(self):
        p = kedge.Problem(system="acoustics", order=2, precision="double", boundary={"default": kedge.Wall()})
        a, b = (self.march(p.replace(source=source), events=[0.1], steps=50).run(until=0.2) for source in (
            lambda x, y, t: (t <= 0.1) * x, lambda x, y, t: (t < 0.1) * x))
        self.assertGreater(a.energy, 1e-5)
        np.testing.assert_array_equal(a["p"], b["p"])

    def test_materials_change_and_steps_with_them(self):
        m = self.march(cavity(exact=None, permittivity=1), initial={"Ez": "x*y"})
        s = m.step()
        longest, energy = m.longest, s.energy
        m.update(permittivity=4)
        self.assertAlmostEqual(m.longest, 2 * longest, delta=1e-12)
        self.assertGreater(m.solution.energy, 3 * energy)
        self.assertAlmostEqual(m.problem.settings["equation", "permittivity"], "4")
        m.update(permittivity=1 + m.solution.field("Ez")**2, upwind=0.5)
        self.assertLess(m.longest, 2 * longest)
        self.assertLess(m.run().t - 1, 1e-15)

    def test_updates_are_refused_with_a_sentence(self):
        m = self.march(cavity(exact=None, permittivity=1), initial={"Ez": 1})
        m.step()
        t = m.t
        for sentence, change in (("a march keeps its order", {"order": 2}), ("a march keeps its time", {"time": {"end": 2}}),
                                 ("would take permittivity away", {"permittivity": None}),
                                 ("permittivity names t, and materials of waves do not move", {"permittivity": "1+t"}),
                                 ("of which end = 1 takes more than 1000000000", {"permittivity": 1e-30}),
                                 ("permittivity must be positive", {"permittivity": "x-0.5"})):
            with self.subTest(sentence):
                self.refused(sentence, m.update, **change)
        self.assertGreater(m.step().t, t)
        self.refused("diffusion is of elliptic problems", m.update, diffusion=2)
        self.refused("bulk is of another system", self.march().update, bulk=2)
        m = self.march()
        self.refused("the precision of the problem has changed", m.update, precision="single")
        m.update(precision="double")

    def test_an_update_that_is_refused_leaves_problem_and_steps(self):
        p = kedge.Problem(system="acoustics", order=2, precision="double", boundary={"default": kedge.Wall()},
                          source=lambda x, y, t: np.cos(np.pi * x) * t)
        mesh = kedge.square(3)
        m, other = (self.march(p, mesh, end=0.3) for _ in range(2))
        m.step()
        problem = m.problem
        for sentence, change in (
                ("'lft' among .*; did you mean 'left'", {"boundary": {"lft": kedge.Wall()}}),
                ("density must be positive", {"density": -1}), ("system", {"system": "maxwell-tm"}),
                ("raised ZeroDivisionError", {"bulk": lambda x, y: 1 / 0}),
                ("permittivity is of another system", {"permittivity": 2}),
                ("no boundary group|unknown region|no region", {"bulk": {"iron": 2}})):
            with self.subTest(sentence):
                self.refused(sentence, m.update, **change)
                self.assertIs(m.problem, problem)
                m.step()
        with tempfile.TemporaryDirectory() as folder:
            m.save(os.path.join(folder, "a.march"))
        np.testing.assert_array_equal(m.run()["p"], other.run()["p"])
        m = self.march(p, mesh)
        self.refused("did you mean 'left'", m.update, boundary={"lft": kedge.Wall()})
        m.update(boundary={"left": kedge.Soft()})
        m.step()

    def test_a_step_that_fails_in_its_middle_leaves_no_fields(self):
        fails = []

        def source(x, y, t):
            if fails and t > fails[0]:
                raise RuntimeError("a tap")
            return np.cos(np.pi * x)

        p = kedge.Problem(system="acoustics", order=2, boundary={"default": kedge.Wall()}, source=source)
        m, other = (self.march(p, kedge.square(3), end=0.3) for _ in range(2))
        for one in m, other:
            one.step()
        fails.append(-1.0)
        self.refused("raised RuntimeError: a tap", m.step)
        fails.clear()
        np.testing.assert_array_equal(m.step()["p"], other.step()["p"])
        fails.append(m.t)
        t = m.t
        self.refused("raised RuntimeError: a tap", m.step)
        fails.clear()
        self.assertEqual(m.t, t)
        for call in (m.step, lambda: m.solution["p"], lambda: m.update(source=0), lambda: m.solution.energy,
                     lambda: m.save("a.march"), m.wave_report):
            self.refused("failed in its middle and left no state; begin another march, or go on from a checkpoint", call)

    def test_notes_are_warnings_each_once(self):
        m = self.march(cavity(exact=None), initial={"Ez": EZ.replace("k*t", "0")}, step=0.04, end=100)
        with self.assertWarnsRegex(kedge.Note, "^step 1, t = 0.04: steps of 0.04 are longer than 0.018"):
            m.step()
        with self.assertWarnsRegex(kedge.Note, "^step 32, t = 1.28: the energy has grown by more than came in"):
            for _ in range(31):
                m.step()
        self.assertEqual((m.report.grown_step, round(m.report.grown_t, 9)), (32, 1.28))
        short = self.march(cavity(exact=None), initial={"Ez": EZ.replace("k*t", "0")}, step=0.1, end=0.9)
        with self.assertWarnsRegex(kedge.Note, "^step 9, t = 0.9: the energy has grown by more than came in") as said:
            short.run()
        self.assertEqual((short.report.grown_step, os.path.basename(said.filename)), (9, "test_waves.py"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertGreater(m.step().energy, 0.1)
            good = self.march()
            self.assertGreater(good.run().energy, 0.1)
            good.wave_report()
        self.assertEqual((good.report.grown_step, good.report.grown_t), (0, 0))

    def test_notes_on_the_problem_come_at_the_beginning(self):
        p = kedge.Problem(system="acoustics", order=2, boundary={
            "left": kedge.Incident(p="sin(30*(x-t))"), "default": kedge.Absorbing()})
        with self.assertWarnsRegex(kedge.Note, r"^half of the wave of boundary\['left'\] comes in, as its data have no "
                                   "vx, vy: ") as said:
            m = self.march(p)
        self.assertEqual([len(said.warnings), os.path.basename(said.filename)], [1, "test_waves.py"])
        m.run(until=0.1)  # says it no more, as warnings are errors here
        m.update(bulk=2)
        with self.assertWarnsRegex(kedge.Note, r"^the longest stable step was 0\.0\d+, and is 0\.00\d+ from t = 0\.1 on$"):
            m.update(bulk=300)
        room = kedge.Problem(system="acoustics", order=2, boundary={"default": kedge.Wall()})
        for initial in None, {"p": 0}:
            with self.assertWarnsRegex(kedge.Note, "^no initial values, no source, no data of the boundary: all fields stay 0$"):
                self.march(room, initial=initial)
        with self.assertWarnsRegex(kedge.Note, r"^end = 1e-09 is \d\.?\d*e-08 of one stable step, 0\.0\d+: are lengths and "):
            self.march(room.replace(source=1), end=1e-9)
        polygon = kedge.Mesh(ROOT / "meshes" / "curved.msh", geometry=1)
        with self.assertWarnsRegex(kedge.Note, "^geometry = 1 makes polygons of the curves of the mesh"):
            self.march(cavity(exact=None, order=1), polygon, {"Ez": 1})

    def test_a_plan_is_what_a_march_takes(self):
        mesh, p = kedge.square(4), cavity(time={"end": 1, "step": 0.3})
        plan = kedge.plan(mesh, p, self.context)
        m = kedge.march(mesh, p, backend=self.context)
        report = m.wave_report()
        self.assertEqual((plan["wave_unknowns"], plan["precision"], plan["wave_step"]), (960, "double", 0.3))
        self.assertTrue(report.peak_device_bytes <= plan["peak_bytes"] <= 1.03 * report.peak_device_bytes)
        self.assertTrue(plan["fits"] and plan["needed_bytes"] <= plan["free_bytes"])
        plan = kedge.plan("square 4", cavity(time={"end": 1}), self.context)
        self.assertEqual((plan["wave_step"], plan["wave_steps"]), (m.longest, self.march().run().steps))
        self.refused("permittivity must be positive", kedge.plan, mesh, cavity(time={"end": 1}, permittivity="x-2"),
                     self.context)
        self.assertEqual(kedge.plan(mesh, kedge.Problem(boundary={"default": kedge.Dirichlet(1)}), self.context)["wave_steps"], 0)


class Values(Waves):
    def test_points_probes_and_nodes_agree(self):
        m = self.march()
        s = m.run(until=0.2)
        x, y = [0.21, 0.83, 7], [0.37, 0.12, 0.1]
        probe = kedge.Probe(m.mesh, x, y)
        for field in ("Ez", "Hx", "H", None):
            values = probe.values(s, field)
            np.testing.assert_allclose(values, s(x, y, *([field] if field else [])), atol=1e-14)
            self.assertTrue(np.isnan(values[2]).all())
        np.testing.assert_array_equal(s["Ez"], s.values("Ez"))
        np.testing.assert_allclose(s.field("Ez")(x, y), probe.values(s), atol=1e-14)
        self.assertEqual(s.values("Ez", 1).shape, (32, 3))
        step = m.step()
        np.testing.assert_allclose(probe.values(step), step(x, y), atol=1e-14)
        self.refused("two Mesh|another Mesh", kedge.Probe(kedge.square(4), x, y).values, step)
        self.refused("there is no field 'Hz'; fields are Ez, Hx, Hy, H", probe.values, step, "Hz")
        self.refused("write.. is of solutions of elliptic problems", probe.write, step, "a.csv", kind=kedge.Unsupported)

    @unittest.skipUnless(os.environ.get("KEDGE_TEST_BACKEND", "host") == "host", "of the host")
    def test_arrays_are_filled(self):
        s = self.march().solution
        array = np.zeros((32, 10))
        self.assertIs(s.values("Ez", into=array), array)
        np.testing.assert_array_equal(array, s["Ez"])
        self.refused(r"into has the shape \(32, 10\); it takes \(32, 6\)", s.values, "Ez", 2, into=array)
        self.refused("H is a vector, and into takes one number a node; take its parts: Hx, Hy", s.values, "H", into=array)
        self.refused("into is list", s.values, "Ez", into=[1], kind=kedge.WrongType)

    def test_probes_of_the_problem_are_there(self):
        line = {"line": "0.1 0.5, 0.9 0.5, 3", "every": 5}
        m = self.march(cavity(probes={"axis": line, "corner": [[0.2, 0.3], [5, 5]]}))
        s = m.step()
        self.assertEqual((list(m.probes), m.probes["corner"].outside), (["axis", "corner"], 1))
        np.testing.assert_allclose(s.probes["axis"].values(s, "H"), s([0.1, 0.5, 0.9], [0.5] * 3, "H"), atol=1e-14)
        self.refused("every", cavity, probes={"axis": {**line, "every": 0}})

    def test_files_have_the_fields(self):
        m = self.march()
        s = m.run(until=0.2)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.vtkhdf")
            s.write(path)
            for mesh in (m.mesh, None):
                there = kedge.read(path, mesh, **({} if mesh else {"backend": self.context}))
                self.assertEqual((there.t, there.fields, there.order), (s.t, ("Ez", "Hx", "Hy"), 3))
                np.testing.assert_allclose(there(0.3, 0.4, "H"), s(0.3, 0.4, "H"), atol=1e-14)
                self.refused("there is no field 'u'", lambda: there.u)
            there = kedge.read(path, m.mesh)
            np.testing.assert_array_equal(there["Hx"], s["Hx"])
            np.testing.assert_allclose(there.values("Hx", 5), s.values("Hx", 5), atol=1e-14)
            np.testing.assert_allclose(there.means("Ez"), s.means("Ez"), atol=1e-15)
            np.testing.assert_allclose(self.march(initial=there, mesh=m.mesh).solution["Ez"], s["Ez"], atol=1e-14)


class Problems(Waves):
    def test_arguments_become_settings(self):
        p = cavity(permittivity={"glass": 2.25, "default": 1}, upwind=0, time={"end": 3, "cfl": 0.5}, initial={"Ez": 1},
                   boundary={"left": kedge.Incident(Ez="y", Hy=2), "default": kedge.Conductor()})
        for at, value in {("equation", "system"): "maxwell-tm", ("region glass", "permittivity"): "2.25",
                          ("space", "upwind"): "0", ("time", "cfl"): "0.5", ("initial", "Ez"): "1", ("exact", "Hx"): HX,
                          ("boundary left", "type"): "incident", ("boundary left", "Hy"): "2"}.items():
            self.assertEqual(p.settings[at], value)
        p = p.replace(boundary={"left": kedge.Absorbing()}, exact=None, initial={"Hx": "x"}, permittivity=3)
        self.assertEqual([at for at in p.settings if at[0] in ("exact", "initial") or at[1] in ("Ez", "Hy")], [("initial", "Hx")])
        self.assertNotIn(("region glass", "permittivity"), p.settings)
        self.assertEqual(repr(kedge.Incident(Ez="y")), "Incident(Ez='y')")

    def test_a_file_is_a_problem(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.ini")
            cavity(time={"end": 0.1}).write(path)
            p = kedge.Problem.read(path)
        self.assertLess(kedge.march(kedge.square(4), p, backend=self.context).run().error(), 1e-3)

    def test_what_makes_no_sense_is_refused(self):
        mesh, p = kedge.square(4), cavity()
        for sentence, change in (
                ("diffusion is of elliptic problems, and system = maxwell-tm; leave it out", {"diffusion": 2}),
                ("bulk is of another system; system = maxwell-tm has permittivity", {"bulk": 2}),
                ("permittivity must be positive, and in element", {"permittivity": "x-2"}),
                ("type of a boundary of system = maxwell-tm must be conductor", {"boundary": {"default": kedge.Wall()}}),
                ("must be conductor", {"boundary": {"default": kedge.Dirichlet(1)}}),
                ("upwind must be between 0 and 1", {"upwind": 2}),
                ("exact\\['Ez'\\]: column 1: unknown name 'xx'", {"exact": {"Ez": "xx"}}),
                ("Ez of boundary\\['left'\\]: column 1: unknown", {"boundary": {"left": kedge.Conductor(Ez="xx")}}),
                ("exact has no field 'E'; give its parts, those of Ex, Ey, Ez that the system has", {"exact": {"E": 1}}),
                ("exact has no field 'q'; it has Ex, Ey, Ez, Hx,", {"exact": {"q": 1}}),
                ("initial\\['Ez'\\] is nan; it must be finite", {"initial": {"Ez": math.nan}}),
                ("unknown system 'maxwel'; did you mean 'maxwell'", {"system": "maxwel"}),
                ("initial of waves takes fields by name: initial={'Ez': ...}", {"initial": "x"}),
                ("exact of waves takes fields by name: exact={'p': ...}", {"system": "acoustics", "exact": "x"}),
                ("exact of waves takes fields by name", {"exact": lambda x, y: x}),
                ("is of waves; give the problem a system", {"system": None}),
                ("Ez of boundary\\['default'\\]: the function <lambda> raised ZeroDivisionError",
                 {"boundary": {"default": kedge.Conductor(Ez=lambda x, y: 1 / 0)}})):
            with self.subTest(sentence):
                self.refused(sentence, lambda change=change: kedge.march(mesh, p.replace(**change), end=1, backend=self.context))
        self.refused("a march needs its end: kedge.march\\(mesh, problem, initial, end=1\\)$", kedge.march, mesh, p)
        self.refused("moves in time: kedge.march", kedge.solve, mesh, p)
        self.refused("tolerance in time is of elliptic|tolerance is of elliptic", self.march, tolerance=1e-3)
        self.refused("a plan of waves needs their time", kedge.plan, mesh, p, self.context)
        for kind, call in ((kedge.Soft, "Soft(p=1)"), (kedge.Wall, "Wall(vx=1)"), (kedge.Incident, "Incident(Ez=1)")):
            self.refused(f"takes fields by name: {re.escape(call)}", kind, 1, kind=kedge.WrongType)
        s = self.march().solution
        for name in ("groups", "regions", "integrals", "integrate"):
            self.refused(f"has no {name}: sums over s.quadrature", getattr, s, name, kind=kedge.Unsupported)
            self.assertFalse(hasattr(s, name))
        self.refused("has no report: m.report", getattr, s, "report", kind=kedge.Unsupported)
        self.refused("error has no argument 'exact'", s.error, "Ez", exact="x", kind=kedge.WrongType)
        self.assertFalse({"u", "q", "sigma", "groups"} & set(dir(s)))
        self.refused("Incident has no argument 'E'", kedge.Incident, kind=kedge.WrongType, E=1)
        self.refused("takes meshes of triangles, and quads 3 is of quadrilaterals", kedge.march, kedge.quads(3), p, end=1)
        m = self.march(cavity(exact=None), initial={"Ez": 1}, mesh=mesh)
        self.refused("exact has no field", m.solution.error)
        self.refused("waves take other data by update", m.data, "x", kind=kedge.Unsupported)
        self.refused("a march keeps its initial", m.update, initial={"Ez": 0})
        moving = "the function has an argument t, and materials of waves do not move in time; m.update\\(permittivity="
        self.refused(f"permittivity: {moving}", self.march, cavity(permittivity=lambda x, y, t: 1 + t))
        self.refused(f"permittivity of region 'domain': {moving}", self.march,
                     cavity(permittivity={"domain": lambda x, y, *, t: 1 + t}))
        self.refused(moving, m.update, permittivity=lambda x, y, t: 1 + t)
        m.update(permittivity=lambda x, y, t=2: x + t)
        with self.assertWarnsRegex(kedge.Note, "steps of 0.5 are longer than 0.018"):
            self.refused("is not finite at t = .*: steps of 0.5 are longer than 0.018", self.march(step=0.5, end=500).run,
                         kind=kedge.NumericError)


if __name__ == "__main__":
    unittest.main()
