"""Whether comments are understood without the line above. No comment begins with the word "Of", and none in C sources
with "That", "Those", "They" or "The same": such a comment has no subject, or names none.

    check_comments.py ROOT
"""
import pathlib
import re
import sys

MARK = r'(//[/!]?<?|/\*+|^ *\*|#|"""|\'\'\')\s*'
OF = re.compile(MARK + r'Of\b')
REFERENCE = re.compile(r'//[/!]?<?\s*(That|Those|They|The same)\b')
CONTINUED = re.compile(r'\s*//[/!]?\s*[^\s/!]')  # a line of comment with words
C = {".c", ".h", ".cu", ".cuh"}
CODE = C | {".py", ".cmake", ".txt", ".in", ".sh", ""}


def faults(lines, is_c):
    """Yield the numbers of lines that begin a comment in one of these ways; "They" may begin a line within one."""
    before = ""
    for number, line in enumerate(lines, 1):
        reference = is_c and REFERENCE.search(line)
        within = line.lstrip().startswith("//") and CONTINUED.match(before) and "@file" not in before
        if OF.search(line) or reference and not within:
            yield number
        before = line


assert list(faults(["  /// Of a lane.", "x = 1  # Of a line", "/// The sum of"], False)) == [1, 2]
assert list(faults(["/// Those of a lane.", "int a;  ///< The same", "", "// A and B.", "// They"], True)) == [1, 2]
assert list(faults(["/// @file", "/// They", "///", "/// That is"], True)) == [2, 4]
assert list(faults(["/// That which"], False)) == []
wrong = read = 0
for folder in ("src", "include", "tests", "profiling"):
    for path in sorted(pathlib.Path(sys.argv[1], folder).rglob("*")):
        if path.suffix not in CODE or not path.is_file() or path.samefile(__file__) or "results" in path.parts:
            continue
        read += 1
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        for number in faults(lines, path.suffix in C):
            print(f"{path}:{number}: {lines[number - 1].strip()}")
            wrong += 1
sys.exit("no file was read" if not read else wrong > 0)
