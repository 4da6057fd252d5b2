"""Exceptions and warnings. Their sentences are those of the library: what, where, what to do."""
import os
import re
from typing import TYPE_CHECKING, List, Optional

if TYPE_CHECKING:
    from .solution import Solution


_STEERS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text: str) -> str:
    """Text as a terminal may show it: what would steer it is escaped, as in sentences of the library (core/text.h)."""
    return _STEERS.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)


class Error(Exception):
    """Every failure of kedge; the subclasses say of which kind."""

    def __str__(self) -> str:
        return shown(super().__str__())


class InputError(Error, ValueError):
    """The mesh, the problem or an argument is refused."""


class WrongType(InputError, TypeError):
    """An argument is of a type that is not taken there, or does not go with the others."""


class NoSuchName(InputError, KeyError):
    """A solution has no group, or no region, of that name."""

    def __str__(self) -> str:
        return shown(str(self.args[0]))  # of KeyError it has quotation marks


class ReadOnly(Error, AttributeError):
    """What does not change was assigned to."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class OutOfMemory(Error, MemoryError):
    """It was predicted not to fit, or the machine had less than it said."""


class DeviceError(Error, RuntimeError):
    """The GPU or its driver failed."""


class Unsupported(Error, RuntimeError):
    """It is not in this build, or this GPU cannot do it."""


class NotOfWaves(Unsupported, AttributeError):
    """Solutions of elliptic problems have it, and those of waves do not."""


class MissingPackage(Unsupported, ImportError):
    """It needs a Python package that is not installed."""


class NumericError(Error, ArithmeticError):
    """The computation broke down: the trace operator is not positive definite, or there are NaN."""


class Cancelled(Error):
    """A progress function returned False."""


class NotConverged(Error):
    """The iteration ended before its tolerance.

    solution  -- what it had reached, a Solution; of several the first that did not converge
    report    -- that of the solution
    solutions -- all of the solve, those that converged too

    From another process it comes without solutions, which cannot be pickled: None and [].
    """

    def __init__(self, sentence: str, solution: "Solution", solutions: "Optional[List[Solution]]" = None) -> None:
        super().__init__(sentence)
        self.solution, self.report = solution, solution.report
        self.solutions = [solution] if solutions is None else solutions

    def __reduce__(self):
        return _without_solutions, (str(self), self.report)


def _without_solutions(sentence, report):
    """A NotConverged as it comes to another process."""
    error = NotConverged.__new__(NotConverged, sentence)
    error.solution, error.report, error.solutions = None, report, []
    return error


class Note(UserWarning):
    """What a solve says of itself: a reason to doubt some digits of what it returns."""


BY_STATUS = (None, InputError, InputError, FileError, OutOfMemory, DeviceError, Unsupported, NumericError, Cancelled,
             Error)
# Functions of C that sentences of the library send a caller to: their names here.
IN_PYTHON = {"kedge_solution_means()": "means()", "kedge_solver_update()": "update()", "kedge_solver_apply()": "apply()",
             "kedge_march_update()": "update()"}
# Sections and keys of a problem file, and the file that arrays go through: what they are in Python.
SECTIONS = "space|equation|the equation|solver|output|mesh"
IN_WORDS = [(re.compile(found), said) for found, said in (
    (r"the problem has a \[time\], and this solves steady ones: .*",
     "the problem has a time, and this is for steady ones; kedge.march(mesh, problem) solves it"),
    (r"\S*/kedge-\w+/arrays\.msh(, refined \d+ times?)?", "the mesh"),
    (r"^\[(equation|exact)\] quadrature: quadrature\b", r"\1_quadrature"),
    (r" in \[[^\]]+\] (is of (?:elliptic|another|waves)|names [tz],)", r" \1"),
    (r"of \[boundary ([^\]]+)\] (comes|bring) in", r"of boundary['\1'] \2 in"),
    (r", and the problem is elliptic; add system = [\w-]+ to \[equation\], or", "; give the problem a system, or"),
    (r"^\[(initial|exact)\] ([EHv][xyz]|p): (.*) of \2: ", r"\1['\2']: \3: "),
    (r"^\[boundary ([^\]]+)\] ([EHv][xyz]|p): (.*) of \2: ", r"\2 of boundary['\1']: \3: "),
    (r"(type = \w+ is of waves), and \[equation\] has no system of them; add .*", r"\1; give the problem a system"),
    (r"(moves in time), and there is no \[time\]; .*", r"\1: kedge.march(mesh, problem, end=1) solves it"),
    (rf"^\[(?:{SECTIONS}|time|initial)\] \w+: ", ""),
    (r"^\[exact\] u: (.*) of u: ", r"exact: \1: "),
    (r"^\[parameters\] (\w+): ", r"parameters['\1']: "),
    (r"^\[region ([^\]]+)\] (\w+): ", r"\2['\1']: "),
    (r"^\[region ([^\]]+)\] mass (belongs)", r"mass['\1'] \2"),
    (r"^\[(?:boundary )?([^\]]+)\] value: ", r"boundary['\1']: "),
    (r"\[region ([^\]]+)\] has (\w+), and (region .*) has no section; add \[region ([^\]]+)\] or \[region default\]",
     r"\2 has region '\1', and \3 has nothing; add '\4' or 'default' to \2"),
    (r"\[integral ([^\]]+)\](?: (?:of|on))?", r"integrals['\1']"),
    (r"\[region ([^\]]+)\]", r"region '\1'"),
    (r"\[boundary (?:boundary )?([^\]]+)\]", r"boundary['\1']"),
    (r"\[equation\] quadrature", "equation_quadrature"),
    (r" of \[equation\]", ""),
    (r"(its name must end in \.vtkhdf or \.hdf, .*)", r"\1; to_meshio().write(path) writes other formats"),
    (r"\[exact\] quadrature", "exact_quadrature"),
    (r"reaction u of \[exact\]", "reaction u of exact"),
    (r"\[exact\] u|\bu of \[exact\]", "exact"),
    (r"(?:\[output\] )?\bfields = (\w+)", r'fields="\1"'),
    (rf"\[(?:{SECTIONS})\] (\w+)", r"\1"),
    (r"\[initial\] u", "initial"),
    (r"\[(exact|parameters|mesh|time)\]", r"\1"))]


def in_python(sentence: bytes) -> str:
    """A sentence of the library as Python says it; one about a line of a file stays as it is."""
    text = re.sub(r"^kedge_\w+: ", "", os.fsdecode(sentence))
    many = re.match(r"data\[(\d+)\]: ", text)
    if many:  # what is not about the source is so for all of them
        text = in_python(os.fsencode(text[many.end():]))
        return f"sources[{many[1]}]: {text}" if "source" in text else text
    text = re.sub(r"kedge_\w+\(\)", lambda name: IN_PYTHON.get(name[0], name[0]), text)
    for found, said in () if re.match(r"[^\n]*?:\d+: ", text) else IN_WORDS:
        text = found.sub(said, text)
    return text


def of_status(status: int, sentence: bytes) -> Error:
    """The exception of a status of the library, whose sentence may begin with the name of a function of C."""
    return BY_STATUS[status](in_python(sentence))
