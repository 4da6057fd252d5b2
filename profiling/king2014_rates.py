"""Rates, intensities, orders and speed-ups of King's experiment, beside Urrutia 2025 and King's Figures 6 and 7."""
import math

import king2014_page

STAGES = [("transfer", "matrix-free"), ("local_matrices", "matrix-free"), ("assembly", "ell"), ("trace_solve", "ell"),
          ("trace_solve", "matrix-free"), ("local_solve", "matrix-free"), ("postprocess", "matrix-free")]
NAMES = {"transfer": "loads and way to the device", "local_matrices": "local matrices", "assembly": "assembly",
         "trace_solve": "trace solve", "local_solve": "local solve", "postprocess": "post-process, errors"}
# Which of Urrutia's stages is which of ours; his assembly contains the local matrices.
URRUTIA = {"local_matrices": "assembly", "local_solve": "local solve", "postprocess": "post-process, errors"}


def stage(report, name):
    return next(s for s in report["stages"] if s["name"] == name)


def label(name, operator):
    return NAMES[name] + {"ell": ", assembled", "matrix-free": ", matrix-free"}[operator] * (name == "trace_solve")


def seconds_in(report, name, warm=None):
    """Seconds of a stage; by `warm`, a line of profiling/pipelines, in a process that has solved before, whose trace solve
    of fewer iterations is scaled to those of the report."""
    if not (warm or {}).get(name):
        return stage(report, name)["seconds"]
    return warm[name] * (report["solver"]["iterations"] / warm["iterations"] if name == "trace_solve" else 1)


def rate(report, name, warm=None):
    """GFlop/s by the cost formulas."""
    flops, seconds = stage(report, name)["flops"], seconds_in(report, name, warm)
    return 1e-9 * flops / seconds if flops and seconds else None


def intensity(report, name):
    s = stage(report, name)
    return s["flops"] / s["bytes"] if s["flops"] and s["bytes"] else None


def bandwidth(report, names, warm=None):
    """GB/s of the local matrices by the cost formula, over the seconds of stages."""
    seconds = sum(seconds_in(report, name, warm) for name in names)
    return 1e-9 * stage(report, "local_matrices")["bytes"] / seconds


WITHOUT, WITH = ("local_matrices",), ("transfer", "local_matrices")  # the way to the device


def bandwidth_table(results, serial, mesh, pipeline):
    """Figure 6b."""
    rows = []
    for order in results.orders:
        fast = results.at(mesh, order, "matrix-free")
        slow = serial.at(mesh, order, "matrix-free") if serial else None
        pairs = [(fast, warm_seconds(pipeline, mesh, order)), (slow, None)]
        rows.append([str(order)] + [cell(bandwidth(report, names, warm) if report else None, "{:.3g}")
                                    for report, warm in pairs for names in (WITHOUT, WITH)])
    return king2014_page.table(["P", "local matrices", "with loads and way to the device", "one core: local matrices",
                                "with loads"], rows)


def warm_seconds(pipeline, mesh, order):
    """Stages of the median solve of profiling/pipelines with Jacobi, which the matrix-free columns take."""
    for line in pipeline["lines"] if pipeline else []:
        if (line["squares"], line["order"], line["preconditioner"]) == (mesh, order, "jacobi"):
            return line
    return {}


def cell(value, form):
    return form.format(value) if value is not None else "-"


def rates_table(results, mesh, pipeline):
    """Figures 6 and 7: GFlop/s of each stage by order."""
    rows = []
    for order in results.orders:
        row = [str(order)]
        for name, operator in STAGES:
            report = results.at(mesh, order, operator)
            warm = warm_seconds(pipeline, mesh, order) if operator == "matrix-free" else None
            row.append(cell(rate(report, name, warm) if report else None, "{:.3g}"))
        rows.append(row)
    return king2014_page.table(["P"] + [label(*s) for s in STAGES], rows)


def intensity_table(urrutia, results, mesh):
    """His operational intensities beside ours, flop a byte, orders 1 to 4."""
    rows, orders = [], [p for p in results.orders if p <= 4]
    for name, operator in STAGES:
        his = urrutia["intensity"].get(URRUTIA.get(name))
        text = "-" if not his else f"{his[0]:g}" if his[0] == his[1] else f"{his[0]:g} to {his[1]:g}"
        reports = [results.at(mesh, order, operator) for order in orders]
        rows.append([label(name, operator), text, *(cell(intensity(r, name) if r else None, "{:.3g}") for r in reports)])
    return king2014_page.table(["stage", "Urrutia, k = 1 to 4"] + [f"P = {p}" for p in orders], rows)


def spmv_table(urrutia, results, mesh):
    """GB/s of his products with a matrix, of our whole trace solves by the cost formulas."""
    rows, orders = [], [p for p in results.orders if p <= 4]
    for order in orders:
        his = next((v for name, v in urrutia["spmv_gb_per_second"].items() if name != "what" and str(order) in name), None)
        reports = [results.at(mesh, order, operator) for operator in ("ell", "matrix-free")]
        rates = [1e-9 * stage(r, "trace_solve")["bytes"] / stage(r, "trace_solve")["seconds"] if r else None for r in reports]
        rows.append([str(order), "{} to {} ({} to {} %)".format(*his) if his else "-", *(cell(r, "{:.1f}") for r in rates)])
    return king2014_page.table(["k", "Urrutia: product (of the peak)", "trace solve, assembled", "matrix-free"], rows)


