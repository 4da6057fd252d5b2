#!/usr/bin/python3
"""Figures 5 to 7 of King 2014, speed-ups and unknowns, for one device.

    king2014_plot.py RESULTS DEVICE

RESULTS is profiling/results, DEVICE a folder in it with king2014.json. Draws RESULTS/DEVICE/king-stages.png (shares of
the stages), king-rates.png (GFlop/s, beside the roofs where operators.json or assembly.json is there), king-speedup.png
(where one core of the same machine is there), king-unknowns.png (where continuous.json is there). Needs matplotlib."""
import glob
import json
import os
import sys

sys.dont_write_bytecode = True
import king2014_beside
import king2014_page
import king2014_rates
import measure

COLOURS = ["#a1a1aa", "#0b5fa5", "#c2410c", "#15803d", "#7e22ce", "#b45309", "#0e7490"]
STACK = ["transfer", "local_matrices", "assembly", "trace_solve", "local_solve"]


def load(*path):
    path = os.path.join(*path)
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def plots():
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    return pyplot


def finish(figure, title, device, path):
    for axes in figure.axes:
        axes.set_axisbelow(True)
        axes.grid(color="#e4e4e7", linewidth=0.8)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
    figure.text(0.01, 0.91, device, fontsize=10, color="#52525b")
    figure.tight_layout(rect=(0, 0, 1, 0.91))
    figure.savefig(path, dpi=120)


def stack(axes, title, orders, times):
    """times: [stage][order]; bars of shares, with their sum in milliseconds above."""
    bottoms, sums = [0.0] * len(orders), [sum(column) for column in zip(*times)]
    for name, colour, row in zip(STACK, COLOURS, times):
        shares = [100 * t / s for t, s in zip(row, sums)]
        if any(shares):
            axes.bar(orders, shares, bottom=bottoms, color=colour, width=0.8,
                     label={"transfer": "transfer and loads"}.get(name) or king2014_rates.NAMES[name])
        bottoms = [b + s for b, s in zip(bottoms, shares)]
    for order, total in zip(orders, sums):
        axes.annotate(king2014_page.ms(1e-3 * total), (order, 101), ha="center", fontsize=7)
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("P")
    axes.set_xticks(list(orders))


def draw_stages(king, results, device, path):
    """Figure 5: his four stages, ours with either operator; 80 x 80 squares or the largest mesh."""
    pyplot, mesh = plots(), max(results.meshes)
    figure, panels = pyplot.subplots(1, 3, figsize=(12, 4.4), sharey=True)
    table = king[f"table_{king2014_beside.TABLE_OF_STAGES[mesh]}"]
    stack(panels[0], "King 2014, local matrices with the transfer", king["orders"],
          [[0] * 9] + [table[name] for name in STACK[1:]])
    for axes, operator in zip(panels[1:], ("ell", "matrix-free")):
        orders = [p for p in results.orders if results.at(mesh, p, operator)]
        stack(axes, f"kedge, {'assembled' if operator == 'ell' else operator}", orders,
              [[1e3 * king2014_page.seconds(results.at(mesh, p, operator), name) for p in orders] for name in STACK])
    panels[0].set_ylabel("per cent; numbers: milliseconds in all")
    panels[1].legend(framealpha=0.9, fontsize=8, loc="center left")
    finish(figure, f"Shares of the stages, {mesh} x {mesh} squares in halves", device, path)


def draw_rates(results, serial, pipeline, machine, device, path):
    """Figures 6a and 7 by order, 6b, and 6a and 7 under the roofs."""
    pyplot, mesh = plots(), max(results.meshes)
    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(16, 4.8))
    for (name, operator), colour in zip(king2014_rates.STAGES, COLOURS):
        points = []
        for order in results.orders:
            report = results.at(mesh, order, operator)
            warm = king2014_rates.warm_seconds(pipeline, mesh, order) if operator == "matrix-free" else None
            if report and king2014_rates.rate(report, name, warm):
                points.append((order, king2014_rates.intensity(report, name), king2014_rates.rate(report, name, warm)))
        if points:
            orders, intensities, rates = zip(*points)
            left.plot(orders, rates, marker="o", markersize=4, color=colour, label=king2014_rates.label(name, operator))
            right.plot(intensities, rates, marker="o", markersize=4, color=colour)
    if machine:
        bandwidth, peak = 1e-9 * machine["read_bytes_per_second"], 1e-9 * machine["flops_per_second"]
        low, high = 5e-3, 2e2
        right.plot([low, peak / bandwidth, high], [low * bandwidth, peak, peak], color="#18181b", linewidth=1.6,
                   label=f"roofs: {bandwidth:.0f} GB/s, {peak:.0f} GFlop/s")
        right.legend(frameon=False, fontsize=8, loc="lower right")
    for names, style, text in ((king2014_rates.WITHOUT, "-", ""), (king2014_rates.WITH, "--", ", with loads and transfer")):
        for source, colour, who in ((results, COLOURS[1], "this device"), (serial, COLOURS[2], "one core")):
            warm = pipeline if source is results else None
            pairs = [(p, source.at(mesh, p, "matrix-free")) for p in source.orders] if source else []
            points = [(p, king2014_rates.bandwidth(r, names, king2014_rates.warm_seconds(warm, mesh, p))) for p, r in pairs if r]
            if points:
                middle.plot(*zip(*points), marker="o", markersize=4, linestyle=style, color=colour, label=who + text)
    middle.set_xlabel("P")
    middle.set_yscale("log")
    middle.set_ylabel("GB/s of the local matrices")
    middle.legend(frameon=False, fontsize=7)
    left.plot(range(1, 10), [60] * 9, color="#18181b", linestyle=":", label="King's local matrices, at most")
    left.set_xlabel("P")
    right.set_xlabel("flop / byte, orders from left to right")
    right.set_xscale("log")
    for axes in (left, right):
        axes.set_yscale("log")
        axes.set_ylabel("GFlop/s")
    left.set_ylim(bottom=1e-2 * left.get_ylim()[0])  # room for the legend
    left.legend(frameon=False, fontsize=7, loc="lower right", ncol=2)
    finish(figure, f"Rates of the stages, {mesh} x {mesh} squares in halves", device, path)


