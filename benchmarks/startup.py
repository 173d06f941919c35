"""How long whole `dof` processes take on the sample gazette, and where a run's time goes before it can answer.

    python benchmarks/startup.py [--rounds 10] [--python PATH]... [--json FILE]

`--python` is the interpreter of an installation; several are run in turn, so that a slow minute of the machine is
shared by all of them. The index of the sample is built by a first run that is not timed. `shares` come from two more
runs: what Python itself reports of imports, and one in which every compiling of a pattern and every parsing of a TOML
file is timed. What a module compiles when it is imported counts in both.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUESTION = "¿Cuál es el valor diario de la Unidad de Cuenta Social para 2025 en la Zona Ribereña?"
START = "from dofrag.cli.main import main; main()"
TIMED = """
import re, re._compiler as engine, sys, time, tomllib
spent = {"patterns": [0, 0.0], "toml": [0, 0.0]}
def timed(call, name):
    def wrapped(*args, **kwargs):
        start = time.perf_counter()
        try:
            return call(*args, **kwargs)
        finally:
            spent[name][0] += 1
            spent[name][1] += time.perf_counter() - start
    return wrapped
engine.compile = timed(engine.compile, "patterns")
tomllib.loads = timed(tomllib.loads, "toml")
begun = time.perf_counter()
from dofrag.cli.main import main
try:
    main()
finally:
    taken = time.perf_counter() - begun
    print("SPENT", *(f"{n} {s * 1000:.1f}" for n, s in spent.values()), f"{taken * 1000:.1f}", file=sys.stderr)
"""


def environment() -> dict[str, str]:
    """Without what would send the commands to another index, and with bytecode kept, as an installation has it."""
    return {k: v for k, v in os.environ.items() if not k.startswith("DOF_") and k != "PYTHONDONTWRITEBYTECODE"}


def commands(traces: str) -> dict[str, list[str]]:
    return {"dof --help": ["--help"], "dof run": ["run", "--question", QUESTION, "--quiet", "--trace-dir", traces]}


def once(python: str, code: str, arguments: list[str], flags: tuple[str, ...] = ()) -> tuple[float, float, str]:
    """Seconds of processor, seconds of wall clock, and what went to stderr. Anything but an answer stops it all.
    `-P`: what is installed is timed, not what stands in the current folder."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [python, "-P", *flags, "-c", code, *arguments], env=environment(), capture_output=True, text=True, check=True
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall, done.stderr


def shares(python: str, run: list[str]) -> dict[str, float]:
    """Of one run: milliseconds in imports, in compiling patterns and in parsing TOML, and how many of each."""
    imports = re.findall(r"^import time: +(\d+) \|", once(python, START, run, ("-X", "importtime"))[2], re.M)
    spent = re.search(r"^SPENT (.+)$", once(python, TIMED, run)[2], re.M)
    assert spent is not None
    patterns, patterns_ms, files, toml_ms, run_ms = map(float, spent[1].split())
    return {
        "run_ms": run_ms, "modules": len(imports), "imports_ms": sum(map(int, imports)) / 1000,
        "patterns": patterns, "patterns_ms": patterns_ms, "toml_files": files, "toml_ms": toml_ms,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--python", action="append", help="interpreter of an installation; repeatable")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    pythons = args.python or [sys.executable]
    report: dict[str, dict[str, object]] = {python: {} for python in pythons}
    with tempfile.TemporaryDirectory() as traces:
        print(f"{'command':12} {'cpu min':>8} {'median':>8} {'wall min':>9} {'median':>8}  seconds")
        for name, arguments in commands(traces).items():
            taken: dict[str, list[tuple[float, float]]] = {python: [] for python in pythons}
            for turn in range(args.rounds + 1):
                for python in pythons:
                    cpu, wall, _ = once(python, START, arguments)
                    if turn:
                        taken[python].append((cpu, wall))
            for python in pythons:
                cpu_s, wall_s = zip(*taken[python], strict=True)
                row = [min(cpu_s), statistics.median(cpu_s), min(wall_s), statistics.median(wall_s)]
                report[python][name] = row
                print(f"{name:12} {row[0]:8.3f} {row[1]:8.3f} {row[2]:9.3f} {row[3]:8.3f}  {python}")
        for python in pythons:
            found = shares(python, commands(traces)["dof run"])
            report[python]["shares"] = found
            print(
                f"of a run of {found['run_ms']:.0f} ms: {found['modules']:.0f} imports {found['imports_ms']:.0f} ms, "
                f"{found['patterns']:.0f} patterns {found['patterns_ms']:.0f} ms, "
                f"{found['toml_files']:.0f} TOML files {found['toml_ms']:.0f} ms  {python}"
            )
    if args.json:
        args.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
