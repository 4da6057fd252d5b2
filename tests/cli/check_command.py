#!/usr/bin/python3
"""check_command.py KEDGE: the command from outside: usage, streams, terminal, plan, info."""
import json
import os
import pty
import re
import signal
import subprocess
import unittest

from command import Command, KEDGE, PROBLEM, STAGES, TITLES


class Usage(Command):
    def test_wrong_usage_is_exit_code_2(self):
        self.refused("sovle", says="there is no command 'sovle'; did you mean 'solve'?")
        self.refused("slove", says="there is no command 'slove'; did you mean 'solve'?")
        self.refused("mesh", "inof", says="there is no command 'inof'; did you mean 'info'?")
        self.refused("cook", says="'cook'; the commands are solve, plan, mesh, info, help (see")
        self.kedge("mesh", "generate", "square", "1", "-o", "c.msh")
        self.refused("solve", "c.msh", says="c.msh is a Gmsh mesh; a problem file is expected")
        self.refused("solve", says="which problem file?")
        self.refused("plan", says="which problem file?")
        self.refused("solve", "p.ini", "q.ini", says="not also 'q.ini'")
        self.refused("plan", "p.ini", "q.ini", says="not also 'q.ini'")
        self.refused("solve", "p.ini", "--fast", says="--fast")
        self.refused("solve", "p.ini", "--backend", "tpu", says="not 'tpu'")
        self.refused("solve", "p.ini", "--backend", "shadow", says="not 'shadow'")
        self.refused("solve", "p.ini", "-d", "3", "--backend", "host", says="--device 3 is a GPU's")
        most = 4 * os.sysconf("SC_NPROCESSORS_ONLN")
        for bad in ("0", "-1", "2x", "", "99999999999999999999", "60000"):
            self.refused("solve", "p.ini", f"--threads={bad}",
                         says=f"--threads wants a whole number from 1 to {most}, not '{bad}'")
        self.refused("solve", "p.ini", "--device=-1", says="--device wants a whole number")
        self.refused("mesh", "info", says="which mesh file?")
        self.refused("mesh", "info", "a", "b", says="not also 'b'")
        self.refused("mesh", "generate", "-o", "x.msh", says="which mesh?")
        self.refused("mesh", "generate", "square", "3", says="into which file?")
        self.refused("mesh", "generate", "square", "3", "-o", "x.msh", "--refine", "99",
                     says="--refine wants")
        self.refused("info", "x", says="'x' is not expected")
        self.refused("help", "cooking", says="there is no help on 'cooking'")
        self.refused("help", "problem", "output", says="not also 'output'")
        for arguments in ((), ("mesh",)):
            self.assertIn("Usage: kedge", self.kedge(*arguments, code=2).stderr)

    def test_help_and_sentences_name_space(self):
        text = " ".join(self.kedge("--help").stdout.split())
        self.assertIn("Solve elliptic problems, problems in time and waves, in the plane and on tetrahedra", text)
        self.refused("mesh", "generate", "cube", "1000", "-o", "c.msh",
                     says="has more tetrahedra than kedge can number")

    def test_every_command_has_help(self):
        for arguments in ((), ("solve",), ("plan",), ("mesh",), ("mesh", "info"),
                          ("mesh", "generate"), ("info",), ("help",)):
            text = self.kedge(*arguments, "--help").stdout
            self.assertTrue(text.startswith(" ".join(("Usage: kedge", *arguments))), text)
            self.assertEqual(self.kedge(*arguments, "-h").stdout, text)

    def test_every_topic_is_explained(self):
        listing = self.kedge("help").stdout
        topics = re.findall(r"^  (\S+) ", listing.split("Sections")[0], re.M)
        self.assertEqual(topics, ["problem", "expressions", "mesh", "output", "report",
                                  "multigrid", "backends", "march", "waves", "exit-codes"])
        sections = re.findall(r"\w+", listing.split("SECTION':")[1].split(".")[0])
        self.assertEqual(sections, ["mesh", "space", "equation", "region", "parameters", "boundary", "integral",
                                    "exact", "time", "initial", "solver", "output", "probe"])
        whole = self.kedge("help", "problem").stdout
        for section in sections:
            text = self.kedge("help", section).stdout
            text = text[text.index("section "):].split("\n\nsection ")[0]  # and not a key of this name
            title, rows = text.split("\n", 1)
            self.assertRegex(rows, rf"^\[{section}[] ]")
            self.assertEqual(len(re.findall(r"(?m)^\[", rows)), 1)
            self.assertIn(rows, whole)
            self.assertIn(title, whole)
        for topic in topics:
            text = self.kedge("help", topic).stdout
            self.assertGreater(text.count("\n"), 2)
            self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.assertEqual(self.kedge("help", "exit", "codes").stdout,
                         self.kedge("help", "exit-codes").stdout)
        march = self.kedge("help", "march").stdout
        self.assertRegex(march, r"(?s)mass u_t - div.*\[time\] +end .*\[initial\] +u ")
        for word in "time", "checkpoint", "series":
            self.assertEqual(self.kedge("help", word).stdout, march)
        self.assertIn(self.kedge("help", "multigrid").stdout, self.kedge("help", "line").stdout)  # a key too
        for value in ("edge", "jacobi", "compact"):
            self.assertEqual(self.kedge("help", value).stdout, self.kedge("help", "multigrid").stdout)
        for word, name in (("quads", "mesh"), ("curved", "mesh"), ("tensor", "diffusion"),
                           ("robin", "boundary"), ("sigma", "output"), ("acoustics", "waves")):
            self.assertEqual(self.kedge("help", word).stdout, self.kedge("help", name).stdout)
        self.assertIn("Usage: kedge solve", self.kedge("help", "solve").stdout)

    def test_every_key_is_explained(self):
        whole = self.kedge("help", "problem").stdout
        title, table = whole[whole.index("section "):].split("\n\n")[0].split("\n", 1)
        keys, section = {}, None
        for line in table.splitlines():
            if line[0] == "[":
                section = line[:17]
            if line[17] != " ":
                key = line[17:].split()[0]
                rows = keys.setdefault(key, [])
                rows.append((section, [section + line[17:]]))
            else:
                rows[-1][1].append(line)
        self.assertEqual(sorted(key for key, rows in keys.items() if len(rows) > 1),
                         ["FIELD", "bulk", "conductivity", "current", "density", "diffusion", "every", "file", "mass",
                          "permeability", "permittivity", "quadrature", "reaction", "source", "tolerance", "u"])
        self.assertGreater(len(keys["tolerance"][1][1]), 1)
        for key, rows in keys.items():
            lines = [line for _, of_row in rows for line in of_row]
            shown = self.kedge("help", key).stdout.splitlines()
            more = key in ("boundary", "output", "line")  # a section, a topic and a smoother have these names too
            self.assertEqual(shown[-1 - len(lines):], [title] + lines)
            self.assertEqual(len(shown) > 1 + len(lines), more, key)
            for section, of_row in rows:
                name = re.search(r"\w+", section)[0]
                self.assertEqual(self.kedge("help", f"{name}.{key}").stdout.splitlines(),
                                 [title] + of_row)
        self.assertEqual(self.kedge("help", "boundary left.type").stdout,
                         self.kedge("help", "type").stdout)
        for name in ("space.tolerance", "tol", ".", "solver.", ".order", ""):
            self.refused("help", name, says=f"there is no help on '{name}'")

    def test_help_on_a_misspelled_word_names_the_nearest(self):
        for word, meant in (("tolerence", "tolerance"), ("solver.tolerence", "tolerance"),
                            ("expresions", "expressions"), ("bounday", "boundary"),
                            ("exit-code", "exit-codes"), ("slove", "solve"),
                            ("max_iteration", "max_iterations"), ("multigird", "multigrid"),
                            ("copmact", "compact"), ("block-jakobi", "block-jacobi")):
            text = self.refused("help", word, says=f"no help on '{word}'; did you mean '{meant}'?")
            self.assertEqual(text.stderr.count("\n"), 1)
            self.kedge("help", meant)
        for word in ("cooking", "tol", "solver.", ""):
            text = self.refused("help", word, says=f"there is no help on '{word}'\n").stderr
            self.assertIn("Topics of", text)

    def test_the_help_on_problem_files_has_the_defaults_of_the_documentation(self):
        page = os.path.join(os.path.dirname(__file__), "../../docs/problem-file.md")
        with open(page) as file:
            rows = re.findall(r"^\| `(\w+)` \|(.*?) \| *(\S*) *\|", file.read(), re.M)
        shown = self.kedge("help", "problem").stdout
        self.assertGreater(len(rows), 15)
        for key, _, default in rows:
            default = default.strip("`")
            if re.match(r"[\d]|matrix|auto|edge|amg|double|elliptic|full|zero|trbdf2|end", default):
                self.assertRegex(shown, rf"(?m)^.{{17}}{key} +{default}( |$)")
            else:
                self.assertRegex(shown, rf"(?m)^.{{17}}({key:34}\S|{key} +(required|from) )")

    def test_every_key_of_waves_has_help(self):
        with open(os.path.join(os.path.dirname(__file__), "../../docs/waves.md")) as file:
            words = set(re.findall(r"^\| `([\w-]+)` \|", file.read().split("## Adding a system")[0], re.M))
        self.assertTrue({"system", "cfl", "every", "FIELD", "maxwell-tm", "soft"} <= words)
        for word in words:
            self.kedge("help", word)

    def test_fields_and_boundaries_of_waves_have_help(self):
        waves = self.kedge("help", "waves").stdout
        for word in "Ex", "Hz", "p", "vz", "conductor", "wall", "soft", "absorbing", "incident":
            self.assertEqual(self.kedge("help", word).stdout, waves)
        for word in "conductor", "wall", "soft", "absorbing", "incident":
            self.assertRegex(waves, rf"(?m)^  {word} {{4,9}}\w")
        self.assertIn("of waves 1 to 9", self.kedge("help", "order").stdout)
        self.assertRegex(self.kedge("help", "precision").stdout, r"of waves\n *single, their default, or double")

    def test_the_version_is_printed(self):
        for arguments in (("--version",), ("-V",), ("solve", "--version")):
            self.assertRegex(self.kedge(*arguments).stdout, r"^kedge \d+\.\d+\.\d+\n$")


