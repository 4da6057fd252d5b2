"""The tables of profiling/results/kloeckner2009.md from the results of profiling/waves."""
import json
import math
import os

import king2014_page
import measure
import waves_cases

PARTS = ["gather", "lift", "differentiate", "update"]
# What Figure 11a compares: a column, and what was measured. The last one is kedge's own stage.
FORMS = {"separate kernels": None, "one plain kernel": "one", "kedge, plain": "stage plain",
         "without sectors": "stage without sectors", "without copies ahead": "stage without copies ahead",
         "blocks of 16": "stage of 16", "blocks of 32": "stage of 32", "kedge": "stage"}
STAGES = 5
FIGURES = {"waves-rates.png": "Figure 8: unknowns a second by order",
           "waves-parts.png": "Figures 9 and 10a: parts of a stage",
           "waves-blocks.png": "Figure 10b: elements of a block",
           "waves-elements.png": "Figure 11b: size of the mesh",
           "waves-scattering.png": "Figure 12: a wave at an obstacle"}
HEAD = """# Kloeckner 2009, repeated

Kloeckner, Warburton, Bridge, Hesthaven, *Nodal discontinuous Galerkin methods on graphics processors*, Journal of
Computational Physics 228 (2009) 7863-7882. His card is a GTX 280 (933 GFlop/s in single precision, 141.7 GB/s), his
core one of a Core2 Duo E8400 at 3 GHz. All is in single precision, of Maxwell's equations in space, unless a table says
another thing. Written by `profiling/waves --page`; measured by `./dev bench waves`.
"""


def paper():
    with open(os.path.join(measure.ROOT, "profiling", "kloeckner2009_paper.json"), encoding="utf-8") as file:
        return json.load(file)


def nodes(order):
    return (order + 1) * (order + 2) * (order + 3) // 6


def flops(order):
    """Operations an unknown and stage, as wave_parts.c counts them."""
    n, columns = nodes(order), 2 * (order + 1) * (order + 2)
    return (64 * columns + 12 * columns * n + 36 * n * n + 72 * n + 30 * n) / (6 * n)


def order_of(elements, errors):
    """Minus the slope of errors in h, h^3 = 1 / elements, by least squares; None where an error is not there."""
    if None in errors or len(errors) < 2 or min(errors) <= 0:
        return None
    x = [-math.log(number) / 3 for number in elements]
    y = [math.log(error) for error in errors]
    x_mean, y_mean = sum(x) / len(x), sum(y) / len(y)
    return (sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y)) / sum((a - x_mean) ** 2 for a in x))


def giga(value, digits=3):
    """In 1e9, so many digits."""
    value *= 1e-9
    after = max(0, digits - 1 - math.floor(math.log10(value))) if value > 0 else 0
    return f"{value:.{min(after, 6)}f}"


def share(line):
    return "" if line["share_of_floor"] is None else f"{line['share_of_floor']:.2f}"


class Results:
    """Lines of cases whose names begin alike."""

    def __init__(self, result):
        self.cases = result["cases"]

    def lines(self, begin, measured):
        return [line for case in self.cases if case["name"].startswith(begin) for line in case["lines"]
                if line["measured"] == measured]

    def by_order(self, begin, measured="steps"):
        return {line["order"]: line for line in self.lines(begin, measured)}

    def orders(self):
        return sorted({line["order"] for case in self.cases for line in case["lines"]})


def errors_text(results, his):
    runs = [(case["lines"][0]["elements"], {line["order"]: line.get("error") for line in case["lines"]})
            for case in results.cases if case["name"].startswith("errors") and case["lines"]]
    if not runs:
        return []
    counts = [elements for elements, _ in runs]
    rows = []
    for order in sorted({order for _, by_order in runs for order in by_order}):
        own = [by_order.get(order) for _, by_order in runs]
        theirs = his["errors"].get(str(order))
        fitted = [order_of(counts, own), order_of(his["elements"], theirs) if theirs else None,
                  his["orders"].get(str(order))]
        rows.append([str(order), *("" if error is None else f"{error:.2e}" for error in own),
                     *("" if number is None else f"{number:.2f}" for number in fitted)])
    heads = ["N", *(f"{number:,} elements" for number in counts), "order", "his, fitted likewise", "his, as printed"]
    waves, theirs = (", ".join(map(str, numbers)) for numbers in (waves_cases.MODE, his["elements"]))
    return ["### Table 2: errors\n\nErrors of all fields in L2 at t = 1 of a mode of the box 1.25 x 1 x 0.8 between "
            f"conductors, {waves} half waves, on unstructured meshes of about his {theirs} elements. His cavity "
            "and mode are not stated: compare orders, fitted to h^-3 = elements. His errors end at 1.3e-6, in single "
            "precision too.\n",
            king2014_page.table(heads, rows)]


