"""What experiments that run measuring programs share: the build beside the kedge command, the backend, a python with
matplotlib, the generated part of a page."""
import glob
import json
import os
import shlex
import subprocess
import sys
import threading

import measure


def add_build_option(parser):
    parser.add_argument("--no-build", action="store_true",
                        help="run the programs as they are beside the kedge command, which may have been built elsewhere")


def add_add_option(parser, what):
    parser.add_argument("--add", action="store_true",
                        help=f"keep the {what} of the result that is there which are not measured again")


def stamp(head):
    """When and with which commit a case was measured, for results that several runs have made."""
    return {"date": head["date"], "commit": head["commit"]}


def kept_cases(path, key, measured, options):
    """With --add, the cases of an earlier result whose keys are not in `measured`; each says when it was made."""
    if not options.add or not os.path.exists(path):
        return []
    before = read(path)
    return [{**stamp(before), **case} for case in before["cases"] if key(case) not in measured]


def origins(cases, name=None):
    """The dates and commits of cases, each once; with the names, name(case), of those that are not of the most common one."""
    found = {}
    for case in cases:
        found.setdefault((case["date"], case["commit"]), []).append(case)
    most = max(found, key=lambda origin: len(found[origin]), default=None)

    def text(origin):
        date, commit = origin
        names = f" ({', '.join(map(name, found[origin]))})" if name and origin != most else ""
        return date + (f", commit {commit[:10]}" if commit else "") + names
    return "; ".join(map(text, found))


def build_folder(kedge, options):
    folder = os.path.dirname(os.path.dirname(os.path.dirname(kedge)))
    if not options.no_build and not os.path.exists(os.path.join(folder, "CMakeCache.txt")):
        measure.give_up(f"{kedge} is in no build folder: build it (./dev build) and name that one with --kedge PATH")
    return folder


def choose_backend(kedge, asked):
    """"cuda" or "host"; `auto` is what kedge would take."""
    if asked != "auto":
        return asked
    info = subprocess.run([kedge, "info", "--json"], capture_output=True, text=True)
    if info.returncode:
        measure.give_up(f"`{kedge} info --json` fails: {info.stderr.strip()}")
    return "cuda" if json.loads(info.stdout)["cuda"]["gpus"] else "host"


def build(folder, programs, options):
    """Build the programs beside the command; with --no-build they have to be there."""
    if options.no_build:
        missing = [program for program in programs if not os.access(os.path.join(folder, "profiling", program), os.X_OK)]
        if missing:
            measure.give_up(f"{folder}/profiling has no program {' and no '.join(missing)}: leave out --no-build")
        return
    for program in programs:
        done = subprocess.run(["cmake", "--build", folder, "--target", program], capture_output=True, text=True)
        if done.returncode:
            measure.give_up(f"`cmake --build {folder} --target {program}` fails:\n{done.stdout}{done.stderr}")


def run_lines(command, options, take, environment=None):
    """Run a program whose lines are JSON, with --threads and at most for --timeout; take(line) gets each as it comes, what
    the program says on stderr is passed on. Returns None, or why it failed."""
    threads = {"OMP_NUM_THREADS": str(options.threads)} if options.threads else {}
    said, late = [], threading.Event()

    def listen(stream):
        for line in stream:
            said.append(line.strip())
            sys.stderr.write(line)

    def stop():
        late.set()
        running.terminate()

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **threads, **(environment or {})}) as running:
        timer = threading.Timer(options.timeout or threading.TIMEOUT_MAX, stop)
        timer.daemon = True
        timer.start()
        listener = threading.Thread(target=listen, args=(running.stderr,))
        listener.start()
        for line in running.stdout:
            if line.endswith("}\n"):  # the last line of a program that was stopped may not be whole
                take(json.loads(line))
        listener.join()
    timer.cancel()
    if late.is_set():
        return f"stopped after {options.timeout:g} s"
    return (said[-1] if said else f"exit code {running.returncode}") if running.returncode else None


def shown(command):
    return shlex.join(os.path.basename(word) if word.startswith("/") else word for word in command)


def write_result(result, options):
    path = os.path.join(options.out, measure.slug(result["device"]), f"{result['experiment']}.json")
    measure.write_json(path, result)
    return path


def record(experiment, command, head, options, environment=None):
    """Run a program whose lines are JSON; they go into DIR/<device>/<experiment>.json as they come. Returns (path or
    None, failed)."""
    result = {"experiment": experiment, **head, "device": None, "complete": False, "command": shown(command), "lines": []}

    def take(line):
        result["lines"].append(line)
        result["device"] = result["lines"][0]["device"]
        write_result(result, options)

    failure = run_lines(command, options, take, environment)
    if failure:
        print(f"{experiment}: {failure}", file=sys.stderr)
    result["complete"] = failure is None
    return write_result(result, options) if result["lines"] else None, failure is not None


def record_parts(experiment, commands, device, head, options, resume=True, environment=None):
    """record() of several commands {part: command} into one result, whose lines say their part. With `resume` the parts
    that a stopped run of the same commit and commands has finished are kept. Returns whether a part failed."""
    command = "; ".join(shown(command) for command in commands.values())
    before = measure.earlier(options, device, experiment, head, command=command) if resume else None
    result = {"experiment": experiment, **head, "device": device, "complete": False, "command": command, "parts": [],
              "lines": []}
    if before:
        result = {**before, "lines": [l for l in before["lines"] if "device" in l or l["part"] in before["parts"]]}

    def take(line, part):
        if "device" not in line:
            result["lines"].append({**line, "part": part})
        elif line["device"] != device:
            raise ValueError(f"{experiment} runs on {line['device']}, not on {device}")
        elif not result["lines"]:
            result["lines"].append(line)
        write_result(result, options)

    failed = False
    for part, words in commands.items():
        if part in result["parts"]:
            print(f"{experiment} {part}: there", flush=True)
            continue
        failure = run_lines(words, options, lambda line, part=part: take(line, part), environment)
        if failure:
            print(f"{experiment} {part}: {failure}", file=sys.stderr)
            failed = True
        else:
            result["parts"].append(part)
        result["complete"] = len(result["parts"]) == len(commands)
        write_result(result, options)
    return failed


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def read_all(options, experiment):
    """The results of all devices."""
    paths = sorted(glob.glob(os.path.join(options.out, "*", f"{experiment}.json")))
    if not paths:
        measure.give_up(f"no */{experiment}.json in {options.out}: measure first")
    return [read(path) for path in paths]


def origin(result):
    commit = f"Commit {result['commit'][:12]}, " if result.get("commit") else ""
    return f"{commit}{result['date']}; `{result['command']}`.\n"


def python_with_matplotlib():
    """This python or the system's, whichever has matplotlib; None: neither, which is said."""
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            if subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode == 0:
                return python
        except FileNotFoundError:
            pass
    print("no matplotlib (Debian and Ubuntu: python3-matplotlib), tables only", file=sys.stderr)
    return None


def with_matplotlib(program, arguments):
    """Run a program that draws, where that is possible."""
    python = python_with_matplotlib()
    if python:
        subprocess.run([python, program, *arguments], check=True)


def insert(text, begin, end, generated):
    """The page with the part between the marks replaced; None without the marks."""
    before, first, rest = text.partition(begin)
    _, last, after = rest.partition(end)
    return f"{before}{begin}\n\n{generated}\n{end}{after}" if first and last else None


def replace_between(page, begin, end, generated):
    with open(page, encoding="utf-8") as file:
        text = insert(file.read(), begin, end, generated)
    if text is None:
        measure.give_up(f"{page} has no lines '{begin}' and '{end}'")
    measure.write_text(page, text)
