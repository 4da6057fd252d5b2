"""What profiling/claims solves, and the tables of profiling/results that show it."""
import king2014_page

MULTIGRID = "multigrid.md"
MEMORY, PERFORMANCE = "memory.md", "performance.md"
KING, POISSON = "profiling/cases/helmholtz.ini", "profiling/cases/poisson.ini"
CELLS = {"output.fields": "cells"}
# Two solutions of profiling/cases/poisson.ini: a smooth one that is known, and one whose first residual is small.
SMOOTH = {"exact.u": "sin(2*pi*x)*sin(2*pi*y)+x", "equation.source": "8*pi^2*sin(2*pi*x)*sin(2*pi*y)"}
ROUGH = {"boundary default.value": "0"}


class Case:
    """One `kedge solve`: a problem file and what is set in it."""

    def __init__(self, problem, **settings):
        self.problem = problem
        self.settings = {name: str(value) for name, value in settings.items()}

    def also(self, **settings):
        return Case(self.problem, **{**self.settings, **settings})

    def key(self):
        return (self.problem, *sorted(self.settings.items()))


class Table:
    """A table of a page: a row is labels, and cells made from the reports of its cases."""

    def __init__(self, name, page, heads, cells, rows):
        self.name, self.page, self.heads, self.cells, self.rows = name, page, heads, cells, rows

    def cases(self):
        return [case for _, cases in self.rows for case in cases]

    def text(self, report_of):
        """`report_of`: a case's report, or None: it failed, and the row says so."""
        rows = []
        for labels, cases in self.rows:
            reports = [report_of(case) for case in cases]
            missing = ["-"] * (len(self.heads) - len(labels))
            rows.append([*labels, *(self.cells(*reports) if all(reports) else missing)])
        return king2014_page.table(self.heads, rows)


def seconds(report, *stages):
    return sum(king2014_page.seconds(report, stage) for stage in stages)


def trace(report):
    """Set-up and iteration, as in the table of the preconditioners."""
    return f"{seconds(report, 'assembly', 'trace_solve'):.4f}"


def set_up(report):
    return f"{report['solver']['setup_seconds']:.4f}"


def iterations(report):
    solver = report["solver"]
    return f"{solver['iterations']}" if solver["converged"] else f"> {solver['iterations']}"


def memory(report):
    return f"{1e-9 * report['memory']['peak_device_bytes']:.2f}"


def square(squares, order, *settings):
    """The problem of profiling/cases/poisson.ini on a square."""
    merged = {name: value for more in settings for name, value in more.items()}
    return Case(POISSON, **{"mesh.generate": f"square {squares}", "space.order": order, **merged})


def size(squares):
    return f"{2 * squares**2:,}"


def ring_row(order, smoother, precision="double"):
    case = Case(POISSON, **{"mesh.generate": "ring 2000 250", "space.order": order, "solver.smoother": smoother,
                            "solver.precision": precision})
    return [str(order), smoother, precision], [case]


STRETCHED = Table("stretched", MULTIGRID, ["P", "smoother", "precision", "iterations", "set-up, s",
                                          "set-up and trace solve, s"],
                  lambda report: [iterations(report), set_up(report), trace(report)],
                  [ring_row(2, "line"), ring_row(4, "line"), ring_row(4, "line", "mixed"), ring_row(4, "edge"),
                   ring_row(9, "line")])


def smoother_row(order, name, settings):
    return [size(707), str(order), name], [square(707, order, SMOOTH, settings)]


SMOOTHERS = Table("smoothers", MULTIGRID, ["triangles", "P", "smoother, steps", "iterations", "set-up, s",
                                          "set-up and trace solve, s", "memory, GB"],
                  lambda report: [iterations(report), set_up(report), trace(report), memory(report)], [
                      smoother_row(1, "edge, 1", {}),
                      smoother_row(4, "edge, 1", {}),
                      smoother_row(4, "edge, 2", {"solver.smoothing_steps": 2}),
                      smoother_row(4, "Jacobi", {"solver.preconditioner": "jacobi"}),
                      smoother_row(7, "edge, 1", {}),
                      smoother_row(9, "edge, 1", {})])


def refined_row(squares, times, order):
    """A mesh as it is generated, and refined so many times from a coarser one."""
    multigrid = {"solver.preconditioner": "multigrid"}
    refined = square(squares >> times, order, multigrid, {"mesh.refine": times})
    return [size(squares), str(order)], [square(squares, order, multigrid), refined]


