"""Tables of the programs `operators` and `local_baseline` for profiling/results."""
import math

import plot_compare
import programs


def short(value):
    """Three digits, more only before the point."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def by_order(lines, key):
    """{order: {line[key]: line}}, orders ascending."""
    found = {}
    for line in lines[1:]:
        found.setdefault(line["order"], {})[line[key]] = line
    return dict(sorted(found.items()))


def local_table(lines):
    """Local matrices: kedge in nanoseconds a triangle, the others in times of it."""
    orders = by_order(lines, "variant")
    others = list(dict.fromkeys(line["variant"] for line in lines[1:] if line["variant"] != "kedge"))
    rows = []
    for order, variants in orders.items():
        own = variants["kedge"]
        row = [str(order), short(1e9 * own["seconds_per_element"]), short(1e-9 * own["flops_per_second"]),
               f"{own['flops_per_second'] / lines[0]['flops_per_second']:.2f}"]
        for name in others:
            line = variants.get(name)
            text = f"{line['times_kedge']:.2f}" if line else ""
            if line and line["times_kedge_without_build"] is not None:
                text += f" ({line['times_kedge_without_build']:.2f})"
            row.append(text)
        rows.append(row)
    return plot_compare.markdown(["P", "kedge, ns a triangle", "GFlop/s", "share of the measured rate", *others], rows)


def local_text(lines):
    errors = [line["error_against_kedge"] for line in lines[1:] if line["error_against_kedge"] is not None]
    apart = any(line["times_kedge_without_build"] is not None for line in lines[1:])
    parts = ["Local matrices (B1, B2): kedge in nanoseconds a triangle, other ways to make them in times of it"
             + (", in brackets without building Z^-1, R and S0 for them" if apart else "") + ".\n", local_table(lines)]
    if errors:
        parts.append(f"Largest distance of their K^e from kedge's: {max(errors):.1e} (relative, l2).\n")
    return "\n".join(parts)


def apply_text(lines):
    """The trace operator on the host, where no other form is measured."""
    rows = []
    for order, operators in by_order(lines, "operator").items():
        row = [str(order)]
        for name in ("trace_apply", "cg_iteration"):
            line = operators.get(name)
            row += [f"{1e6 * line['seconds']:.0f}", f"{1e-9 * line['bytes'] / line['seconds']:.1f}",
                    f"{line['share_of_floor']:.2f}"] if line else ["", "", ""]
        rows.append(row)
    heads = ["P", *(f"{what}{unit}" for what in ("trace operator", "CG iteration") for unit in (", us", ", GB/s", ", share of its floor"))]
    return "The trace operator and an iteration of conjugate gradients, matrix-free.\n\n" + plot_compare.markdown(heads, rows)


# Sums of operators in times of others: title, above, below.
AFTER = ["local_solve", "postprocess"]
RATIOS = [
    ("local solve, post-process and errors / local matrices", AFTER + ["errors"], ["local_matrices"]),
    ("the same with errors of formulas", AFTER + ["errors_of_formula"], ["local_matrices"]),
    ("the same / reduced local matrices", AFTER + ["errors_of_formula"], ["local_matrices_reduced"]),
    ("load vectors and errors of formulas / local matrices", ["load_vectors_of_formula", "errors_of_formula"],
     ["local_matrices"]),
    ("the same / reduced local matrices", ["load_vectors_of_formula", "errors_of_formula"], ["local_matrices_reduced"]),
    ("trace operator, double / single precision", ["trace_apply"], ["trace_apply_single"]),
    ("reduced, double / single precision", ["trace_apply_reduced"], ["trace_apply_reduced_single"]),
]


def stages_text(result, lines):
    """Every operator by order: milliseconds, shares of its floor, and what they are to each other."""
    orders = by_order(lines, "operator")
    names = [name for name in dict.fromkeys(line["operator"] for line in lines[1:]) if name != "set_up"]

    def table(head, rows):
        return plot_compare.markdown([head, *(f"P = {order}" for order in orders)], rows)

    def seconds(order, operators):
        return sum(orders[order][name]["seconds"] if name in orders[order] else math.nan for name in operators)

    def cell(text, value):
        return text(value) if math.isfinite(value) else ""

    times = [[f"`{name}`", *(cell(short, 1e3 * seconds(order, [name])) for order in orders)] for name in names]
    shares = [[f"`{name}`", *(f"{own[name]['share_of_floor']:.2f}" if name in own else "" for own in orders.values())]
              for name in names]
    ratios = [[title, *(cell("{:.2f}".format, seconds(order, above) / seconds(order, below)) for order in orders)]
              for title, above, below in RATIOS]
    m = lines[0]
    return "\n".join([f"{m['device']}, {m['elements']} triangles (`{m['mesh']}`), milliseconds for all of them:\n",
                      table("operator", times), "As share of its floor:\n", table("operator", shares),
                      "To each other:\n", table("", ratios), programs.origin(result)])


def machine_text(lines):
    m = lines[0]
    return (f"### {m['device']}\n\n{m['elements']} triangles (`{m['mesh']}`), reads "
            f"{1e-9 * m['read_bytes_per_second']:.1f} GB/s, {1e-9 * m['flops_per_second']:.0f} GFlop/s in double precision.\n")


def counted_text(points, mesh):
    """What the GPU's counters say of one call, in times of the cost formulas; "" when nothing was counted."""
    counted = [p for p in points if p["ncu"]]
    if not counted:
        return ""
    orders = sorted({p["order"] for p in counted})
    rows = []
    for name in dict.fromkeys(p["operator"] for p in counted):
        own = {p["order"]: p["ncu"] for p in counted if p["operator"] == name}
        row = [name]
        for order in orders:
            ncu = own.get(order)
            row.append(f"{ncu['bytes_of_formula']:.2f} / {ncu['flops_of_formula']:.2f}" if ncu else "")
        rows.append(row)
    return ("Counted by Nsight Compute, in times of the cost formulas: bytes through the memory of the GPU / operations in "
            f"double precision, tensor cores included (`{mesh}`).\n\n"
            + plot_compare.markdown(["operator", *[f"P = {order}" for order in orders]], rows))
