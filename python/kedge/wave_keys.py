"""What problems of waves have: systems, fields, properties of materials, conditions on the boundary (docs/waves.md)."""
from __future__ import annotations

from typing import NoReturn

from .arguments import refuse_name
from .errors import WrongType
from .hints import Datum

FIELDS = ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz", "p", "vx", "vy", "vz")
PROPERTIES = ("permittivity", "permeability", "conductivity", "density", "bulk")
FIRST = {"maxwell": "Ex", "maxwell-tm": "Ez", "acoustics": "p"}  # field of each system
VECTORS = {"E": ("Ex", "Ey", "Ez"), "H": ("Hx", "Hy", "Hz"), "v": ("vx", "vy", "vz")}


class WaveCondition:
    """fields -- {name: number, expression or data}; without any 0, of Incident the problem's `exact`"""

    _example = "Ez=1"

    def __init__(self, *values: NoReturn, **fields: Datum) -> None:
        if values:
            raise WrongType(f"{type(self).__name__} takes fields by name: {type(self).__name__}({self._example})")
        for name in fields:
            if name not in FIELDS:
                refuse_name(type(self).__name__, name, FIELDS)
        self.fields = fields

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.fields.items())})"


class Conductor(WaveCondition):
    """Of Maxwell: the tangential E is that of these fields, 0 without. Of a conductor in an incident wave, minus its E
    gives the scattered field."""


class Wall(WaveCondition):
    """Of acoustics: n . v is that of these fields, 0 without."""

    _example = "vx=1"


class Soft(WaveCondition):
    """Of acoustics: p is this one, 0 without."""

    _example = "p=1"


class Absorbing(WaveCondition):
    """What comes to it along its normal leaves."""

    _example = ""


class Incident(WaveCondition):
    """The wave of these fields comes in; what leaves is absorbed."""


CONDITIONS = {kind.__name__.lower(): kind for kind in (Conductor, Absorbing, Incident, Wall, Soft)}
