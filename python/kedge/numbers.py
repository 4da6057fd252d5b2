"""Numbers of a solution: integrals, fluxes and extrema by group of edges and by region."""
from __future__ import annotations

import os
from collections import Counter
from typing import NamedTuple, Optional

from .arguments import no_such
from .errors import NoSuchName
from .hints import Any, Tuple


class GroupValues(NamedTuple):
    """Numbers of the edges of a group, on the boundary or, with `inside`, inside the domain.

    integral, mean -- of the trace of u along the edges
    flux  -- the integral of the numerical flux sigma . n - tau (u - trace); n points out of the domain. Inside it n
             points out of the region of the lower tag; within one region out of a closed line, and through an open one
             to where x grows or, if it runs along x, to where y grows
    inner -- the same of the edges of a boundary group that lie inside the domain; None: there are none
    """

    name: str
    tag: int
    inside: bool
    edges: int
    length: float
    integral: float
    mean: float
    flux: float
    inner: Optional[Any] = None


class SurfaceValues(NamedTuple):
    """Numbers of the faces of a group of a mesh in space, as those of GroupValues."""

    name: str
    tag: int
    inside: bool
    faces: int
    area: float
    integral: float
    mean: float
    flux: float
    inner: Optional[Any] = None


class RegionValues(NamedTuple):
    """Numbers of the elements of a region.

    integral, mean -- of u
    energy -- the integral of q . sigma
    source, reaction, storage -- integrals of the source, of the reaction times u, and of mass u_t, of a march, else 0
    minimum, maximum, minimum_at, maximum_at -- of u at the nodes of order P, and their places (x, y)
    """

    name: str
    tag: int
    elements: int
    area: float
    integral: float
    mean: float
    energy: float
    source: float
    reaction: float
    minimum: float
    minimum_at: Tuple[float, float]
    maximum: float
    maximum_at: Tuple[float, float]
    storage: float


class VolumeValues(NamedTuple):
    """Numbers of the elements of a region of a mesh in space, as those of RegionValues; places are (x, y, z)."""

    name: str
    tag: int
    elements: int
    volume: float
    integral: float
    mean: float
    energy: float
    source: float
    reaction: float
    minimum: float
    minimum_at: Tuple[float, float, float]
    maximum: float
    maximum_at: Tuple[float, float, float]
    storage: float


class Balance(NamedTuple):
    """reaction + storage - source - flux = remainder: integrals of the reaction times u, of mass u_t (of a march, else
    0) and of the source, the flux through the whole boundary, and what the iteration and rounding leave."""

    source: float
    reaction: float
    flux: float
    remainder: float
    storage: float


class Named(dict):
    """Numbers by name, of groups or of regions. Asked for a name of the other kind, it says so."""

    def __init__(self, values, kind, others):
        super().__init__(values)
        self.kind, self.others = kind, others

    def __missing__(self, name):
        if name in self.others:
            other = "region" if self.kind == "group" else "group"
            raise NoSuchName(f"{name!r} is a {other}: see s.{other}s")
        raise NoSuchName(no_such("the solution", self.kind, str(name), list(self)))


def groups_of(raw):
    """{name: GroupValues} of a report, in space SurfaceValues."""
    kind = SurfaceValues if raw.dimension == 3 else GroupValues
    values = []
    for i in range(raw.n_groups):
        v = raw.groups[i].contents
        one = kind(os.fsdecode(v.name), v.tag, v.inside, v.edges, v.length, v.integral, v.mean, v.flux)
        if one.inside and values and (values[-1].name, values[-1].tag) == (one.name, one.tag):
            values[-1] = values[-1]._replace(inner=one)
        else:
            values.append(one)
    regions = [os.fsdecode(raw.regions[i].contents.name) for i in range(raw.n_regions)]
    return Named(_by_name(values), "group", regions)


def regions_of(raw):
    """{name: RegionValues} of a report, in space VolumeValues."""
    in_space = raw.dimension == 3
    kind = VolumeValues if in_space else RegionValues
    values = []
    for i in range(raw.n_regions):
        v = raw.regions[i].contents
        least_at, most_at = (*v.least_at, v.least_z), (*v.most_at, v.most_z)
        values.append(kind(os.fsdecode(v.name), v.tag, v.elements, v.area, v.integral, v.mean, v.energy, v.source,
                           v.reaction, v.least, least_at if in_space else least_at[:2], v.most,
                           most_at if in_space else most_at[:2], v.storage))
    groups = [os.fsdecode(raw.groups[i].contents.name) for i in range(raw.n_groups)]
    return Named(_by_name(values), "region", groups)


def balance_of(raw):
    b = raw.balance
    return Balance(b.source, b.reaction, b.flux, b.remainder, raw.storage)


def _by_name(values):
    """Of a name that several have none is it alone: their tags take its place."""
    count = Counter(one.name for one in values)
    return {one.name if count[one.name] == 1 else str(one.tag): one for one in values}
