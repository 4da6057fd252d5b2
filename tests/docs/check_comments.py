"""Whether no comment begins with the word "Of": such a comment has no subject, and is not understood without the line above.

    check_comments.py ROOT
"""
import pathlib
import re
import sys

BEGINS = re.compile(r'(//[/!]?<?|/\*+|^ *\*|#|"""|\'\'\')\s*Of\b')
CODE = {".c", ".h", ".cu", ".cuh", ".py", ".cmake", ".txt", ".in", ".sh", ""}

assert BEGINS.search("  /// Of a lane.") and BEGINS.search("x = 1  # Of a line") and not BEGINS.search("/// The sum of")
wrong = read = 0
for folder in ("src", "include", "tests", "profiling"):
    for path in sorted(pathlib.Path(sys.argv[1], folder).rglob("*")):
        if path.suffix not in CODE or not path.is_file() or path.samefile(__file__) or "results" in path.parts:
            continue
        read += 1
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if BEGINS.search(line):
                print(f"{path}:{number}: {line.strip()}")
                wrong += 1
sys.exit("no file was read" if not read else wrong > 0)
