#!/usr/bin/python3
"""check_files.py KEDGE: the files that the command writes: where, under which names, and never over what it reads."""
import json
import os
import re
import resource
import subprocess
import unittest

from command import KEDGE, Command, PROBLEM


class Files(Command):
    def test_a_solve_that_fails_writes_nothing(self):
        for way in ("jacobi", "multigrid"):
            self.refused("solve", "p.ini", "-s", f"solver.preconditioner={way}", "-s",
                         "space.stabilization=1e25", "-o", "o.vtkhdf", "-r", "r.json", code=1,
                         says="choose a stabilization nearer to diffusion / h")
        self.assertEqual(os.listdir(self.folder), ["p.ini"])

    def test_an_output_of_cells_is_smaller(self):
        for fields in ("full", "cells"):
            self.kedge("solve", "p.ini", "-q", "-o", f"{fields}.hdf", "-s", f"output.fields={fields}")
        self.assertLess(os.path.getsize(self.path("cells.hdf")),
                        os.path.getsize(self.path("full.hdf")))
        self.refused("solve", "p.ini", "-s", "output.fields=cell", says="'cells'")

    def test_the_output_option_wins_over_the_file(self):
        self.write("o.ini", PROBLEM + "[output]\nfile = a.vtkhdf\n")
        self.kedge("solve", "o.ini", "-q", "--output", "b.vtkhdf")
        self.kedge("solve", "o.ini", "-q", "--set", "output.file=")
        self.assertEqual(sorted(os.listdir(self.folder)), ["b.vtkhdf", "o.ini", "p.ini"])
        self.kedge("solve", "o.ini", "-q")
        self.assertIn("a.vtkhdf", os.listdir(self.folder))

    def test_names_in_files_do_not_steer_the_terminal(self):
        square = ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 1 \"{0}\"\n2 2 \"{0}\"\n"
                  "$EndPhysicalNames\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$EndNodes\n$Elements\n6\n"
                  "1 1 2 1 1 1 2\n2 1 2 1 1 2 3\n3 1 2 1 1 3 4\n4 1 2 1 1 4 1\n5 2 2 2 1 1 2 3\n6 2 2 2 1 1 3 4\n"
                  "$EndElements\n")
        problem = ("[mesh]\nfile = a.msh\n[equation]\nreaction = 1\nsource = 1\n[boundary default]\ntype = robin\n"
                   "coefficient = -1e-3\nvalue = 0\n")
        for name, shown in (("\x1b]0;owned\x07W\udce4nde\x7f", r"\x1b]0;owned\x07W\xe4nde\x7f"),
                            ("\x9b31m a\u202eb", r"\u009b31m a\u202eb"), ("Wände 入口", "Wände 入口")):
            steers = not name.isprintable()
            with open(self.path("a.msh"), "wb") as file:
                file.write(square.format(name).encode(errors="surrogateescape"))
            texts = [self.kedge("mesh", "info", "a.msh").stdout]  # a table
            self.assertEqual(texts[0].count(shown), 2)
            self.write("a.ini", problem)
            texts.append(self.kedge("solve", "a.ini", "-r", "r.json").stdout)  # a note
            self.assertIn(f"on boundary '{shown}' the robin coefficient is as small as", texts[-1])
            with open(self.path("r.json"), "rb") as file:
                texts.append(file.read().decode())
            self.assertIn("the robin coefficient is as small as", json.loads(texts[-1])["solver"]["note"])
            with open(self.path("b.ini"), "wb") as file:
                file.write(f"[equation]\nsource = 1 + '{name}'\n".replace("\x1b", "").encode(errors="surrogateescape"))
            texts.append(self.kedge("solve", "b.ini", code=2).stderr)  # the text of an expression
            for arguments in (("mesh", "info", f"{name}.msh"), ("solve", f"{name}.ini"), ("help", name), (name,),
                              ("solve", "a.ini", "-r", f"{name}/x"), ("mesh", "info", "a.msh", name)):
                texts.append(self.kedge(*arguments, code=2).stderr)  # the name of a file
                if arguments[0] != "help" or steers:
                    self.assertIn(shown, texts[-1])
            for text in texts:
                self.assertEqual(re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text), [], text)

    def test_places_that_cannot_be_written_are_refused_before_the_work(self):
        for option, word in (("--output", "output"), ("--report", "report")):
            says = f"cannot write the {word} no/such/x: no/such: No such file or directory"
            self.refused("solve", "p.ini", option, "no/such/x", says=says)
            self.refused("solve", "p.ini", option, ".",
                         says=f"cannot write the {word} .: it is a folder")
        self.refused("mesh", "generate", "square", "3", "-o", "no/x.msh",
                     says="cannot write the mesh no/x.msh: no: No such file or directory")
        long = "n" * 256
        for arguments in (("solve", "p.ini"), ("mesh", "generate", "square", "3")):
            self.refused(*arguments, "-o", long, says="File name too long")
            self.refused(*arguments, "-o", "./" * 2040 + "x", says="File name too long")

    def test_empty_names_and_a_dash_are_refused(self):
        for option, what in (("-o", "output"), ("-r", "report")):
            self.refused("solve", "p.ini", option, "", says=f"the name of the {what} is empty")
        self.refused("plan", "p.ini", "-r", "", says="kedge: the name of the report is empty")
        self.refused("solve", "", says="kedge: the name of the file to read is empty")
        self.refused("mesh", "info", "", says="kedge: the name of the file to read is empty")
        for arguments in (("solve", "p.ini", "-r"), ("plan", "p.ini", "-r"),
                          ("mesh", "generate", "square", "3", "-o")):
            self.refused(*arguments, "-", says=" -: give /dev/stdout for standard output")
        for command in (("solve",), ("plan",), ("mesh", "info")):
            self.refused(*command, "-", says="give /dev/stdin for standard input")
        self.refused("solve", "p.ini", "-o", "-", says="cannot write the output -: its name must")
        self.shell("$K solve -q /dev/stdin < p.ini", 0)
        self.assertEqual(os.listdir(self.folder), ["p.ini"])

    def test_links_are_followed_to_files_that_do_not_exist_yet(self):
        os.mkdir(self.path("sub"))
        os.symlink("sub/b.hdf", self.path("a.hdf"))
        os.symlink("../c.hdf", self.path("sub/b.hdf"))
        self.kedge("solve", "p.ini", "-q", "-o", "a.hdf")
        self.assertEqual(os.readlink(self.path("a.hdf")), "sub/b.hdf")
        self.assertFalse(os.path.islink(self.path("c.hdf")))
        self.assertEqual(os.listdir(self.path("sub")), ["b.hdf"])
        os.symlink("gone/x.hdf", self.path("lost.hdf"))
        os.symlink("round.hdf", self.path("round.hdf"))
        self.refused("solve", "p.ini", "-o", "lost.hdf", says="cannot write the output lost.hdf: "
                     "gone: No such file or directory")
        self.refused("solve", "p.ini", "-o", "round.hdf", says="cannot write the output round.hdf: "
                     "Too many levels of symbolic links")
        os.symlink("new.hdf", self.path("r.json"))
        self.refused("solve", "p.ini", "-o", "new.hdf", "-r", "r.json",
                     says="output and report cannot both be new.hdf")

    def test_output_goes_to_regular_files_only(self):
        os.mkfifo(self.path("pipe"))
        os.symlink("/dev/null", self.path("link"))
        for place in ("/dev/null", "pipe", "link"):
            self.refused("solve", "p.ini", "-o", place,
                         says=f"cannot write the output {place}: it must be a regular file")

    def test_output_and_report_do_not_overwrite_each_other(self):
        os.mkdir(self.path("sub"))
        os.symlink("sub", self.path("same"))
        self.write("old", "")
        os.symlink("old", self.path("alias"))
        for output, report in (("x", "x"), ("x", "./x"), ("x", self.path("x")),
                               ("sub/x", "same/x"), ("old", "alias"), ("alias", "sub/../old")):
            self.refused("solve", "p.ini", "-o", output, "-r", report,
                         says=f"output and report cannot both be {output}")
        self.kedge("solve", "p.ini", "-q", "-o", "sub/x.hdf", "-r", "x.hdf")

    def test_what_is_read_is_not_written_over(self):
        os.mkdir(self.path("sub"))
        self.kedge("mesh", "generate", "square", "3", "-o", "sub/m.msh")
        self.write("sub/m.ini", PROBLEM.replace("generate = square 20", "file = m.msh"))
        os.symlink("m.msh", self.path("sub/m.hdf"))
        os.link(self.path("sub/m.ini"), self.path("hard.hdf"))
        def contents():
            return subprocess.check_output(["cat", "sub/m.ini", "sub/m.msh"], cwd=self.folder)
        before = contents()
        for option, what in (("-o", "output"), ("-r", "report")):
            for path, reads in (("sub/m.ini", "sub/m.ini"), ("sub/../sub/m.ini", "sub/m.ini"),
                                ("hard.hdf", "sub/m.ini"), ("sub/m.msh", "sub/m.msh"),
                                ("sub/m.hdf", "sub/m.msh")):
                self.refused("solve", "sub/m.ini", option, path, says=f"cannot write the {what} "
                             f"{path}: it is the input {reads}; give another name")
        self.assertEqual(contents(), before)

    def test_names_of_files_end_in_what_they_hold(self):
        says = "its name must end in .vtkhdf or .hdf, by which programs know what it holds"
        for name in ("c.vtu", "c.vtk", "c.hdf5", "c", ".hdf"):
            self.refused("solve", "p.ini", "-o", name, says=f"cannot write the output {name}: "
                         + says)
        self.refused("solve", "p.ini", "-s", "output.file=c.vtu",
                     says="kedge: --set output.file=c.vtu: cannot write the output c.vtu: " + says)
        self.write("o.ini", PROBLEM + "[output]\nfile = nowhere/o.hdf\n")
        self.refused("solve", "o.ini", says="kedge: o.ini:13: cannot write the output nowhere/o.hdf:"
                     " nowhere: No such file or directory")
        os.remove(self.path("o.ini"))
        for name in ("p.ini", "x.mesh", ".msh"):
            self.refused("mesh", "generate", "square", "3", "-o", name,
                         says=f"cannot write the mesh {name}: its name must end in .msh")
        self.assertEqual(os.listdir(self.folder), ["p.ini"])

    def test_a_read_only_folder_is_refused(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        os.mkdir(self.path("locked"), 0o500)
        self.refused("solve", "p.ini", "-o", "locked/x.hdf", says="Permission denied")

    def test_a_report_on_standard_output_leaves_what_is_in_its_file(self):
        self.write("log", "precious\n")
        with open(self.path("log"), "a", encoding="utf-8") as log:
            subprocess.run([KEDGE, "solve", "p.ini", "-q", "-r", "/dev/stdout"], cwd=self.folder, stdout=log,
                           check=True)
        with open(self.path("log"), encoding="utf-8") as log:
            first, report = log.read().split("\n", 1)
        self.assertEqual(first, "precious")
        self.assertIn("stages", json.loads(report))

    def test_a_pipe_that_nobody_reads_is_refused_at_once(self):
        os.mkfifo(self.path("pipe"))
        for command in ("solve", "plan"):
            self.refused(command, "p.ini", "-q", "-r", "pipe", code=1, timeout=60,
                         says="kedge: cannot write the report pipe: nobody reads this pipe")
        self.refused("mesh", "generate", "square", "3", "-o", "pipe", code=1, timeout=60,
                     says="cannot write the mesh pipe: nobody reads this pipe")

    def test_a_pipe_with_a_reader_is_written(self):
        os.mkfifo(self.path("pipe"))
        for command in ("solve", "plan"):
            text = self.shell(f"timeout 60 cat pipe & $K {command} -q -r pipe p.ini; wait", 0).stdout
            self.assertEqual(json.loads(text)["space"]["order"], 1)
        slow = "(sleep 0.5; timeout 60 cat) < pipe | $K mesh info /dev/stdin & $K mesh generate square 200 -o pipe; wait"
        self.assertRegex(self.shell(slow, 0).stdout, r"triangles +80000\n")  # more than a pipe holds

    def test_a_reader_that_goes_ends_the_command_as_others(self):
        self.shell("$K solve p.ini -o o.hdf | :; test $? = 0 && ls -A | grep -c partial", 1)
        self.assertIn("o.hdf", os.listdir(self.folder))

    def test_an_output_that_fails_is_in_the_report(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))
        self.kedge("solve", "p.ini", "-q", "-r", "r.json")
        self.assertIsNone(self.json("r.json")["output"])
        self.kedge("solve", "p.ini", "-q", "-r", "r.json", "-o", "o.hdf")
        self.assertEqual(self.json("r.json")["output"], {"written": True, "error": ""})
        os.remove(self.path("o.hdf"))
        said = self.kedge("solve", "p.ini", "-q", "-r", "r.json", "-o", "o.hdf", code=1, preexec_fn=limit).stderr
        output = self.json("r.json")["output"]
        self.assertEqual((output["written"], "kedge: " + output["error"] + "\n"), (False, said))
        self.assertRegex(said, "cannot write the output o.hdf: .*File too large")
        self.assertEqual(sorted(os.listdir(self.folder)), ["p.ini", "r.json"])

    def test_an_output_that_is_refused_before_the_solve_is_in_the_report(self):
        for output, says in (("nodir/x.hdf", "nodir: No such file"), ("/dev/full", "it must be a regular file"),
                             ("x.txt", "its name must end in"), ("p.ini", "it is the input")):
            said = self.refused("solve", "p.ini", "-o", output, "-r", "r.json", says=says).stderr
            report = self.json("r.json")
            self.assertFalse(report["output"]["written"])
            self.assertEqual(said, "kedge: " + report["output"]["error"] + "\n")
            self.assertEqual((report["solver"]["converged"], report["solver"]["stop"]), (False, "unknown"))
            os.remove(self.path("r.json"))
        self.refused("solve", "p.ini", "-o", "r.hdf", "-r", "r.hdf", says="output and report cannot both be r.hdf")
        self.assertEqual(os.listdir(self.folder), ["p.ini"])

    def test_a_report_may_go_to_standard_output(self):
        text = self.kedge("solve", "p.ini", "-q", "--report", "/dev/stdout").stdout
        self.assertEqual(json.loads(text)["space"]["order"], 1)


if __name__ == "__main__":
    unittest.main(verbosity=1)
