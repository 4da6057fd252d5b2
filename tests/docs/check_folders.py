"""Whether folders of src include headers of those folders alone that docs/architecture.md says they
know of.

    check_folders.py ROOT
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
table = re.findall(r"^\| `src/(\w+)` \|.*\| (.*) \|$",
                   (root / "docs/architecture.md").read_text(), re.M)
folders = [folder for folder, _ in table]
wrong = 0
for row, (folder, known) in enumerate(table):
    allowed = {folder, *re.findall(r"`(\w+)[/`]", known)}
    if "all of the above" in known:
        allowed.update(folders[:row])
    for path in sorted(p for p in (root / "src" / folder).rglob("*") if p.is_file()):
        for of in re.findall(r'#include "(\w+)/', path.read_text()):
            if of in folders and of not in allowed:
                print(f"{path.relative_to(root)} includes {of}/, which src/{folder} does not know of")
                wrong += 1
sys.exit("a folder is missing in the table" if set(folders) != {
    path.name for path in (root / "src").iterdir() if path.is_dir()} else wrong > 0)