def order_table(results, coarse, fine):
    """Observed orders between two meshes where rounding does not decide."""
    rows = []
    for order in (p for p in results.orders if p <= 4):
        reports = [results.at(mesh, order) for mesh in (coarse, fine)]
        if not all(reports):
            continue
        row = [str(order)]
        for name, his in (("u", order + 1), ("q", None), ("u_star", order + 2)):
            errors = [r["errors"][name]["l2"] for r in reports]
            row += [str(his) if his else "-", king2014_page.order_between(*errors, coarse, fine)]
        rows.append(row)
    return king2014_page.table(["k", "u: Urrutia, about", "kedge", "q: Urrutia", "kedge", "u*: Urrutia, about", "kedge"],
                               rows)


def range_of(values):
    return f"{min(values):.3g} to {max(values):.3g}" if values else "-"


def seconds_of_line(line):
    """All steps of his total in a process that has solved before."""
    return sum(line[name] for name in king2014_page.TIMED if name != "postprocess")


def speedups_by_size(own, core):
    """{order: [(triangles, speed-up over one core)]} of sizes.json of a device and of one core."""
    slow = {(l["part"], l["order"]): seconds_of_line(l) for l in core["lines"] if "order" in l}
    found = {}
    for line in (l for l in own["lines"] if "order" in l and (l["part"], l["order"]) in slow):
        pair = line["elements"], slow[line["part"], line["order"]] / seconds_of_line(line)
        found.setdefault(line["order"], []).append(pair)
    return {order: sorted(pairs) for order, pairs in found.items()}


def pays_from(pairs):
    """Triangles from which on the speed-up is above 1, between two sizes by a power law."""
    below = [i for i, (_, speed) in enumerate(pairs) if speed < 1]
    if not below:
        return f"under {pairs[0][0]}"
    if below[-1] == len(pairs) - 1:
        return f"over {pairs[-1][0]}"
    (n0, s0), (n1, s1) = pairs[below[-1]], pairs[below[-1] + 1]
    return f"{n0 * (n1 / n0) ** (math.log(1 / s0) / math.log(s1 / s0)):.0f}"


def sizes_table(own, core):
    """Urrutia's form: speed-up by mesh, and the size where the device begins to pay."""
    found = speedups_by_size(own, core)
    sizes = sorted({n for pairs in found.values() for n, _ in pairs})
    rows = [[str(n)] + [cell(dict(found[k]).get(n), "{:.3g}") for k in sorted(found)] for n in sizes]
    rows.append(["pays from"] + [pays_from(found[k]) for k in sorted(found)])
    return king2014_page.table(["triangles"] + [f"k = {k}" for k in sorted(found)], rows)


def speedups_by_mesh(results, serial, total):
    """{mesh: speed-ups over one core, by order}; `total`: seconds of a report."""
    found = {}
    for mesh in results.meshes:
        pairs = [(serial.at(mesh, p, "matrix-free"), results.at(mesh, p, "matrix-free")) for p in results.orders]
        found[mesh] = [total(slow) / total(fast) for slow, fast in pairs if slow and fast]
    return found


def stage_speedup(slow, fast, name, warm):
    return king2014_page.seconds(slow, name) / seconds_in(fast, name, warm)


def speedup_tables(urrutia, results, serial, total, pipeline):
    """By mesh, in Urrutia's form, and by stage at 80 x 80."""
    by_mesh = speedups_by_mesh(results, serial, total)
    rows = [[name, f"{low:g} to {high:g}" if low != high else f"about {low:g}", "-"]
            for name, (low, high) in urrutia["speedup_by_mesh"].items()]
    rows += [[f"{mesh}x{mesh}, {2 * mesh * mesh} triangles", "-", range_of(values)] for mesh, values in by_mesh.items()]
    text = king2014_page.table(["mesh", "Urrutia: GPU over CPU", "kedge: over one core, all orders"], rows)
    mesh, rows = max(results.meshes), []
    names = [name for name, operator in STAGES if operator == "matrix-free"]
    rows.append(["Urrutia, mesh7, k = 4"] + [urrutia["speedup_by_stage"].get(n, "-") for n in names])
    for order in results.orders:
        slow, fast = serial.at(mesh, order, "matrix-free"), results.at(mesh, order, "matrix-free")
        if slow and fast:
            warm = warm_seconds(pipeline, mesh, order)
            rows.append([str(order)] + [f"{stage_speedup(slow, fast, n, warm):.3g}" for n in names])
    return text + f"\nBy stage, {mesh}x{mesh}:\n\n" + king2014_page.table(["P"] + [NAMES[n] for n in names], rows)
