"""Whether modules of a folder of src include each other in a circle. A module is a stem: its header and
its sources (a.h, a.c, a_cuda.cu); it includes another one of its folder where one of its files does.

    check_circles.py ROOT
"""
import pathlib
import re
import sys

FOLDERS = ["solution", "method", "equation", "elliptic", "elliptic/recover", "elliptic/remainder", "solver"]
SUFFIXES = (".c", ".h", ".cu", ".cuh")
src = pathlib.Path(sys.argv[1], "src")


def stem(name):
    return re.sub(r"(_host|_cuda)?\.\w+$", "", name)


def modules(folder):
    """The modules of a folder, each with those that it includes."""
    includes = {}
    for path in sorted((src / folder).iterdir()):
        if path.suffix not in SUFFIXES:
            continue
        of = includes.setdefault(stem(path.name), set())
        of |= {stem(header) for header in re.findall(rf'#include "{folder}/([\w.]+)"', path.read_text())}
    return {module: of - {module} for module, of in includes.items()}


def reached(includes, module):
    """All modules that one includes, itself or by others."""
    found, new = set(), includes[module]
    while new:
        found |= new
        new = set().union(*(includes.get(of, set()) for of in new)) - found
    return found


assert reached({"a": {"b"}, "b": {"c"}, "c": {"b"}}, "a") == {"b", "c"}
wrong = []
for folder in sys.argv[2:] or FOLDERS:
    found = modules(folder)
    if not found:
        wrong.append(f"src/{folder} has no modules")
    if circle := [module for module in found if module in reached(found, module)]:
        wrong.append(f"src/{folder}: {', '.join(circle)} include each other in a circle")
print("\n".join(wrong))
sys.exit(len(wrong) > 0)
