"""What arguments must be: sentences that name them."""
import numpy as np

from .errors import Error, InputError


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
        raise TypeError(f"{argument} is {value!r}; it takes a dict {{{of}: {to}}}")
    return value


def wanted(name, value, kind):
    """An argument that must be an object of a class of kedge."""
    if not isinstance(value, kind):
        is_kedge = type(value).__module__.startswith("kedge.")
        what = f"a kedge.{type(value).__name__}" if is_kedge else repr(value)
        raise TypeError(f"{name} is {what}; it takes a kedge.{kind.__name__}")
    return value
