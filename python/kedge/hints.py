"""Names of types in signatures."""
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

# NumPy has arrays with parameters from 1.22 on; checkers of types alone need them.
if TYPE_CHECKING:
    from .data import Operators
    Array = np.ndarray[Any, Any]
else:
    Array, Operators = np.ndarray, Any
Path = Union[str, "os.PathLike[str]"]
Number = Union[int, float, "np.number[Any]"]
Text = Union[Number, str]  # a number or an expression
Function = Callable[..., ArrayLike]  # of arrays x, y, in space z
# Operators: solutions, and what is made of them; arrays have one number an element.
Datum = Union[Text, Function, Array, Operators]
Tensor = Union[Datum, Tuple[Datum, Datum, Datum], Tuple[Datum, Datum, Datum, Datum, Datum, Datum]]
ByRegion = Mapping[str, Tensor]
Cells = Union[ArrayLike, Mapping[str, ArrayLike]]

__all__ = ["Any", "Array", "ArrayLike", "ByRegion", "Callable", "Cells", "Datum", "Dict", "Function", "Mapping", "Number",
           "Path", "Sequence", "Tensor", "Text", "Tuple", "Union"]
