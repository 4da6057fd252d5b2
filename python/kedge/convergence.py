"""Errors on finer and finer meshes, with their rates."""
from __future__ import annotations

import math
from typing import Iterable, List, NamedTuple

from .arguments import named, shown, wanted
from .context import Context
from .errors import InputError, WrongType
from .hints import Any, Sequence, Union
from .mesh import Mesh
from .plot import axes, legend_beside
from .problem import Problem
from .solver import solve


class Row(NamedTuple):
    """Errors in L2 at a size h of elements, the root of their mean area, in space the cube root of their mean volume,
    and rates against the row before."""

    order: int
    elements: int
    h: float
    u: float
    q: float
    u_star: float
    rate_u: float
    rate_q: float
    rate_u_star: float


class Convergence:
    """Rows of errors; prints as a table."""

    def __init__(self, rows: List[Row]) -> None:
        self.rows = rows

    def __str__(self):
        head = f"{'P':>2} {'elements':>9} {'h':>9}" + "".join(f" {name:>10} {'rate':>5}" for name in ("u", "q", "u*"))
        lines = [head]
        for row in self.rows:
            errors = zip((row.u, row.q, row.u_star), (row.rate_u, row.rate_q, row.rate_u_star))
            lines.append(f"{row.order:>2} {row.elements:>9} {row.h:>9.2e}" + "".join(
                f" {error:>10.2e} {'' if math.isnan(rate) else format(rate, '.2f'):>5}" for error, rate in errors))
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Draw errors of u and u* over h with matplotlib, and write the rates between the last two meshes; returns the
        axes."""
        ax = axes(ax, "Convergence.plot()", constrained_layout=True)
        for k, order in enumerate(sorted({row.order for row in self.rows})):
            rows = [row for row in self.rows if row.order == order]
            for name, line, aside in ("u", "o-", -1), ("u_star", "s--", 1):
                h, errors = zip(*((row.h, getattr(row, name)) for row in rows))
                ax.loglog(h, errors, f"C{k % 10}{line}", label=f"{name.replace('_star', '*')}, P = {order}")
                rate = getattr(rows[-1], f"rate_{name}")
                if not math.isnan(rate):
                    middle = math.sqrt(h[-1] * h[-2]), math.sqrt(errors[-1] * errors[-2])
                    ax.annotate(f"{rate:.2f}", middle, (4 * aside, -4 * aside), textcoords="offset points",
                                fontsize="small", color=f"C{k % 10}", ha="left" if aside > 0 else "right",
                                va="top" if aside > 0 else "bottom")
        ax.set_xlabel("h")
        ax.set_ylabel("error in L2")
        legend_beside(ax)
        return ax


@named
def convergence(problem: Problem, meshes: Sequence[Mesh], orders: Iterable[int],
                backend: Union[str, Context] = "auto") -> Convergence:
    """Solve a problem with an exact solution on meshes, the coarsest first, for every order.

    Prints as a table, draws by plot(), and has rows for what else is to be done with the numbers. To see errors
    below 1e-9, give the problem a smaller tolerance than its default.
    """
    wanted("problem", problem, Problem)
    if ("exact", "u") not in problem.settings:
        raise InputError("convergence is measured against an exact solution; give the problem exact=...")
    for name, value in (("orders", orders), ("meshes", meshes)):
        if not hasattr(value, "__iter__"):
            raise WrongType(f"{name} is {shown(value)}; it takes a list")
    rows = []
    for order in orders:
        before = None
        for mesh in meshes:
            report = solve(mesh, problem.replace(order=order), backend, on_failure="warn").report
            h = (mesh.area / mesh.elements) ** (1 / mesh.info["dimension"])
            errors = (report.u_l2, report.q_l2, report.u_star_l2)
            rates = [math.nan] * 3
            if before is not None and before.h != h:
                rates = [math.log(old / new) / math.log(before.h / h) if old > 0 and new > 0 else math.nan
                         for old, new in zip(before[3:6], errors)]
            before = Row(order, mesh.elements, h, *errors, *rates)
            rows.append(before)
    return Convergence(rows)
