#!/usr/bin/python3
"""Tables and pictures of a comparison of trace operators.

    plot_compare.py compare.json [--pictures DIR] [--table FILE.md]

The file is what profiling/compare_run writes, or the lines of the program `compare`. Pictures
(compare-time.png, compare-memory.png) need matplotlib (Debian and Ubuntu: python3-matplotlib); the
table needs nothing.
"""
import argparse
import json
import math
import os
import sys

sys.dont_write_bytecode = True

# Operator: name in tables, colour, marker, line width. kedge's own strong, baselines paler,
# cuSPARSE grey.
STYLES = {
    "matrix-free": ("matrix-free", "#0b5fa5", "o", 2.6),
    "matrix-free-reduced": ("matrix-free, reduced", "#08306b", "o", 2.6),
    "matrix-free-plain": ("matrix-free, plain", "#7db4de", "o", 1.5),
    "block-ell": ("block-ELL", "#c2410c", "s", 1.5),
    "ell": ("ELL", "#f0913a", "s", 1.5),
    "cusparse-bsr": ("cuSPARSE BSR", "#3f3f46", "^", 1.5),
    "cusparse-csr": ("cuSPARSE CSR", "#71717a", "v", 1.5),
    "cusparse-sell": ("cuSPARSE sliced ELL", "#a1a1aa", "D", 1.5),
}
OWN = ("matrix-free", "matrix-free-reduced", "matrix-free-plain")  # the others are assembled matrices


class Comparison:
    """The fastest variant of every operator: apply[operator][order], iteration[operator][order];
    and what could not be measured, kept for its memory."""

    def __init__(self, lines):
        self.machine = lines[0]
        self.apply, self.iteration, self.memory, self.skipped = {}, {}, {}, []
        for line in lines[1:]:
            operator, order = line["operator"], line["order"]
            self.memory.setdefault(operator, {})[order] = line
            if "skipped" in line:
                self.skipped.append(line)
                continue
            kind = self.iteration if line["measure"] == "cg_iteration" else self.apply
            best = kind.setdefault(operator, {}).get(order)
            if best is None or line["seconds"] < best["seconds"]:
                kind[operator][order] = line
        self.orders = sorted({line["order"] for line in lines[1:]})
        self.operators = [name for name in STYLES if name in self.memory]

    def ratio(self, operator, order, kind=None):
        """Its time in times of matrix-free; None when one of them is missing."""
        kind = kind or self.apply
        own, other = kind.get("matrix-free", {}).get(order), kind.get(operator, {}).get(order)
        return other["seconds"] / own["seconds"] if own and other else None

    def best_assembled(self, order):
        ratios = [(self.ratio(name, order), name) for name in self.apply if name not in OWN]
        return min((pair for pair in ratios if pair[0]), default=(None, None))


def read_json(path):
    """The file as one value; None: it holds several, one a line."""
    with open(path, encoding="utf-8") as file:
        try:
            return json.load(file)
        except json.JSONDecodeError:
            return None


def read_lines(path):
    """The line of the machine and those of measurements, from a result or from lines of JSON."""
    result = read_json(path)
    if result:
        lines = result["lines"] if "lines" in result else [result]
    else:
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.strip()]
    if len(lines) < 2:
        sys.exit(f"{path} holds no measurement")
    return lines


def read(path):
    return Comparison(read_lines(path))


def cell(value, form):
    return form.format(value) if value is not None else ""