def draw_speedup(results, serial, pipeline, sizes, device, path):
    """By stage on the largest mesh, and by mesh with the line at which a device begins to pay."""
    pyplot, mesh = plots(), max(results.meshes)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4.4))
    stages = [name for name, operator in king2014_rates.STAGES if operator == "matrix-free"]
    for name, colour in zip(stages, COLOURS):
        cases = [(p, serial.at(mesh, p, "matrix-free"), results.at(mesh, p, "matrix-free")) for p in results.orders]
        points = [(p, king2014_rates.stage_speedup(slow, fast, name, king2014_rates.warm_seconds(pipeline, mesh, p)))
                  for p, slow, fast in cases if slow and fast]
        left.plot(*zip(*points), marker="o", markersize=4, color=colour, label=king2014_rates.NAMES[name])
    for (order, points), colour in zip(sorted(sizes.items()), COLOURS):
        right.plot(*zip(*points), marker="o", markersize=4, color=colour, label=f"P = {order}")
    for order, colour in zip(results.orders if not sizes else [], COLOURS + COLOURS):
        pairs = [(2 * n * n, serial.at(n, order, "matrix-free"), results.at(n, order, "matrix-free"))
                 for n in results.meshes]
        right.plot([n for n, slow, fast in pairs if slow and fast],
                   [king2014_beside.his_time(slow) / king2014_beside.his_time(fast)
                    for _, slow, fast in pairs if slow and fast], marker="o", markersize=4, color=colour, label=f"P = {order}")
    for axes in (left, right):
        axes.axhline(1, color="#18181b", linewidth=0.8)
        axes.set_yscale("log")
        axes.legend(frameon=False, fontsize=8)
    left.set_xlabel(f"P, {mesh} x {mesh} squares in halves")
    right.set_xlabel("triangles")
    right.set_xscale("log")
    left.set_ylabel("times as fast as one core")
    finish(figure, "Speed-up over one core of the host, by stage and by mesh", device, path)


def draw_unknowns(continuous, device, path):
    pyplot = plots()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4.4))
    lines = [l for l in continuous["lines"] if "order" in l]
    mesh = max(l["squares"] for l in lines)
    own = sorted((l for l in lines if l["squares"] == mesh), key=lambda l: l["order"])
    for key, name, colour in (("dg_unknowns", "DG", COLOURS[1]), ("hdg_unknowns", "HDG", COLOURS[2]),
                              ("unknowns", "continuous, condensed", COLOURS[3])):
        left.plot([l["order"] for l in own], [l[key] for l in own], marker="o", markersize=4, color=colour, label=name)
    for squares, colour in zip(sorted({l["squares"] for l in lines}), COLOURS[1:]):
        points = sorted((l["order"], l["dg_unknowns"] / l["hdg_unknowns"]) for l in lines if l["squares"] == squares)
        right.plot(*zip(*points), marker="o", markersize=4, color=colour, label=f"{squares} x {squares}")
    orders = [l["order"] for l in own]
    right.plot(orders, [(p + 2) / 3 for p in orders], color="#18181b", linestyle=":", label="(P + 2) / 3")
    left.set_ylabel(f"unknowns, {mesh} x {mesh} squares in halves")
    right.set_ylabel("unknowns of DG / of HDG")
    for axes in (left, right):
        axes.set_xlabel("P")
        axes.legend(frameon=False, fontsize=8)
    finish(figure, "Unknowns of the global systems", device, path)


def main():
    folder, slug = sys.argv[1:]
    result = load(folder, slug, "king2014.json")
    if not result:
        sys.exit(f"king2014_plot.py: no king2014.json in {os.path.join(folder, slug)}")
    every = [load(path) for path in sorted(glob.glob(os.path.join(folder, "*", "king2014.json")))]
    results, serial = king2014_page.Results(result), king2014_beside.serial_of(every, result)
    roofs = load(folder, slug, "operators.json") or load(folder, slug, "assembly.json")
    pipeline, continuous = load(folder, slug, "pipeline.json"), load(folder, slug, "continuous.json")
    to = lambda name: os.path.join(folder, slug, f"king-{name}.png")
    king = king2014_beside.paper()
    if max(results.meshes) in king2014_beside.TABLE_OF_STAGES:
        draw_stages(king, results, result["device"], to("stages"))
    one = king2014_page.Results(serial) if serial and serial is not result else None
    draw_rates(results, one, pipeline, roofs["lines"][0] if roofs else None, result["device"], to("rates"))
    if one:
        pair = load(folder, slug, "sizes.json"), load(folder, measure.slug(serial["device"]), "sizes.json")
        sizes = king2014_rates.speedups_by_size(*pair) if all(pair) else {}
        draw_speedup(results, one, pipeline, sizes, result["device"], to("speedup"))
    if continuous:
        draw_unknowns(continuous, result["device"], to("unknowns"))


if __name__ == "__main__":
    main()
