"""What arguments must be: sentences that name them."""
import importlib
import operator
import os

import numpy as np

from .errors import Error, InputError, MissingPackage, WrongType


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


def by_name(argument, value, of, to):
    """The value of an argument, which must be a dict."""
    if not hasattr(value, "items"):
        raise WrongType(f"{argument} is {value!r}; it takes a dict {{{of}: {to}}}")
    return value


def wanted(name, value, kind):
    """An argument that must be an object of a class of kedge."""
    if not isinstance(value, kind):
        is_kedge = type(value).__module__.startswith("kedge.")
        what = f"a kedge.{type(value).__name__}" if is_kedge else repr(value)
        raise WrongType(f"{name} is {what}; it takes a kedge.{kind.__name__}")
    return value


def whole(name, value, least=None):
    """An argument that is a whole number."""
    try:
        number = operator.index(value)
    except TypeError:
        raise WrongType(f"{name} is {value!r}; it takes a whole number") from None
    if least is not None and number < least:
        raise InputError(f"{name} is {number}; it is at least {least}")
    return number


def real(name, value):
    """An argument of real numbers as an array of float64."""
    try:
        return np.asarray(value, float)
    except (TypeError, ValueError) as error:
        raise WrongType(f"{name} holds what is no real number: {error}") from error


def path_of(name, value):
    """A path as bytes."""
    try:
        return os.fsencode(value)
    except TypeError:
        raise WrongType(f"{name} is {value!r}; it takes the name of a file") from None


def package(name, what, of=None):
    """A module of a package that kedge can do without, for what needs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        of = of or name.partition(".")[0]
        raise MissingPackage(f"{what} needs {of} ({error}): pip install {of.lower()}") from error
