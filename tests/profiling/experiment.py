"""What the tests of the experiments in profiling share: a run on the host into a folder of its own, and
what it wrote there."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
KEDGE = os.path.abspath(sys.argv.pop())
SOURCE = os.path.abspath(sys.argv.pop())


class Experiment(unittest.TestCase):
    program = None  # its name in profiling/, and that of its results

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def command(self, *arguments, program=None, kedge=KEDGE):
        return [os.path.join(SOURCE, "profiling", program or self.program), "--kedge", kedge, "--backend", "host",
                "--out", self.folder, *arguments]

    def run_program(self, *arguments, code=0, **options):
        done = subprocess.run(self.command(*arguments, **options), capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def result(self):
        (path,) = glob.glob(os.path.join(self.folder, "*", self.program + ".json"))
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def tables(self):
        (path,) = glob.glob(os.path.join(self.folder, "*", self.program + ".md"))
        return self.read(path)

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        """A file in the folder; its path."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def script(self, text):
        """A program in place of kedge."""
        path = self.write("fake", "#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        return path

    def check_page(self, begin, end):
        """A page is changed between its marks alone, and one without marks is refused."""
        page = self.write("page.md", f"before\n{begin}old\n{end}after\n")
        self.run_program("--page", page)
        self.assertEqual(self.read(page), f"before\n{begin}\n{self.tables()}\n{end}after\n")
        self.write("page.md", "no marks\n")
        self.assertIn("page.md has no lines", self.run_program("--page", page, code=1).stderr)

    def check_committed(self, name, *options):
        """A page of profiling/results shows the committed results."""
        original = os.path.join(SOURCE, "profiling", "results", name)
        page = os.path.join(self.folder, name)
        shutil.copy(original, page)
        subprocess.run([os.path.join(SOURCE, "profiling", self.program), *options, "--page", page], check=True)
        self.assertEqual(self.read(page), self.read(original), f"run profiling/{self.program} --page")
