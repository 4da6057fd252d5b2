"""What the tests share: the backend they are to use, and a problem whose solution is known."""
import os
import pathlib
import unittest

import kedge

ROOT = pathlib.Path(__file__).resolve().parents[2]
BACKEND = os.environ.get("KEDGE_TEST_BACKEND", "host")
SIDES = ("left", "right", "bottom", "top")
SINES = "sin(pi*x)*sin(pi*y)"


def backend():
    """The backend; a test that is to use a GPU is skipped where none is."""
    try:
        return kedge.Context(BACKEND)
    except kedge.Unsupported as error:
        if os.environ.get("KEDGE_REQUIRE_GPU"):
            raise
        raise unittest.SkipTest(str(error))


class OnBackend(unittest.TestCase):
    """Tests that solve in one context of the backend."""
    @classmethod
    def setUpClass(cls):
        cls.context = backend()

    def solve(self, mesh, problem, **more):
        return kedge.Solver(mesh, problem, self.context).solve(**more)


def everywhere(condition, groups=SIDES):
    return dict.fromkeys(groups, condition)


def sines(order=3, **more):
    """sin(pi x) sin(pi y) on the unit square, with errors."""
    return kedge.Problem(order=order, exact=SINES, boundary=everywhere(kedge.Dirichlet()), **more)
