"""Names of types in signatures."""
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

# NumPy has arrays with parameters from 1.22 on; checkers of types alone need them.
if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]
else:
    Array = np.ndarray
Path = Union[str, "os.PathLike[str]"]
Number = Union[int, float, "np.number[Any]"]
Text = Union[Number, str]  # a number or an expression
Function = Callable[..., ArrayLike]  # of arrays x, y
Datum = Union[Text, Function]
Tensor = Union[Text, Tuple[Text, Text, Text]]
ByRegion = Mapping[str, Tensor]
Cells = Union[ArrayLike, Mapping[str, ArrayLike]]

__all__ = ["Any", "Array", "ArrayLike", "ByRegion", "Callable", "Cells", "Datum", "Dict", "Function", "Mapping", "Number",
           "Path", "Sequence", "Tensor", "Text", "Tuple", "Union"]
