"""Whether folders of src include headers of folders above them in the table of docs/architecture.md
alone, and whether none has more than forty files.

    check_folders.py ROOT
"""
import pathlib
import re
import sys

MOST = 40
root = pathlib.Path(sys.argv[1])
# The command is a client of the library; what it shares with it is in its row.
rows = re.findall(r"^\| `src/([\w/]+)` \|(.*)\|$", (root / "docs/architecture.md").read_text(), re.M)
folders = [folder for folder, _ in rows]
client = re.findall(r"`([\w/]+\.h)`", dict(rows)["cli"])
sources = {}
for path in sorted((root / "src").rglob("*")):
    if path.suffix in (".c", ".h", ".cu", ".cuh"):
        sources.setdefault(str(path.parent.relative_to(root / "src")), []).append(path)
wrong = [f"src/{folder} is not in the table" for folder in sources if folder not in folders]
wrong += [f"src/{folder} is in the table and has no files" for folder in folders if folder not in sources]
for folder, paths in sources.items():
    files = [path for path in (root / "src" / folder).iterdir() if path.is_file()]
    if len(files) > MOST:
        wrong.append(f"src/{folder} has {len(files)} files, more than {MOST}")
    for path in paths:
        for header in re.findall(r'#include "([\w/.]+)"', path.read_text()):
            of = header.rpartition("/")[0]
            if folder not in folders or of not in folders or of == folder:
                continue
            if folder == "cli" and header not in client:
                wrong.append(f"{path.relative_to(root)} includes {header}, which is not for the command")
            if folders.index(of) > folders.index(folder):
                wrong.append(f"{path.relative_to(root)} includes {header}, of a folder below its own")
print("\n".join(wrong))
sys.exit(len(wrong) > 0)
