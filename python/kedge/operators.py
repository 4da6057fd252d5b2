"""Operators of a solver as those of SciPy: on unknowns of the trace, and on values at nodes."""
import numpy as np

from .arguments import package
from .calls import check_converged
from .cells import from_nodes, part
from .data import Polynomials
from .dlpack import on_gpu
from .errors import InputError


def on_unknowns(name, n, multiply):
    """A symmetric operator on the unknowns, of arrays on a GPU too."""
    linear = package("scipy.sparse.linalg", f"Solver.{name}", "SciPy").LinearOperator

    class Operator(linear):
        def __init__(self):
            super().__init__(np.dtype(float), (n, n))

        def matvec(self, x):
            return multiply(x.reshape(-1)).reshape(x.shape) if on_gpu(x) else super().matvec(x)

        def dot(self, x):
            return self.matvec(x) if on_gpu(x) else super().dot(x)

        def _matvec(self, x):
            return multiply(np.ravel(x))

        def _adjoint(self):
            return self

        _transpose = _adjoint

    return Operator()


def inverse(solver):
    """Solves of a solver, from sources to u, both values at nodes of the order of the solver."""
    linear = package("scipy.sparse.linalg", "Solver.inverse", "SciPy").LinearOperator
    mesh, order = solver.mesh, solver._order()
    n, zeros = int(_offsets(mesh, order)[-1]), {mesh.groups[group].name: 0 for group in np.unique(mesh.boundary[2])}

    def solve(columns):
        sources = [_polynomials(mesh, order, column) for column in columns.T]
        with solver.context.turn():
            now = solver._order()
            if now != order:
                raise InputError(f"this inverse is of order {order}, and the solver of order {now} since an update; "
                                 "take solver.inverse again")
            solutions = solver._solve_all(sources, zeros, None, None, None)
        check_converged(solutions)
        return np.stack([s.values("u", order).ravel() for s in solutions], axis=-1)

    class Inverse(linear):
        def __init__(self):
            super().__init__(np.dtype(float), (n, n))

        def _matvec(self, x):
            return self._matmat(x.reshape(-1, 1))

        def _matmat(self, x):
            return solve(x.real) + 1j * solve(x.imag) if np.iscomplexobj(x) else solve(x)

    return Inverse()


def mass(mesh, order):
    """Integrals of the products of nodal polynomials."""
    sparse, offsets = package("scipy.sparse", "Solver.mass", "SciPy"), _offsets(mesh, order)
    parts = []
    for shape, elements, maps in mesh.shapes:
        # Exact: a direction, a Jacobian has the degree 2 g - 1, of triangles 2 g - 2, where maps have the order g. The
        # rule of tetrahedra, whose g is 1, has the degree 2 n - 3.
        *at, weight = shape.rule(order + mesh.info["dimension"] - 2 + mesh.info["geometry"])
        basis = shape.basis(order, *at) @ from_nodes(shape, order)
        blocks = np.einsum("ep,pi,pj->eij", maps.jacobians(*at) * weight, basis, basis, optimize=True)
        node = offsets[elements][:, None] + np.arange(shape.count(order))
        parts.append((blocks, *(np.broadcast_to(place, blocks.shape) for place in (node[:, :, None], node[:, None]))))
    n = offsets[-1]
    if len(parts) == 1:
        blocks = parts[0][0]
        return sparse.bsr_matrix((blocks, np.arange(len(blocks)), np.arange(len(blocks) + 1)), (n, n))
    values, rows, columns = (np.concatenate([array.ravel() for array in arrays]) for arrays in zip(*parts))
    return sparse.csr_matrix((values, (rows, columns)), (n, n))


def _offsets(mesh, order):
    """Where the nodes of each element begin."""
    offsets = np.zeros(mesh.elements + 1, np.int64)
    for shape, elements, _ in mesh.shapes:
        offsets[elements + 1] = shape.count(order)
    return np.cumsum(offsets)


def _polynomials(mesh, order, values):
    """Values at nodes as data of a problem."""
    offsets = _offsets(mesh, order)
    coefficients = [part(values, offsets, shape, elements, order) @ from_nodes(shape, order).T
                    for shape, elements, _ in mesh.shapes]
    return Polynomials(mesh, "values at nodes", order, coefficients)
