#!/usr/bin/env python3
"""What golden.c prints: read it, compare it. As a program: results.py REFERENCE PROGRAM ARGUMENT... runs golden and
compares its results with those in REFERENCE by their norms; without REFERENCE ("-") it prints them as such a file."""
import subprocess
import sys

NORM_TOLERANCE = 1e-11
SKIPPED = 77


def parse(text):
    """{problem: {quantity: value as text}} in the order of the lines."""
    problems = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            problem, quantity, value = line.split()
            problems.setdefault(problem, {})[quantity] = value
    return problems


def number(text):
    return float.fromhex(text) if "0x" in text else float(text)


def differs(quantity, left, right):
    """Whether two results of a problem differ in a quantity by more than rounding may make. An error differs when it does
    by more than the norm of its field may."""
    a, b = number(left[quantity]), number(right[quantity])
    if quantity.endswith("iterations"):
        return abs(a - b) > 1
    if quantity.startswith(("norm.", "error.")):
        scale = max(abs(a), abs(b))
        if quantity == "error.q":
            scale = max(scale, number(right["norm.qx"]), number(right["norm.qy"]))
        elif quantity.startswith("error.") or quantity.endswith(".indicator"):  # the norm of u* - u
            scale = max(scale, number(right["norm.u"]))
        return not abs(a - b) <= NORM_TOLERANCE * scale
    return a != b  # restarts, converged


def kept(quantity):
    """Whether a quantity is compared by norms: hashes and residuals are of rounding itself, bytes of the backend."""
    return not quantity.startswith(("hash.", "bytes.")) and not quantity.endswith("residual")


def compare_norms(left, right):
    """The quantities in which two results of a problem differ, also those that one of them lacks."""
    names = {name for name in (*left, *right) if kept(name)}
    return sorted(name for name in names
                  if name not in left or name not in right or differs(name, left, right))


def compare_hashes(left, right):
    return sorted(name for name in {*left, *right} if left.get(name) != right.get(name))


def write_reference(problems):
    print("# Made by results.py (docs/testing.md) on the host.")
    for problem, quantities in problems.items():
        for quantity, value in quantities.items():
            if kept(quantity):
                print(problem, quantity, f"{number(value):.17g}")


def main():
    reference, command = sys.argv[1], sys.argv[2:]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return done.returncode
    results = parse(done.stdout)
    if reference == "-":
        write_reference(results)
        return 0
    with open(reference, encoding="utf-8") as file:
        expected = parse(file.read())
    failures = 0
    for problem in {**expected, **results}:
        here, there = results.get(problem, {}), expected.get(problem, {})
        for quantity in compare_norms(here, there):
            print(f"{problem}: {quantity} is {here.get(quantity, 'missing')}, was {there.get(quantity, 'missing')}")
            failures += 1
    print(f"{len(results)} problems, {failures} quantities differ from {reference}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
