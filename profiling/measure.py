"""What every measurement of kedge needs: the command, the machine, the commit, one timed run, a
file that is never half written."""
import datetime
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, "profiling", "results")
TIMEOUT = 600.0  # seconds


def give_up(sentence):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {sentence}")


def add_common_options(parser):
    parser.add_argument("--kedge", metavar="PATH",
                        help="the command (default: $KEDGE, else the newest in build/)")
    parser.add_argument("--backend", choices=["auto", "host", "cuda"], default="auto")
    parser.add_argument("--threads", type=int, default=0, metavar="N",
                        help="of the host (default: one a core)")
    parser.add_argument("--out", metavar="DIR", default=RESULTS,
                        help="results go to DIR/<device>/ (default: profiling/results)")
    parser.add_argument("--commit",
                        help="recorded with the results (default: what git says)")
    parser.add_argument("--timeout", type=float, metavar="S",
                        help=f"of one solve, in seconds (default {TIMEOUT:g}), and of one measuring program (default: none)")


def find_kedge(path):
    """The command as an absolute path."""
    path = path or os.environ.get("KEDGE")
    if not path:
        built = glob.glob(os.path.join(ROOT, "build", "*-release", "src", "cli", "kedge"))
        if not built:
            give_up("no kedge found: build it (./dev build) or name it with --kedge PATH")
        path = max(built, key=os.path.getmtime)
    if not os.access(path, os.X_OK):
        give_up(f"{path} cannot be executed; name the kedge command with --kedge PATH")
    return os.path.abspath(path)


def commit():
    """The commit of the tree, with "+" when its sources differ from it; None outside git."""
    def git(*arguments):
        return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    try:
        head = git("rev-parse", "HEAD")
        changed = git("status", "--porcelain", "--untracked-files=no",
                      "src", "include", "CMakeLists.txt", "cmake", "profiling", "meshes", ":!profiling/results")
    except FileNotFoundError:
        return None
    return None if head.returncode else head.stdout.strip() + ("+" if changed.stdout else "")


def ask_gpus(fields):
    """{field: text} of every GPU as nvidia-smi gives them; None without it."""
    try:
        answer = subprocess.run(["nvidia-smi", "--query-gpu=" + ",".join(fields),
                                 "--format=csv,noheader"],
                                capture_output=True, text=True, timeout=30)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    if answer.returncode:
        return None
    return [dict(zip(fields, line.split(", "))) for line in answer.stdout.splitlines()]


def gpu_state():
    """Driver, clocks and power limit; None without nvidia-smi."""
    return ask_gpus(["name", "driver_version", "clocks.max.sm", "clocks.max.memory", "power.limit"])


def gpu_memory_used():
    """Bytes in use on the first GPU, by whomever; None where nvidia-smi does not say."""
    answer = ask_gpus(["memory.used"])
    number = answer[0]["memory.used"].split()[0] if answer else ""  # "533 MiB", "[N/A]"
    return 2**20 * int(number) if number.isdecimal() else None


def header(kedge, options):
    """What a result file says about where it comes from."""
    info = subprocess.run([kedge, "info", "--json"], capture_output=True, text=True)
    if info.returncode:
        give_up(f"`{kedge} info --json` fails: {info.stderr.strip()}")
    return {"machine": json.loads(info.stdout),
            "nvidia_smi": gpu_state(),
            "load_average": os.getloadavg()[0],
            "environment": {name: value for name, value in os.environ.items()
                            if name.startswith(("OMP_", "GOMP_", "CUDA_VISIBLE"))},
            "commit": options.commit or commit(),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")}


def solve(kedge, problem, settings, options, environment=None):
    """One `kedge solve`, with more variables of the environment. Returns (report, None), or (None, sentence) when there
    is no report."""
    timeout = options.timeout or TIMEOUT
    command = [kedge, "solve", problem, "--quiet", "--backend", options.backend]
    if options.threads:
        command += ["--threads", str(options.threads)]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        try:
            done = subprocess.run(command + ["--report", path], capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=timeout,
                                  env={**os.environ, **(environment or {})})
        except subprocess.TimeoutExpired:
            return None, f"stopped after {timeout:g} s"
        if done.returncode not in (0, 3):  # 3: not converged, the report says so
            return None, done.stderr.strip() or f"exit code {done.returncode}"
        with open(path, encoding="utf-8") as file:
            return json.load(file), None


def device_of(kedge, options):
    """The name of the device by which kedge solves."""
    report, failure = solve(kedge, os.path.join(ROOT, "profiling", "cases", "helmholtz.ini"),
                            {"mesh.generate": "square 2", "space.order": 1}, options)
    if failure:
        give_up(f"{kedge}: {failure}")
    return report["backend"]["device"]


def earlier(options, device, experiment, head, **members):
    """The result that a run of the same commit on this device has left, where it has these members: one to go on with.
    None: there is none."""
    path = os.path.join(options.out, slug(device), f"{experiment}.json")
    if not os.path.exists(path) or head["commit"] in (None, "unknown"):
        return None
    with open(path, encoding="utf-8") as file:
        result = json.load(file)
    wanted = {"commit": head["commit"], **members}
    return result if all(result.get(name) == value for name, value in wanted.items()) else None


def slug(device):
    """A folder name: "NVIDIA H200" -> "h200"."""
    plain = re.sub(r"\((r|tm|c)\)|^nvidia ", "", device.lower())
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def write_text(path, text):
    """Replace the file at once or not at all."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    temporary = f"{path}.{os.getpid()}.part"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def write_json(path, value):
    """One member a line, and one line for each item of a list: short files, useful diffs."""
    def member(item):
        if not isinstance(item, list) or not item:
            return json.dumps(item)
        return "[\n" + ",\n".join("  " + json.dumps(entry) for entry in item) + "\n ]"
    lines = [f" {json.dumps(name)}: {member(item)}" for name, item in value.items()]
    write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")
