"""kedge solves elliptic problems in the plane, -div(diffusion grad u) + reaction u = source, by the hybridizable
discontinuous Galerkin method, on an NVIDIA GPU or on the cores of the host.

    import kedge
    mesh = kedge.square(40)                            # or kedge.Mesh("plate.msh"), kedge.Mesh(points, cells, ...)
    problem = kedge.Problem(order=4, source="exp(-x^2)", boundary={"default": kedge.Dirichlet(0)})
    s = kedge.Solver(mesh, problem).solve()
    s.write("u.vtkhdf")

docs/python.md explains it.
"""
import sys as _sys
import warnings as _warnings

from . import _library
from .convergence import Convergence, convergence
from .context import Context, Progress
from .errors import (Cancelled, DeviceError, Error, FileError, InputError, MissingPackage, NoSuchName, Note,
                     NotConverged, NotOfWaves, NumericError, OutOfMemory, ReadOnly, Unsupported, WrongType)
from .march import March, MarchReport, MarchSolution, march
from .mesh import Group, Mesh
from .numbers import Balance, GroupValues, RegionValues, SurfaceValues, VolumeValues
from .output import Output, WaveOutput, read
from .probe import Probe
from .problem import Dirichlet, Neumann, Problem, Robin
from .shapes import cube, disk, lshape, mixed, quads, ring, square
from .solution import Report, Solution
from .solver import Solver, plan, solve
from .wave_keys import Absorbing, Conductor, Incident, Soft, Wall
from .waves import WaveMarch, WaveReport, WaveSolution

if "gmsh" in _sys.modules and _library.no_wait_policy():
    # libgomp is one for both, and reads how long threads wait awake when it is loaded, never again.
    _warnings.warn("gmsh was imported before kedge, which makes solves several times slower on busy cores, as its libgomp "
                   "keeps threads awake that wait: import kedge first, or set OMP_WAIT_POLICY=passive", Note, stacklevel=2)

__version__ = _library.library.kedge_version().decode()
__all__ = ["Absorbing", "Balance", "Cancelled", "Conductor", "Context", "Convergence", "DeviceError", "Dirichlet",
           "Error", "FileError", "Group", "GroupValues", "Incident", "InputError", "March", "MarchReport",
           "MarchSolution", "Mesh", "MissingPackage", "Neumann", "NoSuchName", "NotConverged", "NotOfWaves", "Note",
           "NumericError", "OutOfMemory", "Output", "Probe", "Problem", "Progress", "ReadOnly", "RegionValues",
           "Report", "Robin", "Soft", "Solution", "Solver", "SurfaceValues", "Unsupported", "VolumeValues", "Wall",
           "WaveMarch", "WaveOutput", "WaveReport", "WaveSolution", "WrongType", "convergence", "cube", "disk",
           "lshape", "march", "mixed", "plan", "quads", "read", "ring", "solve", "square"]
