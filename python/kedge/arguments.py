"""What arguments must be: sentences that name them."""
import difflib
import functools
import importlib
import inspect
import operator
import os
import reprlib
from typing import Any, Callable, TypeVar

import numpy as np

from .dlpack import on_host
from .errors import Error, InputError, MissingPackage, WrongType

F = TypeVar("F", bound=Callable[..., Any])


def named(function: F) -> F:
    """Refuse arguments by names that the function does not have with a sentence, which Python's is no kedge.Error."""
    names = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]

    @functools.wraps(function)
    def checked(*arguments, **by_names):
        for name in by_names:
            if name not in names:
                refuse_name(function.__qualname__.replace(".__init__", ""), name, names)
        return function(*arguments, **by_names)

    return checked  # type: ignore[return-value]


def refuse_name(of, name, names):
    """An argument that there is not: which of the names is meant."""
    raise WrongType(no_such(of, "argument", name, names))


def no_such(of, what, name, names):
    """The sentence of a name that there is not: which is meant."""
    near = difflib.get_close_matches(name, names, 1)
    there = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(names) or 'none'}"
    return f"{of} has no {what} {name!r}; {there}"


def called(function, name, n, *arguments, **more):
    """What a function of the caller returns for n points, as numbers; else InputError, which names the argument."""
    called = f"{name}: the function {getattr(function, '__name__', None) or type(function).__name__}"
    try:
        given = function(*arguments, **more)
        value = np.asarray(given)
        if value.dtype == object and given is not None:
            value = value.astype(float)
    except Error:
        raise
    except Exception as failure:
        raise InputError(f"{called} raised {type(failure).__name__}: {failure}") from failure
    if value.dtype.kind not in "biuf":
        got = value.dtype if value.ndim else repr(given)
        raise InputError(f"{called} returned {got}; it must return real numbers")
    if value.shape not in ((), (1,), (n,)):
        raise InputError(f"{called} got {n} points and returned an array of the shape "
                         f"{value.shape}; it must return {n} values, one a point, or one for all")
    return value


_short = reprlib.Repr()
_short.maxstring = _short.maxother = 80


def shown(value):
    """A value in a sentence: of a long one the beginning and the end, in one line."""
    return " ".join(_short.repr(value).split())


def is_array(value):
    """Whether it is an array of NumPy or of others that share theirs, and no single number."""
    shares = any(hasattr(value, name) for name in ("__array__", "__array_interface__", "__dlpack__"))
    return shares and getattr(value, "ndim", 1) > 0


def is_by_name(value):
    """Whether it is a dict; the columns of pandas have items too."""
    return hasattr(value, "items") and not is_array(value)


def by_name(argument, value, of, to):
    """The value of an argument, which must be a dict."""
    if not is_by_name(value):
        raise WrongType(f"{argument} is {shown(value)}; it takes a dict {{{of}: {to}}}")
    return value


def wanted(name, value, kind):
    """An argument that must be an object of a class of kedge."""
    if not isinstance(value, kind):
        is_kedge = type(value).__module__.startswith("kedge.")
        what = f"a kedge.{type(value).__name__}" if is_kedge else shown(value)
        raise WrongType(f"{name} is {what}; it takes a kedge.{kind.__name__}")
    return value


def is_whole_float(value):
    return isinstance(value, (float, np.floating)) and float(value).is_integer()


def whole(name, value, least=None, most=None):
    """An argument that is a whole number, also as a float; with `most` it has a least one too."""
    try:
        number = int(value) if is_whole_float(value) else operator.index(value)
    except TypeError:
        raise WrongType(f"{name} is {shown(value)}; it takes a whole number") from None
    if not -2**31 <= number < 2**31:
        raise InputError(f"{name} is {number}, which does not fit into 32 bits")
    if least is not None and not least <= number <= (number if most is None else most):
        raise InputError(f"{name} is {number}; it is " + (f"at least {least}" if most is None else f"{least} to {most}"))
    return number


def real(name, value, kind=float):
    """An argument of real numbers as an array of float64, on the host; of kind None as it comes."""
    value = on_host(name, value)
    if np.ma.is_masked(value):
        raise InputError(f"{name} is an array of which elements are masked; it takes numbers")
    try:
        given = np.asarray(value)
        array = np.asarray(given, kind)
    except Exception as error:  # of a package whose array it is, too
        raise WrongType(f"{name} holds what is no real number: {error}") from error
    if given.dtype.kind not in ("biufO" if kind else "biufcO") and given.size:
        raise WrongType(f"{name} holds what is no real number: {given.dtype}")
    if given.dtype == object and any(one is None for one in given.flat):  # of which NumPy makes NaN
        raise WrongType(f"{name} holds None, which is no real number")
    return array


def array_of(name, value):
    """An argument as an array of NumPy, whatever it holds."""
    value = on_host(name, value)
    if np.ma.is_masked(value):
        raise InputError(f"{name} is an array of which elements are masked; it takes all")
    try:
        return np.asarray(value)
    except Exception as error:  # rows of different lengths, and what other packages say
        raise WrongType(f"{name} is no array: {error}") from error


def encoded(name, text, encode=str.encode):
    """Text as bytes for the library, to which a NUL would be its end."""
    made = encode(text)
    if b"\0" in made:
        raise InputError(f"{name} is {shown(text)}, which holds a NUL; leave it out")
    return made


def path_of(name, value):
    """A path as bytes."""
    try:
        return encoded(name, value, os.fsencode)
    except TypeError:
        raise WrongType(f"{name} is {shown(value)}; it takes the name of a file") from None


def package(name, what, of=None):
    """A module of a package that kedge can do without, for what needs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        of = of or name.partition(".")[0]
        raise MissingPackage(f"{what} needs {of} ({error}): pip install {of.lower()}") from error
