#!/usr/bin/python3
"""Pictures of what preconditioners take, from the result of profiling/multigrid.

    plot_multigrid.py multigrid.json FOLDER

Draws FOLDER/multigrid-iterations.png and FOLDER/multigrid-time.png, against the number of triangles. Needs matplotlib
(Debian and Ubuntu: python3-matplotlib).
"""
import json
import os
import sys

# Preconditioner: title, line, marker.
STYLES = {"jacobi": ("Jacobi", "--", "s"), "multigrid": ("multigrid", "-", "o"),
          "mixed": ("multigrid, mixed precision", ":", "D")}
COLOURS = ["#0b5fa5", "#c2410c", "#3f7d20", "#7c3aed", "#3f3f46", "#b45309", "#0e7490", "#be185d", "#71717a"]


def lines_of(result, value):
    """{(preconditioner, order): [(triangles, value)]} of the solves that converged."""
    lines = {}
    for case in result["cases"]:
        report = case["report"]
        if report and report["solver"]["converged"]:
            lines.setdefault((case["preconditioner"], case["order"]), []).append(
                (report["mesh"]["elements"], value(report)))
    return lines


def trace_seconds(report):
    stages = {s["name"]: s["seconds"] for s in report["stages"]}
    return stages["assembly"] + stages["trace_solve"]


def draw(result, lines, title, label, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(7.2, 4.8))
    orders = sorted({order for _, order in lines})
    for (name, order), points in lines.items():
        _, line, marker = STYLES[name]
        axes.plot(*zip(*sorted(points)), color=COLOURS[orders.index(order) % len(COLOURS)], linestyle=line,
                  marker=marker, markersize=4.5, linewidth=1.6)
    entries = [pyplot.Line2D([], [], color=COLOURS[i % len(COLOURS)], label=f"P = {p}") for i, p in enumerate(orders)]
    entries += [pyplot.Line2D([], [], color="#52525b", linestyle=line, marker=marker, markersize=4.5, label=text)
                for name, (text, line, marker) in STYLES.items() if any(name == key for key, _ in lines)]
    axes.legend(handles=entries, frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("triangles")
    axes.set_ylabel(label)
    axes.grid(color="#e4e4e7", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
    figure.text(0.01, 0.9, result["device"], fontsize=10, color="#52525b")
    figure.tight_layout(rect=(0, 0, 1, 0.91))
    figure.savefig(path, dpi=150)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        result = json.load(file)
    draw(result, lines_of(result, lambda report: report["solver"]["iterations"]),
         "Iterations against the size of the mesh", "iterations",
         os.path.join(sys.argv[2], "multigrid-iterations.png"))
    draw(result, lines_of(result, trace_seconds), "Time of set-up and trace solve", "seconds",
         os.path.join(sys.argv[2], "multigrid-time.png"))


if __name__ == "__main__":
    main()
