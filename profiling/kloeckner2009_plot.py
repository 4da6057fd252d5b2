#!/usr/bin/python3
"""Figures 8 to 12 of Kloeckner 2009 for one device: kloeckner2009_plot.py DIR/<device>/waves.json. Draws beside the
file waves-rates.png, waves-parts.png, waves-blocks.png, waves-elements.png and waves-scattering.png, those for which
there are results. Needs matplotlib."""
import os
import sys

sys.dont_write_bytecode = True
import king2014_plot
import kloeckner2009_page
import programs
import waves_cases

COLOURS = king2014_plot.COLOURS
PARTS = kloeckner2009_page.PARTS


def draw_rates(results, device, path):
    fast, core = results.by_order("maxwell single"), results.by_order("core")
    if not fast:
        return
    pyplot = king2014_plot.plots()
    figure, panels = pyplot.subplots(1, 2, figsize=(10, 4.2))
    for lines, name, colour in ((fast, "kedge", COLOURS[1]), (core, "one core", COLOURS[2])):
        orders = sorted(lines)
        rates = [1e-9 * lines[order]["unknowns_per_second"] for order in orders]
        panels[0].semilogy(orders, rates, "o-", color=colour, label=name)
        panels[1].semilogy(orders, [rate * kloeckner2009_page.flops(order) for rate, order in zip(rates, orders)], "o-",
                           color=colour, label=name)
    panels[1].axhline(kloeckner2009_page.paper()["most_gflops"], color=COLOURS[0], linestyle=":", label="GTX 280, 2009")
    panels[0].set_title("10^9 unknowns a second and stage", fontsize=10)
    panels[1].set_title("GFlop/s by dense products", fontsize=10)
    panels[1].legend(fontsize=8)
    for axes in panels:
        axes.set_xlabel("N")
    king2014_plot.finish(figure, "Rates by order", device, path)


def draw_parts(results, device, path):
    lines = [results.by_order("parts", name) for name in PARTS]
    orders = sorted(lines[0])
    if not orders:
        return
    pyplot = king2014_plot.plots()
    figure, panels = pyplot.subplots(1, 3, figsize=(12, 4.2))
    bottoms = [0.0] * len(orders)
    for name, own, colour in zip(PARTS, lines, COLOURS[1:]):
        sums = [sum(part[order]["seconds"] for part in lines) for order in orders]
        shares = [100 * own[order]["seconds"] / total for order, total in zip(orders, sums)]
        panels[0].bar(orders, shares, bottom=bottoms, color=colour, label=name)
        bottoms = [b + s for b, s in zip(bottoms, shares)]
        panels[1].semilogy(orders, [own[order]["gflops"] for order in orders], "o-", color=colour)
        panels[2].semilogy(orders, [own[order]["gbytes"] for order in orders], "o-", color=colour)
    panels[0].legend(fontsize=8)
    for axes, title in zip(panels, ("share of time, per cent", "GFlop/s", "GB/s")):
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("N")
    king2014_plot.finish(figure, "Parts of a stage, in kernels of their own", device, path)


def draw_blocks(results, device, path):
    lines = {name: results.by_order("parts", name) for name in [*PARTS, "one"]}
    if not lines["one"]:
        return
    order = min(lines["one"], key=lambda own: abs(own - 4))
    figure, axes = king2014_plot.plots().subplots(figsize=(7, 4.2))
    for (name, own), colour in zip(lines.items(), COLOURS[1:]):
        sizes, seconds = zip(*own[order]["blocks"])
        axes.loglog(sizes, [1e3 * value for value in seconds], "o-", color=colour, label=name)
    axes.set_xlabel("elements of a block")
    axes.set_ylabel("ms")
    axes.legend(fontsize=8)
    king2014_plot.finish(figure, f"Sizes of blocks, N = {order}", device, path)


def draw_elements(results, device, path):
    lines = sorted(results.lines("elements", "steps"), key=lambda line: line["elements"])
    if not lines:
        return
    figure, axes = king2014_plot.plots().subplots(figsize=(7, 4.2))
    axes.semilogx([line["elements"] for line in lines], [1e-9 * line["unknowns_per_second"] for line in lines], "o-",
                  color=COLOURS[1])
    axes.set_xlabel("elements")
    axes.set_ylabel("10^9 unknowns a second and stage")
    axes.set_ylim(bottom=0)
    king2014_plot.finish(figure, f"Size of the mesh, N = {lines[0]['order']}", device, path)


def draw_scattering(results, device, path):
    lines = results.lines("scattering", "run")
    if not lines or not lines[0].get("plane"):
        return
    line = lines[0]
    step = waves_cases.WIDTH / line["order"]
    total = [[float("nan") if value is None else 1e-3 * value + waves_cases.incident(step * i, line["end"])
              for i, value in enumerate(row)] for row in line["plane"]]
    width, height, _ = (waves_cases.WIDTH * number for number in waves_cases.CUBES)
    figure, axes = king2014_plot.plots().subplots(figsize=(8, 5.6))
    axes.set_facecolor("#3f3f46")
    image = axes.imshow(total, origin="lower", cmap="RdBu_r", vmin=-2, vmax=2, interpolation="bilinear", zorder=3,
                        extent=(0, width, 0, height))
    figure.colorbar(image, label="Ey")
    title = f"Ey at t = {line['end']:g}, {line['elements']:,} elements, N = {line['order']}"
    king2014_plot.finish(figure, title, device, path)


DRAW = {"rates": draw_rates, "parts": draw_parts, "blocks": draw_blocks, "elements": draw_elements,
        "scattering": draw_scattering}


def main():
    result = programs.read(sys.argv[1])
    results, folder = kloeckner2009_page.Results(result), os.path.dirname(sys.argv[1])
    for name, draw in DRAW.items():
        draw(results, result["device"], os.path.join(folder, f"waves-{name}.png"))


if __name__ == "__main__":
    main()
