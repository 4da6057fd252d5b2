"""Whether the problem files of docs/moving.md are taken and refused as it says.

    check_moving.py ROOT KEDGE
"""
import pathlib
import re
import subprocess
import sys
import tempfile

root, kedge = pathlib.Path(sys.argv[1]), sys.argv[2]
page = (root / "docs/moving.md").read_text()
old, new = re.findall(r"```ini\n(.*?)```", page, re.S)
rest = "[mesh]\ngenerate = square 4\n[boundary default]\ntype = dirichlet\nvalue = x\n"


def solve(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "problem.ini")
        path.write_text(text + rest)
        return subprocess.run([kedge, "solve", str(path), "--backend", "host", "-q"], capture_output=True, text=True)


done = solve(new)
assert done.returncode == 0, done.stderr
lines = [line for line in old.splitlines() if line and not line.startswith("[")]
refused = [line for line in lines if solve("[solver]\n" + line + "\n").returncode]
assert refused == [line for line in lines if not line.startswith("preconditioner")], refused
for line in refused:
    text = solve("[solver]\n" + line + "\n").stderr
    assert "gone: " in text and line.split(" ")[0] in text, text