def refined_cells(*reports):
    return [cell for report in reports for cell in (iterations(report), set_up(report), trace(report))]


REFINED = Table("refined", MULTIGRID, ["triangles", "P", "generated: iterations", "set-up, s", "set-up and trace solve, s",
                                    "refined: iterations", "set-up, s", "set-up and trace solve, s"], refined_cells,
                [refined_row(704, 5, 1), refined_row(704, 5, 4), refined_row(704, 5, 9), refined_row(2240, 5, 1),
                 refined_row(2240, 5, 4)])


def rounding_row(squares):
    return [size(squares)], [square(squares, 4, ROUGH)]


def rounding_cells(report):
    solver = report["solver"]
    return [str(solver["iterations"]), f"{solver['relative_residual']:.1e}", f"{solver['rounding_residual']:.1e}",
            solver["stop"]]


ROUNDING = Table("rounding", MULTIGRID, ["triangles", "iterations", "relative residual", "of that rounding of x",
                                         "ended by"], rounding_cells,
                 [rounding_row(n) for n in (224, 707, 2236)])


def compact_row(squares, waves, precision):
    u = f"sin({2 * waves}*pi*x)*sin({2 * waves}*pi*y)+x"
    case = Case(KING, **{"mesh.generate": f"square {squares}", "space.order": 4, "exact.u": u, "equation.reaction": 0,
                         "solver.tolerance": "1e-10", "solver.precision": precision, **CELLS})
    return [size(squares), str(waves), precision], [case]


def compact_cells(report):
    errors = report["errors"]
    stages = ["transfer", "local_matrices", "assembly", "trace_solve", "local_solve", "postprocess"]
    return [iterations(report), set_up(report), f"{seconds(report, 'trace_solve'):.3f}",
            f"{seconds(report, *stages):.2f}", memory(report), f"{errors['u']['l2']:.3e}", f"{errors['q']['l2']:.3e}",
            f"{errors['u_star']['l2']:.2e}"]


COMPACT = Table("compact", MEMORY, ["triangles", "K", "precision", "iterations", "set-up, s", "trace solve, s",
                                    "transfer to post-process, s", "memory, GB", "error of u", "of q", "of u*"],
                compact_cells, [
                    compact_row(236, 10, "double"),
                    compact_row(2357, 100, "double"),
                    compact_row(2357, 100, "mixed"),
                    compact_row(2357, 100, "compact"),
                    compact_row(7071, 300, "compact")])


def reduced_row(squares, order, precision):
    without = square(squares, order, SMOOTH, *([{"solver.precision": precision}] if precision != "double" else []))
    return [size(squares), str(order), precision], [without.also(**{"equation.reaction": "1e-12"}), without]


REDUCED = Table("reduced", PERFORMANCE, ["triangles", "P", "precision", "packed K^e: iterations",
                                         "set-up and trace solve, s", "reduced K^e: iterations",
                                         "set-up and trace solve, s"],
                lambda packed, reduced: [iterations(packed), trace(packed), iterations(reduced), trace(reduced)], [
                    reduced_row(2236, 4, "double"), reduced_row(2236, 4, "mixed"), reduced_row(707, 4, "double"),
                    reduced_row(707, 4, "mixed"), reduced_row(707, 3, "mixed")])


def ready_row(squares, order):
    """A solve for the sake of the stages before the iteration."""
    case = Case(KING, **{"mesh.generate": f"square {squares}", "space.order": order, "solver.max_iterations": 1,
                         "solver.preconditioner": "jacobi", **CELLS})
    return [size(squares), str(order)], [case]


def ready_cells(report):
    stages = ["mesh", "transfer", "local_matrices"]
    return [*(f"{seconds(report, stage):.3f}" for stage in stages), f"{seconds(report, *stages):.2f}"]


READY = Table("ready", PERFORMANCE, ["triangles", "P", "mesh, s", "transfer, s", "local matrices, s", "together, s"],
              ready_cells, [ready_row(2237, 2), ready_row(5000, 2), ready_row(5000, 4)])

TABLES = {table.name: table for table in (STRETCHED, SMOOTHERS, REFINED, ROUNDING, COMPACT, REDUCED, READY)}
