"""What the checks of the command share: a problem, and the ways to run the command on it."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

KEDGE = os.path.abspath(sys.argv.pop(1))

PROBLEM = """
[mesh]
generate = square 20
[space]
order = 1
[equation]
reaction = 1
[boundary default]
type = dirichlet
[exact]
u = sin(2*pi*x)*sin(2*pi*y)
"""

STAGES = ["mesh", "transfer", "local_matrices", "assembly", "trace_solve", "local_solve",
          "postprocess", "output"]
TITLES = ["mesh", "transfer", "local matrices (B1-B2)", "assembly (B3)", "trace solve (B4)",
          "local solve (B5-B6)", "post-process", "output"]


class Command(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.write("p.ini", PROBLEM)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def json(self, name):
        with open(self.path(name)) as file:
            return json.load(file)

    def kedge(self, *arguments, code=0, **options):
        """Run; the exit code has to be `code`, or may be any where it is None. Returns the finished process."""
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        result = subprocess.run([KEDGE, *arguments], cwd=self.folder, text=True,
                                stdin=subprocess.DEVNULL, **options)
        if code is not None:
            self.assertEqual(result.returncode, code, (arguments, result.stdout, result.stderr))
        return result

    def refused(self, *arguments, says, code=2, **options):
        """Run; it has to fail with one line on stderr (argp's hint and the topics of help aside) that contains `says`."""
        result = self.kedge(*arguments, code=code, **options)
        self.assertIn(says, result.stderr)
        sentence, *hints = result.stderr.splitlines()
        self.assertTrue(sentence.startswith("kedge"), result.stderr)
        self.assertRegex(" ".join(hints), "^(Try `kedge .*' for more information[.]|Topics of .*)?$", result.stderr)
        self.assertEqual(result.stdout, "")
        return result

    def shell(self, command, code):
        """Run a shell command in which $K is the command."""
        result = subprocess.run(["sh", "-c", command], cwd=self.folder, text=True,
                                capture_output=True, env={**os.environ, "K": KEDGE})
        self.assertEqual(result.returncode, code, (command, result.stdout, result.stderr))
        return result