def rates_text(results, his):
    fast, core = results.by_order("maxwell single"), results.by_order("core")
    rows = []
    for order in sorted(fast):
        rate = fast[order]["unknowns_per_second"]
        one = core[order]["unknowns_per_second"] if order in core else None
        beside = ["", "", ""] if one is None else [giga(one), f"{one * flops(order) * 1e-9:.1f}", f"{rate / one:.0f}"]
        rows.append([str(order), giga(rate), f"{rate * flops(order) * 1e-9:.0f}", *beside,
                     str(his["speedups"].get(str(order), ""))])
    if not rows:
        return []
    elements = next(iter(fast.values()))["elements"]
    heads = ["N", "unknowns", "GFlop/s", "one core: unknowns", "GFlop/s", "ratio", "his ratio"]
    return ["### Figure 8: rates by order\n\n10^9 unknowns a second and stage, and GFlop/s by the count of the dense "
            f"products of separate kernels, whatever kedge's own stage does; {elements:,} elements, fewer for the "
            f"core. His: more than {his['most_gflops']} GFlop/s, {his['least_speedup']} to {his['most_speedup']} times "
            "his core.\n", king2014_page.table(heads, rows)]


def parts_text(results):
    lines = {name: results.by_order("parts", name) for name in [*PARTS, "one", "stage"]}
    orders = sorted(lines["stage"])
    if not orders:
        return []
    rows, blocks, forms = [], [], []
    for order in orders:
        own = [lines[name][order] for name in PARTS]
        total = sum(line["seconds"] for line in own)
        for name, line in zip(PARTS, own):
            rows.append([str(order), name, f"{100 * line['seconds'] / total:.0f}", f"{line['gflops']:.0f}",
                         f"{line['gbytes']:.0f}", share(line)])
        blocks.append([str(order), *(str(lines[name][order]["elements_of_block"]) for name in [*PARTS, "one"])])
        unknowns = 6 * nodes(order) * own[0]["elements"]
        by_form = {form: results.by_order("parts", name).get(order) for form, name in FORMS.items() if name}
        seconds = {"separate kernels": total, **{form: line["seconds"] for form, line in by_form.items() if line}}
        rates = [giga(unknowns / seconds[form]) if form in seconds else "" for form in FORMS]
        forms.append([str(order), f"{own[0]['elements']:,}", *rates,
                      f"{seconds['separate kernels'] / seconds['kedge']:.1f}"])
    return ["### Figures 9 and 10a: the parts of a stage\n\nIn kernels one behind another, as his: share of their time "
            "in per cent, GFlop/s, GB/s of numbers that each moves once, share of the floor.\n",
            king2014_page.table(["N", "part", "share", "GFlop/s", "GB/s", "floor"], rows),
            "### Table 3: elements of a block\n\nThe fastest of 1, 2, 4, ... with which a block fits.\n",
            king2014_page.table(["N", *PARTS, "one"], blocks), *scan_text(lines, orders),
            "### Figure 11a: without each trick\n\n10^9 unknowns a second and stage: separate kernels; all in one, "
            "plain and dense, its flux in shared memory; kedge's plain kernel, which takes every order; its compiled "
            "one without sectors, without copies ahead, and with other blocks; kedge's own choice, in the last column "
            "in times of the first.\n",
            king2014_page.table(["N", "elements", *FORMS, "times"], forms)]


def scan_text(lines, orders):
    """Figure 10b, at N = 4 or the order next to it."""
    order = min(orders, key=lambda own: abs(own - 4))
    times = {name: dict(map(tuple, lines[name][order]["blocks"])) for name in [*PARTS, "one"]}
    sizes = sorted({size for own in times.values() for size in own})
    rows = [[name, *(king2014_page.ms(own[size]) if size in own else "" for size in sizes)]
            for name, own in times.items()]
    return [f"### Figure 10b: milliseconds by elements of a block, N = {order}\n",
            king2014_page.table(["", *map(str, sizes)], rows)]