class Streams(Command):
    def test_a_full_standard_output_is_a_failure(self):
        for command in ("solve p.ini", "--version", "--help", "info", "help", "plan p.ini"):
            result = self.shell(f"$K {command} >/dev/full", code=1)
            self.assertIn("cannot write to standard output: ",
                          result.stderr)

    def test_a_closed_standard_output_is_a_failure_only_when_something_is_printed(self):
        result = self.shell("$K solve p.ini >&-", code=1)
        self.assertIn("cannot write to standard output", result.stderr)
        self.shell("$K solve p.ini -q >&-", code=0)

    def test_closed_streams_do_not_end_up_in_the_output(self):
        self.shell("$K solve p.ini -o out.hdf <&- >&- 2>&-", code=1)
        self.kedge("solve", "p.ini", "-q", "-o", "expected.hdf")
        with open(self.path("out.hdf"), "rb") as out, open(self.path("expected.hdf"), "rb") as good:
            self.assertEqual(out.read(), good.read())

    def test_a_reader_that_leaves_ends_it_quietly(self):
        read, write = os.pipe()
        os.close(read)
        result = self.kedge("help", "problem", stdout=write, code=-signal.SIGPIPE)
        os.close(write)
        self.assertEqual(result.stderr, "")


class Terminal(Command):
    def on_terminal(self, *arguments, term="xterm"):
        """What a run draws on the terminal that is its stderr."""
        leader, follower = pty.openpty()
        process = subprocess.Popen([KEDGE, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=follower,
                                   env={**os.environ, "TERM": term})
        os.close(follower)
        drawn = b""
        while True:
            try:
                piece = os.read(leader, 65536)
            except OSError:  # Linux: the last writer has closed it
                break
            if not piece:
                break
            drawn += piece
        os.close(leader)
        self.assertEqual(process.wait(), 0)
        return drawn.decode()

    def test_progress_of_a_march_has_time_and_step_and_is_removed(self):
        is_shown, steps = False, 40
        while not is_shown and steps < 1e5:  # a line is drawn ten times a second: how often a step?
            drawn = self.on_terminal("solve", "p.ini", "-s", "space.order=3", "-s", "time.end=2",
                                     "-s", f"time.steps={steps}")
            lines = [line.replace("\x1b[K", "") for line in drawn.split("\r")]
            is_shown = any(re.match(r"t = [0-9.]+ of 2, step \d+.*, \d+ s left", line)
                           for line in lines)
            steps *= 8
        self.assertTrue(is_shown, lines)
        self.assertTrue(any(line.startswith("local matrices") for line in lines), lines)  # the set-up
        self.assertTrue(drawn.endswith("\r\x1b[K"), drawn[-60:])

    def test_progress_is_drawn_on_a_terminal_and_removed(self):
        drawn = self.on_terminal("solve", "p.ini", "-s", "space.order=4", "-s",
                                 "solver.preconditioner=jacobi")
        lines = [line.replace("\x1b[K", "") for line in drawn.split("\r")]
        for title in TITLES[:-1]:
            shown = any(line.startswith(title) for line in lines)
            self.assertEqual(shown, title != "assembly (B3)", (title, lines))
        self.assertTrue(any(re.match(r"trace solve: iteration \d+, residual \S+ -> 1e-10", line)
                            for line in lines), lines)
        self.assertNotIn("\n", drawn)
        self.assertTrue(drawn.endswith("\r\x1b[K"))
        self.assertLess(max(map(len, lines)), 80)

    def test_progress_is_absent_elsewhere(self):
        self.assertEqual(self.kedge("solve", "p.ini").stderr, "")
        self.assertEqual(self.on_terminal("solve", "p.ini", "--quiet"), "")
        self.assertEqual(self.on_terminal("solve", "p.ini", term="dumb"), "")


class PlanAndInfo(Command):
    def test_the_plan_has_every_stage_and_agrees_with_the_report(self):
        self.write("p.ini", PROBLEM.replace("square 20", "square 60"))
        text = self.kedge("plan", "p.ini", "--backend", "host", "-s", "space.order=3").stdout
        for title in TITLES:
            self.assertIn("\n" + title, text)
        self.assertIn("\nstabilization diffusion / L, L = 1\n", text)
        self.assertRegex(text, r"\nin all, with results( +\S+ .?B){3}\n")
        self.assertRegex(text, r"\nhost memory beside that: \S+ .?B, of \S+ .?B free\n")
        self.assertRegex(text, r"is free: matrix-free, matrix-free-plain, ell fit\n")
        value, unit = re.search(r"^peak +(\S+) (\S+)", text, re.M).groups()
        peak = float(value) * {"kB": 1e3, "MB": 1e6}[unit]
        self.kedge("solve", "p.ini", "-q", "--backend", "host", "-s", "space.order=3", "-r",
                   "r.json")
        predicted = self.json("r.json")["memory"]["predicted_device_bytes"]
        self.assertLess(abs(peak / predicted - 1), 0.01)  # three digits are shown

    def test_the_plan_as_json_is_what_the_report_of_the_solve_says(self):
        self.kedge("plan", "p.ini", "-b", "host", "-r", "plan.json")
        self.kedge("solve", "p.ini", "-b", "host", "-q", "-r", "solve.json")
        plan, solve = self.json("plan.json"), self.json("solve.json")
        self.assertEqual(plan["note"], "")
        self.assertEqual(sorted(plan), ["backend", "fits", "memory", "mesh", "note", "operators",
                                        "solver", "space", "version"])
        for member in ("version", "mesh", "backend"):
            self.assertEqual(plan[member], solve[member])
        self.kedge("plan", "p.ini", "-b", "host", "-s", "mesh.generate=cube 2", "-r", "space.json")
        self.assertEqual(self.json("space.json")["mesh"]["dimension"], 3)
        for member in ("solver", "space"):
            for name, value in plan[member].items():
                self.assertEqual(value, solve[member][name], name)
        self.assertIs(plan["fits"], True)
        self.assertEqual(sorted(plan["memory"]), ["free_bytes", "host_bytes", "host_free_bytes"])
        self.assertEqual([op["name"] for op in plan["operators"]],
                         ["matrix-free", "matrix-free-plain", "ell"])
        for op in plan["operators"]:
            self.assertEqual([stage["name"] for stage in op["stages"]], STAGES)
            # Arrays that live at once are placed in one allocation, with little room between them.
            most = max(stage["bytes"] for stage in op["stages"])
            self.assertTrue(most <= op["peak_bytes"] <= 1.03 * most)
            self.assertLessEqual(op["peak_bytes"], op["needed_bytes"])
            self.assertEqual(op["fits"], op["needed_bytes"] <= plan["memory"]["free_bytes"])
        self.assertEqual(plan["operators"][0]["peak_bytes"],
                         solve["memory"]["predicted_device_bytes"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["p.ini", "plan.json", "solve.json", "space.json"])
        self.refused("plan", "p.ini", "-r", "p.ini", says="cannot write the report p.ini: it is the input p.ini")
        self.refused("plan", "p.ini", "-r", "no/r.json", says="cannot write the report no/r.json")
        for name, says in (("no/a.vtkhdf", "cannot write the output no/a.vtkhdf"),
                           ("a.txt", "cannot write the output a.txt: its name must end in .vtkhdf or .hdf")):
            self.refused("plan", "p.ini", "-s", f"output.file={name}", says=f"--set output.file={name}: {says}")
        self.refused("plan", "p.ini", "-s", "output.file=x.hdf", "-r", "x.hdf", says="output and report cannot both be x.hdf")
        self.refused("plan", "p.ini", "-s", "output.file=p.ini", says="cannot write the output p.ini: it is the input p.ini")

    def test_a_plan_that_does_not_fit_is_exit_code_1(self):
        problem = ("p.ini", "-b", "host", "-s", "mesh.generate=square 1000", "-s", "space.order=12",
                   "-s", "solver.preconditioner=jacobi")
        plan = [*problem, "-q", "-r", "plan.json"]
        free = json.loads(self.kedge("info", "--json").stdout)["cpu"]["memory_free_bytes"]
        if free > 45e9:
            self.skipTest("the problem may fit")
        ell = ("-s", "solver.operator=ell")
        says = "this solve needs 50.87 GB of memory on "
        self.refused("plan", *plan, *ell, says=says, code=1)
        report = self.json("plan.json")
        self.assertIs(report["fits"], False)
        self.assertEqual(report["solver"]["operator"], "ell")
        self.refused("solve", *problem, "-q", "-o", "x.vtkhdf", *ell, says=says, code=1)
        text = self.kedge("plan", *problem, *ell, code=1).stdout
        self.assertRegex(text, r" is free: .*fits?\n$")
        # What is judged is the operator that is asked for, not any that fits, or not; free memory is another each time.
        code = self.kedge("plan", *plan, code=None).returncode
        report = self.json("plan.json")
        self.assertIs(report["fits"], report["operators"][0]["fits"])
        self.assertEqual(code, 0 if report["fits"] else 1)

    def test_a_plan_counts_a_large_mesh_without_making_it_and_says_so(self):
        text = self.kedge("plan", "p.ini", "-s", "mesh.generate=square 6000", "-r", "plan.json", code=None).stdout
        self.assertIn("p.ini: 72000000 elements, 108012000 edges, ", text)
        self.assertRegex(text, r"\nnote: the mesh was not made: .* within 2 %\n$")
        plan = self.json("plan.json")
        self.assertEqual(plan["mesh"], {"dimension": 2, "elements": 72000000, "edges": 108012000, "vertices": 36012001,
                                        "boundary_edges": 24000})
        self.assertIn("\nnote: " + plan["note"] + "\n", text)

    def test_a_quiet_plan_prints_nothing(self):
        result = self.kedge("plan", "p.ini", "--quiet")
        self.assertEqual((result.stdout, result.stderr), ("", ""))

    def test_a_plan_of_a_bad_problem_is_refused(self):
        self.refused("plan", "nowhere.ini", says="nowhere.ini")
        self.refused("plan", "p.ini", "--set", "space.order=x", says="x")

    def test_the_plan_says_what_it_plans(self):
        text = self.kedge("plan", "p.ini", "--backend", "host", "-s",
                          "solver.preconditioner=jacobi").stdout
        self.assertIn("p.ini: 800 elements, 1240 edges, order 1, 2320 trace unknowns\n", text)
        self.assertIn("\nevery operator with jacobi\n", text)
        text = self.kedge("plan", "p.ini", "-s", "mesh.generate=cube 2").stdout
        self.assertIn("p.ini: 48 elements, 120 faces, order 1, 216 trace unknowns\n", text)
        text = self.kedge("plan", "p.ini", "-s", "solver.precision=mixed").stdout
        self.assertIn("\nmatrix-free with multigrid, smoother edge, precision mixed; "
                      "the others with jacobi\n", text)

    def test_plan_and_solve_refuse_the_same_environment(self):
        self.write("p.ini", PROBLEM + "[equation]\nsource = x\n")
        for command in ("plan", "solve"):
            self.refused(command, "p.ini", env={**os.environ, "KEDGE_EVALUATE": "foo"},
                         says='the environment variable KEDGE_EVALUATE is "foo"')

    def test_info_is_the_same_as_text_and_json(self):
        text = self.kedge("info").stdout
        machine = json.loads(self.kedge("info", "--json").stdout)
        self.assertIn(f'kedge {machine["version"]}', text)
        cpu = machine["cpu"]
        self.assertIn(f'packages {cpu["packages"]}, NUMA nodes {cpu["numa_nodes"]}, '
                      f'cores {cpu["cores"]}, logical CPUs {cpu["logical_cpus"]}', text)
        self.assertTrue(1 <= cpu["allowed_cores"] <= cpu["cores"])
        self.assertGreater(cpu["memory_bytes"], 1 << 20)
        self.assertGreater(cpu["memory_free_bytes"], 1 << 20)
        self.assertRegex(text, r"memory +\S+ .?B, \S+ .?B can still be allocated\n")
        self.assertEqual("without CUDA" in text, not machine["build"]["cuda"])
        if not machine["cuda"]["gpus"]:
            self.assertIn("none usable: " + machine["cuda"]["problem"], text)


if __name__ == "__main__":
    unittest.main(verbosity=1)
