"""Short tables in HTML, as notebooks show objects."""
import html
import os

from .errors import in_python, shown

LONGEST = 120  # characters of a cell
MOST = 20  # rows


def table(title, rows, head=()):
    """A table of rows of text and numbers, all escaped."""
    top = f"<tr>{''.join(_cell('th', one) for one in head)}</tr>" if head else ""
    body = "".join(f"<tr>{_cell('th', first)}{''.join(_cell('td', one) for one in rest)}</tr>"
                   for first, *rest in rows[:MOST])
    if len(rows) > MOST:
        body += f"<tr>{_cell('th', f'and {len(rows) - MOST} more')}</tr>"
    return f"<table><caption>{_text(title)}</caption>{top}{body}</table>"


def _cell(tag, value):
    return f'<{tag} style="text-align: left">{_text(value)}</{tag}>'


def _text(value):
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return html.escape(shown(text if len(text) <= LONGEST else text[:LONGEST - 3] + "..."))


def of_mesh(mesh):
    wide = mesh.info["quadrilaterals"]
    space = mesh.info["dimension"] == 3
    counts = (mesh.elements - wide, "tetrahedra" if space else "triangles"), (wide, "quadrilaterals")
    kinds = " and ".join(f"{count} {name}" for count, name in counts if count)
    curves = f", of order {mesh.info['geometry']}" if mesh.info["geometry"] > 1 else ""
    rows = [(group.name, "boundary" if group.dimension < mesh.info["dimension"] else "region", group.count, group.measure)
            for group in mesh.groups]
    head = "group", "", f"{'faces' if space else 'edges'} or elements", "area or volume" if space else "length or area"
    return table(f"kedge.Mesh: {kinds}{curves}, {'volume' if space else 'area'} {mesh.area:.6g}", rows, head)


def of_problem(problem):
    return table("kedge.Problem", [(section, key, value if isinstance(value, str) else _data(value))
                                   for (section, key), value in problem.settings.items() if key])


def _data(value):
    """Data that are no text."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_data, value))})"
    return getattr(value, "__qualname__", None) or str(value)


def of_report(report, title="kedge.Report"):
    rows = [("elements", f"{report.elements} of order {report.order}"),
            ("unknowns of the trace", report.trace_unknowns), ("iterations", report.iterations),
            ("residual", report.relative_residual),
            ("converged", f"{'yes' if report.converged else 'no'}, at {report.stop}"),
            ("seconds", report.seconds), ("device", report.device)]
    if report.has_exact:
        rows += [(f"error {name}", value) for name, value in report.errors.items()]
    if report.solver_note:
        rows.append(("note", in_python(os.fsencode(report.solver_note))))
    return table(title, rows)
