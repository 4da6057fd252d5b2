"""The picture of `kedge solve --picture`, which runs main() with the argument FILE.png: draws u_star of the output file
that is open as descriptor 3; without FILE it says whether it could. What fails is one sentence on standard output."""
import io
import os
import shutil
import sys

OUTPUT = "/dev/fd/3"


def draw(path):
    import kedge
    from kedge.arguments import package
    package("matplotlib", "--picture").use("Agg")
    if path is None:
        return
    from matplotlib.figure import Figure
    picture = io.BytesIO()  # in memory first, so that a file is there whole or not at all
    figure = Figure(figsize=(8, 6), layout="constrained")
    output = kedge.read(OUTPUT, backend="host")
    output.plot(ax=figure.add_subplot(projection="3d" if output.mesh.info["dimension"] == 3 else None))
    figure.savefig(picture, format="png", dpi=150, bbox_inches="tight")
    folder, name = os.path.split(path)
    partial = os.path.join(folder, f".{name}.{os.getpid()}.partial")
    try:
        with open(partial, "wb") as file:
            file.write(picture.getbuffer())
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(path):
            shutil.copymode(path, partial)  # who may read it stays
        os.replace(partial, path)
    finally:
        if os.path.exists(partial):
            os.unlink(partial)


def main():
    try:
        draw(*(sys.argv[1:] or [None]))
    except Exception as failure:
        print(" ".join(str(failure).split()) or type(failure).__name__)
        return 1
    return 0
