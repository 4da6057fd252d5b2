"""Whether all pages together are short enough to read: no more than LIMIT words, without tables, code and pages of results.

    check_words.py ROOT
"""
import pathlib
import re
import sys

LIMIT = 35700
ROOT = pathlib.Path(sys.argv[1])


def pages():
    """Every page but results of measurements, builds and hidden folders."""
    for path in sorted(ROOT.rglob("*.md")):
        parts = path.relative_to(ROOT).parts
        if not parts[0].startswith(("build", ".")) and parts[:2] != ("profiling", "results"):
            yield path


def words(text):
    """Words outside fenced code, indented code and rows of tables."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return sum(len(line.split()) for line in prose.splitlines() if not re.match(r" {4}|\t| *\|", line))


assert words("one two\n| a | b |\n\n    code\n```\ncode code\n```\nthree") == 3
counts = {path.relative_to(ROOT): words(path.read_text(encoding="utf-8")) for path in pages()}
total = sum(counts.values())
print("\n".join(f"{count:6} {path}" for path, count in counts.items()), f"{total:6} in all", sep="\n")
sys.exit(f"no page found in {ROOT}" if not total else f"the limit is {LIMIT}" if total > LIMIT else 0)
