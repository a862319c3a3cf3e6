#!/usr/bin/env python3
"""`dunlin simulate intervals --policy exact` against solvers on the plain integer program, in one run.

    python3 optimum-against-solvers.py --dunlin target/release/dunlin --chronons 1000 needs.csv.gz:1 more.csv.gz:2

Each input is an intervals file and its budget per chronon. The plain program has one column per need and per
source and chronon under an interval, and nothing is reduced beforehand; it is what HiGHS (scipy.optimize.milp) and,
if it is on the path, CBC are given. One after the other, so that they share the state of the machine; seconds are
CPU time, and each ratio is dunlin's time over the other's. Needs scipy. Knows neither weights nor `need`.
"""

import argparse
import csv
import gzip
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def read(path):
    """The intervals (resource, start, finish) of each need."""
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    needs = {}
    with opened as lines:
        for row in csv.DictReader(lines):
            if any(row.get(column) for column in ("weight", "need")):
                sys.exit(f"{path}: weights and needs are not supported here")
            interval = (row["resource"], int(row["start"]), int(row["finish"]))
            needs.setdefault((row["profile"], row["cei"]), []).append(interval)
    return list(needs.values())


def program(needs):
    """Rows `need - probes <= 0`, and the probes of each chronon; columns are needs, then probes."""
    probes, links, spending = {}, [], {}
    for need, intervals in enumerate(needs):
        for source, start, finish in intervals:
            columns = []
            for chronon in range(start, finish + 1):
                if (source, chronon) not in probes:
                    probes[source, chronon] = len(needs) + len(probes)
                    spending.setdefault(chronon, []).append(probes[source, chronon])
                columns.append(probes[source, chronon])
            links.append((need, columns))
    return len(needs) + len(probes), links, list(spending.values())


def highs(path, budget, limit):
    """Prints the optimum and the CPU seconds of the solver alone."""
    import numpy
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_matrix

    needs = read(path)
    n_columns, links, spending = program(needs)
    rows, columns, values, at_most = [], [], [], []
    for need, probes in links:
        rows += [len(at_most)] * (1 + len(probes))
        columns += [need, *probes]
        values += [1.0] + [-1.0] * len(probes)
        at_most.append(0.0)
    for probes in spending:
        rows += [len(at_most)] * len(probes)
        columns += probes
        values += [1.0] * len(probes)
        at_most.append(budget)
    matrix = csr_matrix((values, (rows, columns)), shape=(len(at_most), n_columns))
    worth = numpy.zeros(n_columns)
    worth[: len(needs)] = -1.0
    begin = time.process_time()
    solved = milp(
        worth,
        constraints=LinearConstraint(matrix, -numpy.inf, at_most),
        integrality=numpy.ones(n_columns),
        bounds=Bounds(0, 1),
        options={"time_limit": limit},
    )
    seconds = time.process_time() - begin
    print(json.dumps([None if solved.status else round(-solved.fun), seconds]))


def write_lp(path, needs, budget):
    n_columns, links, spending = program(needs)
    with open(path, "w") as out:
        out.write("Maximize\nobj:\n" + "".join(f" + x{need}\n" for need in range(len(needs))) + "Subject To\n")
        for row, (need, probes) in enumerate(links):
            out.write(f"c{row}: x{need}\n" + "".join(f" - x{probe}\n" for probe in probes) + " <= 0\n")
        for row, probes in enumerate(spending):
            out.write(f"b{row}:\n" + "".join(f" + x{probe}\n" for probe in probes) + f" <= {budget}\n")
        out.write("Binaries\n" + "".join(f"x{column}\n" for column in range(n_columns)) + "End\n")


def timed(command):
    """What a command prints, and the CPU seconds it takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def compare(options, path, budget):
    limit = options.seconds
    command = [options.dunlin, "simulate", "intervals", "--intervals", path, "--chronons", options.chronons]
    command += ["--budget", str(budget), "--policy", "exact", "--time-limit", f"{limit}s", "--json"]
    printed, own = timed(command)
    report = json.loads(printed)
    results = [("dunlin", report["captured"] if report["proven"] else None, own)]
    printed, _ = timed([sys.executable, __file__, "--solve", path, str(budget), str(limit)])
    results.append(("HiGHS", *json.loads(printed)))
    if shutil.which("cbc"):
        with tempfile.TemporaryDirectory() as folder:
            lp, solution = Path(folder, "plain.lp"), Path(folder, "solution.txt")
            write_lp(lp, read(path), budget)
            _, seconds = timed(["cbc", str(lp), "sec", str(limit), "solve", "solution", str(solution)])
            first = solution.read_text().splitlines()[0]
            proven = first.startswith("Optimal")
            results.append(("CBC", round(abs(float(first.split()[-1]))) if proven else None, seconds))
    for name, captured, seconds in results:
        shown = "not proven" if captured is None else captured
        print(f"{os.path.basename(path):<20} {name:<7} {shown:>10} {seconds:>8.1f} {own / seconds:>6.2f}", flush=True)


def main():
    if sys.argv[1:2] == ["--solve"]:
        return highs(sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dunlin", required=True, help="the program, built with --features highs")
    parser.add_argument("--chronons", default="1000")
    parser.add_argument("--seconds", type=int, default=300, help="time limit for each solver")
    parser.add_argument("inputs", nargs="+", metavar="FILE:BUDGET")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'input':<20} {'solver':<7} {'captured':>10} {'CPU s':>8} {'ratio':>6}")
    for given in options.inputs:
        path, _, budget = given.rpartition(":")
        compare(options, path, int(budget))


main()
