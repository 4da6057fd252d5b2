"""Regions of elements: an array of their numbers that compares with names too."""
import numpy as np

from .arguments import no_such
from .errors import InputError


class Regions(np.ndarray):
    """Numbers of regions, [element]; ==, != and np.isin() take names too. What arithmetic makes of it is a plain array.

    names  -- {name: number} of the mesh's regions that have a name of their own
    shared -- {name: [number]} of the others
    """

    def __new__(cls, numbers, names, shared):
        made = np.asarray(numbers).view(cls)
        made.names, made.shared = names, shared
        return made

    def __array_finalize__(self, of):
        self.names, self.shared = getattr(of, "names", {}), getattr(of, "shared", {})

    def __eq__(self, other):
        return np.asarray(self) == self._numbers(other)

    def __ne__(self, other):
        return np.asarray(self) != self._numbers(other)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        bare = {name: tuple(map(_bare, value)) if name == "out" else _bare(value) for name, value in options.items()}
        made = getattr(ufunc, method)(*map(_bare, inputs), **bare)
        out = options.get("out", (None,))[0]
        return made if out is None else out

    def __array_function__(self, function, types, inputs, options):
        if function is np.isin:
            return self._is_in(*inputs, **options)
        return super().__array_function__(function, types, inputs, options)

    def _is_in(self, element, test_elements, **options):
        return np.isin(self._numbers(element), self._numbers(test_elements), **options)

    def _numbers(self, other):
        """Names as numbers; what is no name as it is."""
        if isinstance(other, str):
            return self._number(other)
        given = _bare(other)
        array = np.asarray(list(given) if isinstance(given, (set, frozenset)) else given)
        if array.dtype.kind == "U" or (array.dtype == object and any(isinstance(one, str) for one in array.flat)):
            flat = [self._number(one) if isinstance(one, str) else one for one in array.flat]
            return np.array(flat).reshape(array.shape)
        return array

    def _number(self, name):
        if name in self.shared:
            raise InputError(f"regions {', '.join(map(str, self.shared[name]))} of the mesh are all called {name!r}; give their numbers")
        if name not in self.names:
            raise InputError(no_such("the mesh", "region", name, list(self.names)))
        return self.names[name]


def group_on(groups, on):
    """The number of the group of a mesh that `on` names, as for integrals: its name, its tag, or its name but for
    blanks around it. A group of lines has some on the boundary."""
    there, on = [k for k, group in enumerate(groups) if group.count or group.inner], str(on)
    for name_of in (lambda group: group.name, lambda group: str(group.tag), lambda group: group.name.strip(" \t")):
        found = [k for k in there if name_of(groups[k]) == on]
        if len({groups[k].dimension for k in found}) > 1:
            raise InputError(f"{on!r} is a group of lines of the mesh and also a region; give one of them another name")
        if len(found) > 1:
            tags = ", ".join(str(groups[k].tag) for k in found)
            raise InputError(f"{on!r} is the name of groups {tags} of the mesh; give the number of one")
        if found and not groups[found[0]].count:
            raise InputError(f"{on!r} is a group of lines inside the domain, where quadrature() has no points; "
                             f"s.integrate(of, on={on!r}) has")
        if found:
            return found[0]
    raise InputError(no_such("the mesh", "group or region", on, [groups[k].name for k in there]))


def _bare(value):
    """A plain array of numbers of regions; anything else as it is."""
    return value.view(np.ndarray) if isinstance(value, Regions) else value
