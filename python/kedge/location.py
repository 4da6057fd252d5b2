"""Points anywhere on a mesh: the library's tree of boxes over elements, on the host or on a GPU."""
import ctypes
from functools import lru_cache

import numpy as np

from . import _library as c
from .context import Context, own


@lru_cache(maxsize=None)
def on_host():
    """The context of locators on the host. It is nobody else's, so that functions that solves call may make them."""
    return Context("host")


class Locator:
    """Finds the elements that hold points, and evaluates fields there.

    On a GPU it keeps the values at nodes of the field that it was asked for last.
    """

    def __init__(self, context, mesh):
        self._context, self._handle = context, ctypes.c_void_p()
        self._call = "kedge_locator_values_space" if mesh._is_space else "kedge_locator_values"
        context.call("kedge_locator_create", context.handle, mesh.handle, self._handle)
        own(self, context, c.library.kedge_locator_destroy, self._handle, mesh)
        self._kept, self._there = None, ctypes.c_void_p()

    def values(self, order, nodes, *at):
        """On the host: values at points x, y, in space z, [point], of a field by values at nodes of an order; NaN outside.
        Functions that a solve calls may call it."""
        values = np.empty(np.shape(at[0]))
        nodes, *at = (np.ascontiguousarray(array, float) for array in (nodes, *at))
        self._context.ask(self._call, self._handle, order, nodes.ctypes.data, values.size,
                          *(array.ctypes.data for array in at), values.ctypes.data)
        return values

    def fill(self, order, nodes, n, *arrays):
        """On the GPU: values at n points, by addresses: of x, y, in space z, and values; nodes: an address too, or an array
        of the host."""
        with self._context.turn():  # in which no other thread has values at nodes kept
            there = nodes if isinstance(nodes, int) else self._keep(nodes)
            self._context.call(self._call, self._handle, order, there, n, *arrays)

    def _keep(self, nodes):
        """The address on the GPU of values at nodes that are on the host."""
        if self._kept is not nodes:
            self._kept = None
            self._context.call("kedge_locator_keep", self._handle, nodes.size, nodes.ctypes.data,
                               ctypes.byref(self._there))
            self._kept = nodes
        return self._there.value
