"""Points whose elements are found once, and fields there."""
from __future__ import annotations

import ctypes
import os
from typing import Optional, Tuple

import numpy as np

from . import _library as c
from .arguments import named, path_of, wanted
from .context import own, refuse_pickle
from .errors import InputError, Unsupported
from .hints import Any, ArrayLike, Path
from .mesh import Mesh
from .points import alike


class Probe:
    """Points x, y, in space x, y, z, arrays of one shape, whose elements are found once, for solutions on `mesh`: of
    solve after solve.

    Values are those of the polynomials of each element, where s(x, y, "qx") interpolates q and sigma. A point on an
    edge or face belongs to the element of the lower number; outside by no more than 1e-9 of the size of the mesh it
    counts as inside.

    shape   -- of these arrays and values
    outside -- how many points lie outside of the mesh; one is inside at least
    """

    @named
    def __init__(self, mesh: Mesh, x: ArrayLike, y: ArrayLike, z: Optional[ArrayLike] = None) -> None:
        wanted("mesh", mesh, Mesh)
        if mesh._is_space != (z is not None):
            raise InputError("the mesh is of tetrahedra, and a point has x, y and z: Probe(mesh, x, y, z)" if z is None
                             else "the mesh is of the plane, and a point has x and y alone: Probe(mesh, x, y)")
        at = alike(*((x, y) if z is None else (x, y, z)))
        if at[0].size == 0:
            raise InputError("a probe has at least one point, and these arrays have none")
        at = [np.array(array, float, order="C") for array in at]
        create = "kedge_probe_create" if z is None else "kedge_probe_create_space"
        self._make(mesh, at[0].shape, create, mesh.context.handle, mesh.handle, at[0].size,
                   *(array.ctypes.data for array in at))

    def _make(self, mesh, shape, *call):
        handle = ctypes.c_void_p()
        mesh.context.call(*call, handle)
        self.mesh, self._handle = mesh, handle
        own(self, mesh.context, c.library.kedge_probe_destroy, handle, mesh)
        self.shape: Tuple[int, ...] = (c.library.kedge_probe_count(handle),) if shape is None else shape
        self.outside: int = c.library.kedge_probe_outside(handle)

    @classmethod
    def _of(cls, mesh, problem, index):
        """The probe of a section of a problem of the library."""
        probe = cls.__new__(cls)
        probe._make(mesh, None, "kedge_problem_probe_create", mesh.context.handle, mesh.handle, problem, index)
        return probe

    @classmethod
    def _all(cls, mesh, built):
        """Those of a problem of the library, by name."""
        count = c.library.kedge_problem_probe_count(built.handle)
        names = [os.fsdecode(c.library.kedge_problem_probe_name(built.handle, i)) for i in range(count)]
        return {name: cls._of(mesh, built.handle, i) for i, name in enumerate(names)}

    __reduce_ex__ = refuse_pickle

    def __repr__(self):
        n = int(np.prod(self.shape))
        return f"<kedge.Probe: {n} point{'s' * (n != 1)}, {self.outside} outside>"

    def _check(self, solution, waves=True):
        from .solution import Solution
        from .waves import WaveSolution
        if not waves and isinstance(solution, WaveSolution):
            raise Unsupported("write() is of solutions of elliptic problems; values(s, field) has those of waves")
        if not isinstance(solution, WaveSolution):
            wanted("solution", solution, Solution)
        if solution.mesh is not self.mesh:
            raise InputError("solution is of another Mesh than the probe; make a probe of its mesh")

    @named
    def values(self, solution: Any, field: Optional[str] = None) -> Any:
        """A field of a solution at the points: "u_star", which is meant if it is left out, "u", "qx", "qy", "sigma_x"
        or "sigma_y", in space "qz" and "sigma_z" too; "q" and "sigma" are [...][dimension]. NaN outside. Of a single
        point it is a number. Of waves it is one of their fields: on a GPU the numbers of a step come by one copy,
        whatever fields and probes are asked for."""
        self._check(solution)
        field = solution._default if field is None else field
        parts = solution._parts_of(field)
        if parts:
            return np.stack([self.values(solution, part) for part in parts], axis=-1)
        values = np.empty(self.shape)
        solution._put_at(self, field, values)
        return values if self.shape else values.item()

    @named
    def write(self, solution: Any, path: Path) -> None:
        """Write CSV: x, y, region, u, u_star, qx, qy, sigma_x, sigma_y, in space with z, qz and sigma_z; numbers of
        points outside are left empty."""
        self._check(solution, waves=False)
        solution.context.call("kedge_probe_write", self._handle, solution.handle, path_of("path", path))
