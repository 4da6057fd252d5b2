"""Names of types in signatures."""
import os
from typing import Any, Callable, Dict, Mapping, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

Array = np.ndarray[Any, Any]
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