def elements_text(results):
    lines = sorted(results.lines("elements", "steps"), key=lambda line: line["elements"])
    rows = [[f"{line['elements']:,}", giga(line["unknowns_per_second"]), f"{1e3 * line['stage_seconds']:.3f}"]
            for line in lines]
    return [f"### Figure 11b: size of the mesh, N = {lines[0]['order']}\n\n10^9 unknowns a second, milliseconds a "
            "stage.\n",
            king2014_page.table(["elements", "unknowns", "ms"], rows)] if lines else []


def scattering_text(results, his):
    lines = results.lines("scattering", "run")
    rows = [[f"{line['elements']:,}", str(line["order"]), f"{line['unknowns']:,.0f}", f"{line['steps']:.0f}",
             f"{line['seconds']:.2f}", giga(line["unknowns_per_second"]),
             f"{line['unknowns_per_second'] * flops(line['order']) * 1e-9:.0f}"] for line in lines]
    own = his["scattering"]
    heads = ["elements", "N", "unknowns", "steps", "seconds", "10^9 unknowns a second", "GFlop/s"]
    return ["### Figure 12: scattering at an obstacle\n\nA plane wave at an aeroplane of conductor, absorbing outside. "
            f"His: {own['elements']:,} elements, N = {own['order']}, more than {own['gflops']} GFlop/s, that is "
            f"{giga(own['unknowns_per_second'], 2)} at the count used here.\n",
            king2014_page.table(heads, rows)] if rows else []


def systems_text(results, his):
    rows = []
    for precision in ("single", "double"):
        own = {system: results.by_order(f"{system} {precision}") for system in ("maxwell", "acoustics")}
        for order in sorted(set(own["maxwell"]) & set(own["acoustics"])):
            row = [precision, str(order)]
            for system in own:
                line = own[system][order]
                theirs = dict(enumerate(his.get(f"{system} {precision}", ()), 1)).get(order)
                row += [giga(line["unknowns_per_second"]), share(line), "" if theirs is None else f"{theirs:g}",
                        "" if theirs is None else f"{1e-9 * line['unknowns_per_second'] / theirs:.2f}"]
            rows.append(row)
    heads = ["", "N"] + 2 * ["floor", "libParanumal", "times"]
    heads[2:2], heads[6:6] = ["maxwell"], ["acoustics"]
    return ["### Beside libParanumal\n\n10^9 unknowns a second and stage with all materials and boundaries compiled "
            "in, and the share of the floor: 16 bytes an unknown and stage in single, 32 in double precision, at the "
            f"read bandwidth of the same run. libParanumal {his['version']}, which has one material, was measured once "
            "by hand, on an NVIDIA H200 with 384,000 tetrahedra: medians of a timer around its stages.\n",
            king2014_page.table(heads, rows)] if rows else []


def beside_text(results):
    lines = {case["name"][len("beside "):]: case["lines"][0] for case in results.cases
             if case["name"].startswith("beside") and case["lines"]}
    if "plain" not in lines:
        return []
    plain = lines["plain"]["stage_seconds"]
    rows = [[name, f"{1e3 * line['stage_seconds']:.3f}", f"{line['stage_seconds'] / plain:.3f}"]
            for name, line in lines.items()]
    return [f"### What comes beside, N = {lines['plain']['order']}\n\nMilliseconds a stage, and in times of the plain "
            "cavity (wanted: 1.1 at most): materials that differ in every element, sides that absorb, ten probes read "
            "at every step.\n",
            king2014_page.table(["", "ms", "times"], rows)]


def tables(result):
    results, his = Results(result), paper()
    parts = [*errors_text(results, his["table_2"]), *rates_text(results, his), *parts_text(results),
             *elements_text(results), *scattering_text(results, his), *systems_text(results, his["libparanumal"]),
             *beside_text(results)]
    failures = [f"{case['name']}: {case['failure']}\n" for case in results.cases if case["failure"]]
    commit = f", commit {result['commit'][:12]}" if result.get("commit") else ""
    return "\n".join([f"## {result['device']}\n", *parts, *failures, f"{result['date']}{commit}; `profiling/waves`.\n"])


def page(results, out, folder):
    """All devices, with the pictures that are there."""
    parts = [HEAD, "<!-- generated by profiling/waves --page -->\n"]
    for result in results:
        parts.append(tables(result))
        for name, title in FIGURES.items():
            path = os.path.join(out, measure.slug(result["device"]), name)
            if os.path.exists(path):
                parts.append(f"![{title}]({os.path.relpath(path, folder)})\n")
    return "\n".join([*parts, "<!-- end of the generated part -->\n"])
