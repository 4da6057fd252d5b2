#!/usr/bin/python3
"""check_report.py SAMPLES: reports are JSON with the documented names and values."""
import json
import os
import subprocess
import sys
import tempfile

STAGES = ["mesh", "transfer", "local_matrices", "assembly", "trace_solve", "local_solve",
          "postprocess", "output"]


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def load(kind, folder):
    path = os.path.join(folder, "report.json")
    subprocess.run([sys.argv[1], kind, path], check=True)
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=no_constant)


def check_plain(report):
    assert report["mesh"] == {"dimension": 2, "elements": 800, "edges": 1240, "vertices": 441,
                              "boundary_edges": 80}
    assert report["space"] == {"order": 4, "trace_unknowns": 5800, "element_unknowns": 12000,
                               "length": 0.5,
                               "inverse": {"triangles": "", "quadrilaterals": "exact"}}
    assert report["backend"] == {"name": "host", "device": "a CPU"}
    assert report["solver"] == {"operator": "matrix-free", "preconditioner": "multigrid",
                                "precision": "mixed",
                                "smoother": "edge",
                                "smoothing_steps": 2, "levels": 5, "setup_seconds": 0.25,
                                "start_residual": 1.5,
                                "iterations": 321, "refinements": 3, "tolerance": 1e-12,
                                "relative_residual": 0.1 + 0.2, "rounding_residual": 0.0625,
                                "left": {"u": 1e-6, "u_star": 2e-6, "q": None, "sigma": 0.5},
                                "extra_iterations": 12, "needed_tolerance": 1e-13,
                                "stop": "rounding", "converged": True, "note": ""}
    assert report["errors"] == {"u": {"l2": 1e-9, "linf": 2e-9}, "q": {"l2": 3e-9},
                                "flux": {"l2": 6e-9}, "u_star": {"l2": 4e-11}}
    assert [stage["name"] for stage in report["stages"]] == STAGES
    assert report["stages"][3] == {"name": "assembly", "seconds": 1.5, "bytes": 3e9,
                                   "flops": 3e10}
    assert isinstance(report["stages"][3]["bytes"], int)  # of a double with a fraction
    assert report["memory"] == {"peak_device_bytes": 5000000000,
                                "predicted_device_bytes": 5000000001,
                                "local_matrices_bytes": 7, "operator_bytes": 8}
    assert report["evaluation"] == "host"
    assert report["output"] is None
    assert report["integrals"] == {"heat": 2.5, "a \"name\"": None}
    assert report["probe_note"] == "a.csv: 1 of 2 points"
    assert report["loads"] == {"refined_elements": 34, "refined_facets": 5}
    assert report["march"] is None
    check_numbers(report)
    assert sorted(report) == ["backend", "balance", "conductance", "errors", "evaluation", "groups", "integrals",
                              "loads", "march", "memory", "mesh", "output", "probe_note", "regions", "solver", "space", "stages", "version"]
    assert report["version"].count(".") == 2


def check_numbers(report):
    assert report["groups"] == [
        {"name": "hot", "tag": 3, "inside": False, "edges": 12, "length": 2.5, "integral": 5, "mean": 2, "flux": -0.75},
        {"name": 'a "cut"', "tag": 4, "inside": True, "edges": 2, "length": 1, "integral": 0, "mean": 0, "flux": None}]
    assert report["regions"] == [
        {"name": "iron", "tag": 7, "elements": 800, "area": 4, "integral": 2, "mean": 0.5, "energy": 8,
         "source": 1, "reaction": 0.5, "minimum": {"value": -1, "at": [0.25, 0.5]}, "maximum": {"value": 3, "at": [1, 0.1 + 0.2]}}]
    assert report["balance"] == {"source": 1, "reaction": 0.5, "flux": -0.75, "remainder": 0.25}
    assert report["conductance"] == {"flux": 9.5, "energy": 9.25}


def check_empty(report):
    assert report["groups"] == report["regions"] == []
    assert report["balance"] is report["conductance"] is None
    assert "dimension" not in report["mesh"]


def check_awkward(report):
    assert report["conductance"] is None and report["balance"]["flux"] == -0.75
    assert (report["balance"]["storage"], report["regions"][0]["storage"]) == (0.0625, 0.125)
    assert report["march"] == {"scheme": "trbdf2", "t": 0.75, "end": 1, "step": 0.25, "steps": 3, "solves": 6,
                               "iterations": 60, "set_ups": 2, "remakes": False, "converged": True, "seconds": 0.5,
                               "rejected": 4, "steady": True, "change": 0.125, "note": "step 1: a note"}
    assert report["backend"]["device"] == 'a "CPU" \\ \n\t\x01 \ufffd \u00e9'
    assert report["errors"] is None
    assert report["solver"]["relative_residual"] is None
    assert report["solver"]["converged"] is False
    assert report["solver"]["note"] == "the residual is not finite"
    assert report["stages"][0]["flops"] is None


with tempfile.TemporaryDirectory() as scratch:
    check_plain(load("report", scratch))
    check_awkward(load("report-awkward", scratch))
    check_empty(load("report-empty", scratch))
    assert os.listdir(scratch) == ["report.json"]