def markdown(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---:|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def time_table(c):
    """One application: matrix-free in microseconds, the others in times of it."""
    others = [name for name in c.operators if name != "matrix-free"]
    rows = []
    for order in c.orders:
        own = c.apply.get("matrix-free", {}).get(order)
        row = [str(order), cell(own and 1e6 * own["seconds"], "{:.1f}"),
               cell(own and own["share_of_floor"], "{:.2f}")]
        row += [cell(c.ratio(name, order), "{:.2f}") for name in others]
        rows.append(row + [cell(c.best_assembled(order)[0], "{:.2f}")])
    heads = ["P", "matrix-free, us", "share of its floor", *[STYLES[name][0] for name in others],
             "best assembled"]
    return markdown(heads, rows)


def short_table(c):
    """What README shows of it."""
    others = ("block-ell", "ell", "cusparse-csr")
    rows = [[str(order), cell(c.apply.get("matrix-free", {}).get(order, {}).get("share_of_floor"), "{:.2f}"),
             *(cell(c.ratio(name, order), "{:.2f}") for name in others)] for order in (1, 4, 9)]
    return markdown(["P", "matrix-free, share of its bandwidth floor", "block-ELL", "ELL of King 2014", "cuSPARSE CSR"], rows)


FORMS = ("matrix-free", "matrix-free-reduced")  # with and without reaction


def forms_table(c):
    """Assembled forms in times of packed and of reduced K^e, and what the bytes of the two allow."""
    others = [name for name in ("block-ell", "ell", "cusparse-csr") if name in c.apply]
    if not others or any(name not in c.apply for name in FORMS):
        return ""
    rows = []
    for order in c.orders:
        row = [str(order)]
        for form in FORMS:
            for name in others:
                own, other = c.apply[form].get(order), c.apply[name].get(order)
                row.append(f"{other['seconds'] / own['seconds']:.2f} / {other['bytes'] / own['bytes']:.2f}"
                           if own and other else "")
        rows.append(row)
    heads = ["P", *[f"{STYLES[name][0]}, to {kept}" for kept in ("packed", "reduced") for name in others]]
    return ("What `operator = matrix-free` gains: packed K^e are read with reaction, reduced ones without. Time of the "
            "other form in times of that / bytes of the other in times of its bytes.\n\n" + markdown(heads, rows))


def iteration_table(c):
    rows = []
    for order in c.orders:
        pair = [c.iteration.get(name, {}).get(order) for name in ("matrix-free", "ell")]
        row = [str(order)]
        for line in pair:
            row += [cell(line and 1e6 * line["seconds"], "{:.1f}"),
                    cell(line and line["share_of_floor"], "{:.2f}")]
        rows.append(row + [cell(c.ratio("ell", order, c.iteration), "{:.2f}")])
    heads = ["P", "matrix-free, us", "share", "ELL, us", "share", "ELL / matrix-free"]
    return markdown(heads, rows)


def memory_table(c):
    """Bytes a triangle of a whole solve, and millions of triangles that fit."""
    rows = []
    for order in c.orders:
        row = [str(order)]
        for name in c.operators:
            line = c.memory[name].get(order)
            row.append(f"{line['solve_bytes'] / line['elements']:.0f} / "
                       f"{1e-6 * line['largest_elements']:.1f}" if line else "")
        rows.append(row)
    return markdown(["P", *[STYLES[name][0] for name in c.operators]], rows)


def variants_text(c):
    """Which variant was the fastest, by order."""
    parts = []
    for name in c.operators:
        orders = {}
        for order, line in sorted(c.apply.get(name, {}).items()):
            orders.setdefault(line["variant"], []).append(str(order))
        if len(orders) > 1:
            variants = [f"{variant} (P {', '.join(p)})" for variant, p in orders.items()]
            parts.append(f"{STYLES[name][0]}: " + "; ".join(variants))
    return "Fastest variants. " + ". ".join(parts) + ".\n" if parts else ""


def errors_text(c):
    errors = [line["error_against_host"] for kind in c.apply.values() for line in kind.values()]
    known = [error for error in errors if error is not None]
    if not known:
        return "Not checked against the host.\n"
    return f"Largest distance from the host's product: {max(known):.1e} (relative, l2).\n"


def skipped_text(c):
    """What could not be measured and why, one line for all orders."""
    orders = {}
    for line in c.skipped:
        key = STYLES[line["operator"]][0], line["variant"], line["skipped"]
        orders.setdefault(key, []).append(str(line["order"]))
    items = [f"- {name}, {variant}, P {', '.join(p)}: {reason}"
             for (name, variant, reason), p in orders.items()]
    return "Not measured:\n\n" + "\n".join(items) + "\n" if items else ""


def cusparse_text(number):
    return f", cuSPARSE {number // 10000}.{number // 100 % 100}.{number % 100}" if number else ""


def tables(c):
    m = c.machine
    head = (f"### {m['device']}\n\n{m['elements']} triangles (`{m['mesh']}`), "
            f"reads {1e-9 * m['read_bytes_per_second']:.0f} GB/s, "
            f"{1e-12 * m['flops_per_second']:.1f} TFlop/s in double precision, "
            f"{1e-9 * m['free_bytes']:.1f} GB of free memory{cusparse_text(m.get('cusparse'))}.\n")
    parts = [head,
             "One application: matrix-free in microseconds and as share of its floor, "
             "the others in times of it.\n",
             time_table(c), forms_table(c), variants_text(c), errors_text(c),
             "One iteration of conjugate gradients.\n", iteration_table(c),
             "Memory of a solve: bytes a triangle of this mesh / "
             "millions of triangles that fit this GPU.\n",
             memory_table(c), skipped_text(c)]
    return "\n".join(part for part in parts if part)


def spread(values, gap):
    """Positions in [0, 1] for labels near `values`, `gap` apart, order kept."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    placed = [values[i] for i in order]
    for _ in range(200):
        for k in range(1, len(placed)):
            lack = gap - (placed[k] - placed[k - 1])
            if lack > 0:
                placed[k - 1] -= lack / 2
                placed[k] += lack / 2
        placed = [min(max(at, k * gap), 1 - (len(placed) - 1 - k) * gap)
                  for k, at in enumerate(placed)]
    result = [0.0] * len(values)
    for k, i in enumerate(order):
        result[i] = placed[k]
    return result


def joined(ends):
    """Labels of lines that end within 2 % of each other become one."""
    result = []
    for text, colour, width, point in sorted(reversed(ends), key=lambda end: -end[3][1]):
        if result and result[-1][3][1] < 1.02 * point[1]:
            result[-1] = (f"{result[-1][0]}, {text}", *result[-1][1:])
        else:
            result.append((text, colour, width, point))
    return result


def set_axes(axes, log, bottom):
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
    if log:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    if bottom is not None:
        axes.set_ylim(bottom=bottom)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("polynomial order P")
    axes.grid(axis="y", color="#e4e4e7", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw_lines(axes, c, series, log, bottom=None, join=False):
    """Lines by order with their names at the right end. series: operator -> {order: value}."""
    ends = []
    for name in reversed(c.operators):
        points = sorted(series.get(name, {}).items())
        if points:
            text, colour, marker, width = STYLES[name]
            axes.plot(*zip(*points), color=colour, marker=marker, linewidth=width,
                      markersize=4.5 if width < 2 else 6)
            ends.append((text, colour, width, points[-1]))
    set_axes(axes, log, bottom)
    if join:
        ends = joined(ends)
    low, high = axes.get_ylim()
    scale = math.log if log else float
    fractions = [(scale(point[1]) - scale(low)) / (scale(high) - scale(low)) for *_, point in ends]
    for (text, colour, width, point), at in zip(ends, spread(fractions, 0.052)):
        axes.annotate(text, xy=point, xytext=(1.04, at), textcoords="axes fraction", color=colour,
                      fontsize=9, va="center", fontweight="bold" if width > 2 else "normal",
                      arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6,
                                  "shrinkA": 0, "shrinkB": 4, "relpos": (0, 0.5)})


def subtitle(c):
    elements = f"{c.machine['elements'] / 1e6:.1f} million triangles"
    return f"{c.machine['device']}, {elements}, double precision"


def finish(figure, path, title, c):
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
    figure.text(0.01, 0.905, subtitle(c), fontsize=10, color="#52525b")
    figure.tight_layout(rect=(0, 0, 1, 0.91), w_pad=3)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    figure.savefig(path, dpi=150)


def series_of(kind, key, factor=1.0):
    return {name: {order: factor * line[key] for order, line in lines.items()}
            for name, lines in kind.items()}


def draw_time(c, path):
    from matplotlib import pyplot
    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(15, 5.2),
                                                    gridspec_kw={"width_ratios": [1, 1, 0.8]})
    draw_lines(left, c, series_of(c.apply, "seconds", 1e3), log=True)
    left.set_title("time of one application, ms", loc="left", fontsize=10)
    ratios = {name: {p: c.ratio(name, p) for p in lines if c.ratio(name, p)}
              for name, lines in c.apply.items()}
    draw_lines(middle, c, ratios, log=False, bottom=0)
    middle.set_title("the same, in times of matrix-free", loc="left", fontsize=10)
    draw_lines(right, c, series_of(c.iteration, "seconds", 1e3), log=True)
    for name, lines in series_of(c.iteration, "floor_seconds", 1e3).items():
        right.plot(*zip(*sorted(lines.items())), color=STYLES[name][1], linewidth=1, linestyle=":")
    right.set_title("one CG iteration, ms (dotted: its floor)", loc="left", fontsize=10)
    ratios = [ratio for ratio, _ in map(c.best_assembled, c.orders) if ratio]
    title = "Applying the trace operator"
    if ratios and min(ratios) > 1:
        title += (f": matrix-free is {min(ratios):.1f} to {max(ratios):.1f} times as fast as the "
                  "best assembled matrix")
    finish(figure, path, title, c)


def draw_memory(c, path):
    from matplotlib import pyplot
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 5.2))
    for axes, values, title in (
            (left, {n: {p: line["solve_bytes"] / line["elements"] for p, line in lines.items()}
                    for n, lines in c.memory.items()},
             "device memory of a solve, bytes a triangle"),
            (right, series_of(c.memory, "largest_elements", 1e-6),
             "largest mesh that fits, million triangles")):
        draw_lines(axes, c, values, log=True, join=True)
        axes.set_title(title, loc="left", fontsize=10)
    free = 1e-9 * c.machine["free_bytes"]
    finish(figure, path, f"What a solve needs, and what fits into {free:.0f} GB", c)


def draw(c, folder):
    """Both pictures. Raises ImportError without matplotlib."""
    import matplotlib
    matplotlib.use("Agg")
    draw_time(c, os.path.join(folder, "compare-time.png"))
    draw_memory(c, os.path.join(folder, "compare-memory.png"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", help="result of compare_run, or the output of compare")
    parser.add_argument("--pictures", metavar="DIR",
                        help="write compare-time.png and compare-memory.png there")
    parser.add_argument("--table", metavar="FILE",
                        help="write the tables in Markdown there (default: to the terminal)")
    options = parser.parse_args()
    comparison = read(options.file)
    if options.table:
        with open(options.table, "w", encoding="utf-8") as file:
            file.write(tables(comparison))
    else:
        print(tables(comparison), end="")
    if options.pictures:
        try:
            draw(comparison, options.pictures)
        except ImportError as missing:
            sys.exit(f"plot_compare.py: {missing}; install python3-matplotlib")


if __name__ == "__main__":
    main()
