#!/usr/bin/python3
"""check_beside.py KEDGE: what a solve writes beside output and report: tables of probes, the boundary, a picture."""
import csv
import math
import os
import resource
import stat
import struct
import subprocess
import sys
import unittest
import zlib

from command import KEDGE, PROBLEM, Command

RING = """
[mesh]
generate = ring 4 32
geometry = 4
[space]
order = 4
[boundary inner]
type = dirichlet
value = 1
[boundary outer]
type = dirichlet
value = 0
"""

AXIS = "[probe axis]\nline = 1 0, 2 0, 11\n"
HEADER = ["x", "y", "region", "u", "u_star", "qx", "qy", "sigma_x", "sigma_y"]


def contents(path):
    with open(path, "rb") as file:
        return file.read()


class Beside(Command):
    def table(self, name):
        with open(self.path(name), newline="") as file:
            header, *rows = csv.reader(file)
        self.assertEqual(header, HEADER)
        return rows

    def test_a_line_lies_beside_the_analytic_solution(self):
        self.write("r.ini", RING + AXIS)
        said = self.kedge("solve", "r.ini", "--report", "r.json").stdout
        self.assertIn("\nprobe        axis.csv (axis, 11 points)\n", said)
        rows = [list(map(float, row)) for row in self.table("axis.csv")]
        self.assertEqual([row[0] for row in rows], [1 + k / 10 for k in range(11)])
        for x, y, region, u, u_star, qx, qy, sigma_x, sigma_y in rows:
            self.assertAlmostEqual(u_star, 1 - math.log(x) / math.log(2), delta=1e-6)
            self.assertAlmostEqual(u, u_star, delta=1e-5)
            self.assertAlmostEqual(qx * x, -1 / math.log(2), delta=1e-4)
            self.assertAlmostEqual(qy, 0, delta=1e-4)
            self.assertEqual((region, sigma_x, sigma_y), (1, qx, qy))
        self.assertEqual(self.json("r.json")["probe_note"], "")
        self.assertIsNone(self.json("r.json")["output"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["axis.csv", "p.ini", "r.ini", "r.json"])

    def test_points_come_from_lists_and_files(self):
        os.mkdir(self.path("sub"))
        self.write("sub/bare.csv", "0.1,0.2\r\n\r\n# a comment\r\n 0.3 , -4e-1\r\n")
        self.write("sub/named.csv", "\ufeffid,Y,\"x\"\na,0.25,0.5\nb,0.75,+.5\n")
        self.write("sub/a.ini", PROBLEM + "[probe listed]\npoints = 0 0, 1 1,\n   0.5 0.25\n"
                   "[probe bare]\nfile = bare.csv\noutput = b.csv\n[probe named]\nfile = named.csv\n")
        said = self.kedge("solve", "sub/a.ini", "-r", "r.json").stdout
        places = {name: [row[:2] for row in self.table(name)] for name in ("listed.csv", "b.csv", "named.csv")}
        self.assertEqual(places, {"listed.csv": [["0", "0"], ["1", "1"], ["0.5", "0.25"]],
                                  "b.csv": [["0.1", "0.2"], ["0.3", "-0.4"]],
                                  "named.csv": [["0.5", "0.25"], ["0.5", "0.75"]]})
        self.assertEqual(self.table("b.csv")[1][2:], [""] * 7)  # outside
        note = "b.csv: 1 of 2 points lie outside of the mesh and have no values"
        self.assertIn(f"\nnote         {note}\n", said)
        self.assertEqual(self.json("r.json")["probe_note"], note)
        again = self.path("again.csv")
        os.rename(self.path("named.csv"), again)  # a table is a list of points too
        self.kedge("solve", "p.ini", "-q", "-s", "probe x.file=again.csv")
        with open(again) as first, open(self.path("x.csv")) as second:
            self.assertEqual(first.read(), second.read())

    def test_an_override_takes_the_place_of_other_points(self):
        self.write("r.ini", RING + AXIS)
        self.kedge("solve", "r.ini", "-q", "-s", "probe axis.points=0 1.5", "-s", "probe axis.output=/dev/null")
        self.assertEqual(sorted(os.listdir(self.folder)), ["p.ini", "r.ini"])
        said = self.kedge("solve", "r.ini", "-q", "-s", "probe axis.line=0 1, 0 2, 3", "-s",
                          "probe axis.output=/dev/stdout").stdout
        self.assertEqual([row.split(",")[:2] for row in said.splitlines()],
                         [["x", "y"], ["0", "1"], ["0", "1.5"], ["0", "2"]])

    def test_points_that_are_none_are_refused_before_the_solve_with_their_place(self):
        self.write("short.csv", "x,y\n0.5,0.5\n\n0.5\n")
        self.write("words.csv", "0.5,0.5\n0.5,here\n")
        self.write("z.csv", "x,z\n1,2\n")
        self.write("empty.csv", "x,y\n# none\n")
        lines = PROBLEM.count("\n") + 2
        for value, says in (
                ("points = 3 3", "no point of the probe lies in square 20, which has x from 0 to 1 and y from 0 to 1; "
                                 "the first of 1 is (3, 3)"),
                ("file = short.csv", "short.csv:4: '0.5' is no point: a line has numbers x,y, and the first one may name "
                                     "its columns"),
                ("file = words.csv", "words.csv:2: '0.5,here' is no point: a line has numbers x,y"),
                ("file = z.csv", "z.csv:1: 'x,z' is no point: a line has numbers x,y"),
                ("file = empty.csv", "empty.csv holds no points: write lines x,y"),
                ("file = none.csv", "cannot open none.csv: No such file or directory; the path is relative to the "
                                    "problem file"),
                ("file = .", "cannot read .: it is a folder")):
            self.write("a.ini", PROBLEM + f"[probe a]\n{value}\n")
            self.refused("solve", "a.ini", "-q", says=f"kedge: a.ini:{lines}: {says}")
        self.refused("solve", "p.ini", "-s", "probe a.points=9 9",
                     says="kedge: --set probe a.points=9 9: no point of the probe lies in ")
        with open(self.path("bytes.csv"), "wb") as file:
            file.write(b"0.5,0.5\n\0")
        self.refused("solve", "p.ini", "-s", "probe a.file=bytes.csv", says="bytes.csv is no text: it has a zero byte")
        self.assertNotIn("a.csv", os.listdir(self.folder))

    def test_a_name_used_twice_is_refused(self):
        two = PROBLEM + "[probe a]\npoints = 0 0\noutput = x.csv\n[probe b]\npoints = 0 0\noutput = {}\n"
        place = two.count("\n")
        os.mkdir(self.path("sub"))
        for other in ("x.csv", "./x.csv", "sub/../x.csv"):
            self.write("a.ini", two.format(other))
            self.refused("solve", "a.ini", says=f"kedge: a.ini:{place}: probe a and probe b cannot both be {other}")
        self.write("a.ini", PROBLEM + "[probe a]\npoints = 0 0\noutput = x.hdf\n[output]\nboundary = y.hdf\n")
        self.refused("solve", "a.ini", "-o", "x.hdf", says="output and probe a cannot both be x.hdf")
        self.refused("solve", "a.ini", "-o", "y.hdf", says="output and boundary output cannot both be y.hdf")
        self.refused("solve", "a.ini", "-r", "x.hdf", says="report and probe a cannot both be x.hdf")
        self.refused("solve", "a.ini", "-s", "probe a.output=z.png", "--picture", "z.png",
                     says="kedge: probe a and picture cannot both be z.png")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.ini", "p.ini", "sub"])

    def test_two_outputs_that_links_lead_to_one_file_are_refused(self):
        all_in = PROBLEM + "[probe a]\npoints = 0 0\n[probe b]\npoints = 0 0\n[output]\nboundary = b.hdf\n"
        self.write("a.ini", all_in)
        for exists in (False, True):
            if exists:
                self.write("new.hdf", "precious")
                os.link(self.path("new.hdf"), self.path("hard.hdf"))
                os.link(self.path("new.hdf"), self.path("hard.png"))
            else:
                os.symlink("new.hdf", self.path("link.hdf"))
                os.symlink("new.hdf", self.path("link.png"))
            for link, picture in (("link.hdf", "link.png"), ("hard.hdf", "hard.png"))[:1 + exists]:
                for one, other, options in (
                        ("output", "boundary output", ("-o", "new.hdf", "-s", f"output.boundary={link}")),
                        ("output", "boundary output", ("-o", link, "-s", "output.boundary=new.hdf")),
                        ("output", "probe a", ("-o", link, "-s", "probe a.output=new.hdf")),
                        ("output", "picture", ("-o", "new.hdf", "--picture", picture)),
                        ("report", "boundary output", ("-r", link, "-s", "output.boundary=new.hdf")),
                        ("report", "probe b", ("-r", "new.hdf", "-s", f"probe b.output={link}")),
                        ("report", "picture", ("-r", "new.hdf", "--picture", picture)),
                        ("probe a", "probe b", ("-s", "probe a.output=new.hdf", "-s", f"probe b.output={link}")),
                        ("probe a", "boundary output",
                         ("-s", f"probe a.output={link}", "-s", "output.boundary=new.hdf")),
                        ("boundary output", "picture", ("-s", "output.boundary=new.hdf", "--picture", picture))):
                    with self.subTest(options=options):
                        self.refused("solve", "a.ini", *options, says=f"{one} and {other} cannot both be ")
            self.refused("solve", "p.ini", "-o", "new.hdf", "-r", "hard.hdf" if exists else "link.hdf",
                         says="output and report cannot both be new.hdf")
        self.assertEqual(contents(self.path("new.hdf")), b"precious")

    def test_a_file_that_fails_after_the_solve_leaves_the_report_and_one_sentence(self):
        self.write("a.ini", PROBLEM + "[probe a]\npoints = 0.5 0.5\noutput = /dev/full\n[output]\nboundary = b.hdf\n")
        for options in (("-r", "r.json"), ("-r", "r.json", "-o", "o.hdf", "-s", "integral i.of=u")):
            said = self.kedge("solve", "a.ini", "-q", *options, code=1).stderr
            self.assertEqual(said, "kedge: cannot write the probe /dev/full: No space left on device\n")
            self.assertTrue(self.json("r.json")["solver"]["converged"])
        self.assertTrue(self.json("r.json")["output"]["written"])

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))
        said = self.kedge("solve", "a.ini", "-q", "-r", "/dev/full", "-s", "probe a.output=a.csv", code=1,
                          preexec_fn=limit).stderr
        self.assertRegex(said, "^kedge: cannot write the output b.hdf: .*File too large\n$")
        self.refused("solve", "p.ini", "-o", "no/o.hdf", "-r", "no/r.json",
                     says="cannot write the output no/o.hdf: no: ")

    def test_a_plan_refuses_what_a_solve_refuses_before_its_mesh(self):
        self.write("words.csv", "0.5,0.5\n0.5,here\n")
        self.write("a.ini", PROBLEM + "[probe a]\nfile = words.csv\n")
        for options in ((), ("-s", "probe a.file=none.csv"), ("-s", "probe a.file=."),
                        ("-s", "probe a.output=words.csv"), ("-s", "probe a.output=no/a.csv"),
                        ("-s", "output.boundary=b.txt"), ("-s", "output.boundary=a.hdf", "-s", "probe a.output=a.hdf")):
            said = [self.refused(command, "a.ini", *options, "-r", "r.json", says="kedge: ").stderr
                    for command in ("plan", "solve")]
            self.assertEqual(*said)
        self.write("words.csv", "0.5,0.5\n")
        self.kedge("plan", "a.ini", "-q", "-r", "r.json")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.ini", "p.ini", "r.json", "words.csv"])

    def test_points_may_come_through_a_pipe(self):
        self.shell("printf 'x,y\\n0.5,0.25\\n' | $K solve p.ini -q -s 'probe a.file=/dev/stdin'", 0)
        self.assertEqual([row[:2] for row in self.table("a.csv")], [["0.5", "0.25"]])

    def test_no_input_is_written_over(self):
        self.write("x.csv", "0.5,0.5\n")
        self.write("a.ini", PROBLEM + "[probe a]\nfile = x.csv\noutput = x.csv\n")
        place = f"a.ini:{PROBLEM.count(chr(10)) + 3}: "
        self.refused("solve", "a.ini", says=f"kedge: {place}cannot write the probe a x.csv: it is the input x.csv; give "
                     "another name")
        self.write("a.ini", PROBLEM + "[probe a]\nfile = x.csv\noutput = a.ini\n")
        self.refused("solve", "a.ini", says=f"kedge: {place}cannot write the probe a a.ini: it is the input a.ini; give "
                     "another name")
        self.write("a.ini", PROBLEM + "[probe a]\nfile = x.csv\n")
        self.refused("solve", "a.ini", "-r", "x.csv", says="cannot write the report x.csv: it is the input x.csv")
        self.write("a.ini", PROBLEM + "[probe no/x]\npoints = 0 0\n[output]\nboundary = b.vtk\n")
        self.refused("solve", "a.ini", says="cannot write the probe no/x no/x.csv: no: No such file or directory")
        self.refused("solve", "a.ini", "-s", "probe no/x.output=c.csv", says="cannot write the boundary output b.vtk")

    def test_the_boundary_is_written_with_and_without_fields(self):
        self.write("r.ini", RING + "[output]\nboundary = b.vtkhdf\n")
        said = self.kedge("solve", "r.ini", "-r", "r.json").stdout
        self.assertIn("\nboundary     b.vtkhdf\n", said)
        self.assertIsNone(self.json("r.json")["output"])
        alone = contents(self.path("b.vtkhdf"))
        self.kedge("solve", "r.ini", "-q", "-o", "o.vtkhdf", "-s", "output.boundary=c.hdf")
        self.assertEqual(alone, contents(self.path("c.hdf")))
        self.kedge("solve", "r.ini", "-q", "-s", "output.fields=cells", "-o", "o.vtkhdf", "-s", "output.boundary=d.hdf")
        self.assertEqual(alone, contents(self.path("d.hdf")))
        os.unlink(self.path("b.vtkhdf"))
        self.kedge("solve", "r.ini", "-q", "-s", "output.boundary=")
        self.assertNotIn("b.vtkhdf", os.listdir(self.folder))


PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python")


def pixels(path):
    """Width, height and the bytes of a PNG, which has no errors."""
    data = contents(path)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, size = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        chunk = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + chunk)
        if kind == b"IHDR":
            size = struct.unpack(">II", chunk[:8])
        packed += chunk if kind == b"IDAT" else b""
        at += 12 + length
    return (*size, zlib.decompress(packed))


class Picture(Command):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        os.symlink(sys.executable, self.path("bin/python3"))
        library = os.path.join(os.path.dirname(KEDGE), "../libkedge.so")
        self.environment = {**os.environ, "PATH": self.path("bin"), "PYTHONPATH": PYTHON, "KEDGE_LIBRARY": library,
                            "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": self.path("tmp")}
        os.mkdir(self.path("tmp"))
        has = subprocess.run([sys.executable, "-c", "import matplotlib, numpy"], capture_output=True).returncode == 0
        self.ready = has and os.path.exists(library) and not os.environ.get("KEDGE_LARGE_FRAMES")

    def files(self):
        return sorted(set(os.listdir(self.folder)) - {"bin", "tmp", "p.ini"}) + os.listdir(self.path("tmp"))

    def test_a_picture_is_drawn_and_nothing_else_is_left(self):
        if not self.ready:
            self.skipTest("no matplotlib")
        said = self.kedge("solve", "p.ini", "--picture", "a.png", "-r", "r.json", env=self.environment).stdout
        self.assertIn("\npicture      a.png\n", said)
        self.assertIsNone(self.json("r.json")["output"])
        self.assertEqual(self.files(), ["a.png", "r.json"])
        width, height, rows = pixels(self.path("a.png"))
        self.assertGreater(min(width, height), 400)
        self.assertGreater(len(set(rows[1:4 * width:4])), 1)
        os.symlink("a.png", self.path("link.png"))
        os.unlink(self.path("r.json"))
        os.chmod(self.path("a.png"), 0o600)
        self.kedge("solve", "p.ini", "-q", "--picture", "link.png", "-o", "o.vtkhdf", env=self.environment)
        self.assertEqual(self.files(), ["a.png", "link.png", "o.vtkhdf"])
        self.assertTrue(os.path.islink(self.path("link.png")))
        self.assertEqual(pixels(self.path("a.png"))[2], rows)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("a.png")).st_mode), 0o600)

    def test_the_picture_of_a_solve_in_space_is_its_surface(self):
        if not self.ready:
            self.skipTest("no matplotlib")
        self.write("s.ini", "[mesh]\ngenerate = cube 2\n[space]\norder = 2\n[exact]\nu = x + y*z\n"
                            "[boundary default]\ntype = dirichlet\n")
        self.kedge("solve", "s.ini", "-q", "--picture", "a.png", env=self.environment)
        self.assertEqual(self.files(), ["a.png", "s.ini"])
        width, height, rows = pixels(self.path("a.png"))
        self.assertGreater(min(width, height), 400)
        self.assertGreater(len(set(rows)), 100)  # the colours of the map, and of edges
        self.kedge("solve", "s.ini", "-q", "--picture", "b.png", "-s", "exact.u=1", env=self.environment)
        self.assertNotEqual(pixels(self.path("b.png"))[2], rows)

    def test_the_picture_of_waves_is_that_of_their_end(self):
        if not self.ready:
            self.skipTest("no matplotlib")
        waves = "[mesh]\ngenerate = {}\n[space]\norder = 2\n[equation]\nsystem = {}\n[boundary default]\n" \
                "type = absorbing\n[initial]\n{} = exp(-20*(x^2 + y^2))\n[time]\nend = 0.2\n"
        for mesh, system, field in ("square 4", "maxwell-tm", "Ez"), ("square 4", "acoustics", "p"), ("cube 2", "maxwell", "Ex"):
            self.write("w.ini", waves.format(mesh, system, field))
            self.kedge("solve", "w.ini", "-q", "--picture", "a.png", env=self.environment)
            self.assertEqual(self.files(), ["a.png", "w.ini"])
            rows = pixels(self.path("a.png"))[2]
            self.assertGreater(len(set(rows)), 100)
            os.unlink(self.path("a.png"))
        self.kedge("solve", "w.ini", "-q", "--picture", "b.png", "-s", "time.end=0.4", "-o", "w.vtkhdf", "-s",
                   "output.at=0.2", env=self.environment)
        self.assertEqual(self.files(), ["b.png", "w.0001.vtkhdf", "w.0002.vtkhdf", "w.csv", "w.ini", "w.vtkhdf.series"])
        self.assertNotEqual(pixels(self.path("b.png"))[2], rows)

    def test_a_picture_of_what_moves_is_that_of_its_end(self):
        if not self.ready:
            self.skipTest("no matplotlib")
        moving = ("-s", "time.end=1", "-s", "time.steps=4", "-s", "equation.source=t*x")
        self.kedge("solve", "p.ini", "-q", *moving, "--picture", "a.png", env=self.environment)
        self.assertEqual(self.files(), ["a.png"])
        self.kedge("solve", "p.ini", "-q", *moving, "--picture", "b.png", "-o", "o.hdf", "-s", "output.every=0.5",
                   env=self.environment)
        self.assertEqual(self.files(), ["a.png", "b.png", "o.0001.hdf", "o.0002.hdf", "o.csv", "o.hdf.series"])
        self.assertEqual(pixels(self.path("a.png")), pixels(self.path("b.png")))

    def test_what_a_picture_lacks_is_told_before_the_solve(self):
        def refused(says, **environment):
            self.refused("solve", "p.ini", "--picture", "a.png", "-o", "o.vtkhdf", code=1, says=says,
                         env={**self.environment, **environment})
            self.assertEqual([name for name in self.files() if not name.startswith("fake")], [])

        refused("kedge: --picture needs the Python package kedge, of this version, where python3 finds it",
                PYTHONPATH=self.path("tmp"))
        refused("kedge: --picture needs python3, which cannot be run: No such file or directory", PATH=self.path("tmp"))
        os.mkdir(self.path("fake"))
        self.write("fake/matplotlib.py", "raise ImportError('there is none')")
        if self.ready:
            refused("kedge: --picture needs matplotlib", PYTHONPATH=self.path("fake") + ":" + PYTHON)
        refused("kedge: --picture: ImportError: the library of kedge cannot be loaded",
                KEDGE_LIBRARY=self.path("none.so"))

    def test_modules_in_the_current_folder_are_not_taken(self):
        for module in ("kedge", "matplotlib", "numpy", "sys"):
            self.write(f"{module}.py", "open('taken', 'w')\n")
        result = self.kedge("solve", "p.ini", "-q", "--picture", "a.png", env=self.environment,
                            code=0 if self.ready else None)
        self.assertNotIn("taken", os.listdir(self.folder))
        self.assertEqual("a.png" in os.listdir(self.folder), result.returncode == 0)
        self.assertNotIn("needs the Python package kedge", result.stderr)

    def test_names_and_fields_that_give_no_picture_are_refused(self):
        self.refused("solve", "p.ini", "--picture", "a.jpg", says="cannot write the picture a.jpg: ")
        self.refused("solve", "p.ini", "--picture", "no/a.png",
                     says="cannot write the picture no/a.png: no: No such file")
        self.refused("solve", "p.ini", "--picture", "a.png", "-s", "output.fields=cells", env=self.environment,
                     says="--picture shows values at points, and [output] fields = cells keeps means alone")


if __name__ == "__main__":
    unittest.main()
