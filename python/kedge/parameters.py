"""Other values of a problem's parameters for one solve: they are put into the texts that the solve reads anew."""
import math
import numbers
import re

from .arguments import by_name, no_such, shown
from .errors import InputError, WrongType
from .problem import ARGUMENTS, _name_of

# Numbers too, so that the e of 2e3 is no name.
WORDS = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|(?P<name>[A-Za-z_]\w*)", re.ASCII)


class Parameters:
    """Texts for names: of the parameters that are given, and of those that the problem makes of these."""

    def __init__(self, problem, given):
        given = {} if given is None else by_name("parameters", given, "name", "number")
        settings = problem.settings if given else {}
        own = {key: text for (section, key), text in settings.items() if section == "parameters"}
        for name, value in given.items():
            if name not in own:
                raise InputError(no_such("the problem", "parameter", str(name), list(own)))
            if isinstance(value, bool) or not isinstance(value, numbers.Real):
                raise WrongType(f"parameters[{name!r}] is {shown(value)}; a solve takes numbers, update() expressions "
                                "too")
            if not math.isfinite(value):
                raise InputError(f"parameters[{name!r}] is {float(value)}; it must be finite")
        self._all = {**own, **given}
        self._texts, self._made_of, self._unused = {}, {}, set(given)
        for name, text in own.items():
            found = self._found(text)
            if name in given or found:
                self._made_of[name] = {name} if name in given else found
                self._texts[name] = f"({float(given[name])!r})" if name in given else f"({self._put(text)})"
        self._refuse_others(settings)

    def __bool__(self):
        return bool(self._texts)

    def problem(self, problem):
        """The problem that was solved: integrals of its solution have them too."""
        return problem.replace(parameters=self._all) if self else problem

    def _refuse_others(self, settings):
        """What a solver keeps must not depend on them."""
        for (section, key), text in settings.items():
            of_solve = key == "source" or (key == "value" and section.startswith("boundary "))
            is_path = section == "output" or section.startswith("probe ")
            if of_solve or is_path or section in ("parameters", "mesh") or not isinstance(text, str):
                continue
            for name in self._found(text):
                where = ARGUMENTS.get((section, key)) or _name_of(section, key)
                raise InputError(f"parameters[{name!r}] is in {where}, and a solve changes sources and boundary values "
                                 "alone; take update(parameters=...)")

    def _found(self, text):
        """The given names that a text depends on."""
        names = {word["name"] for word in WORDS.finditer(text)} & self._texts.keys()
        return set().union(*(self._made_of[name] for name in names))

    def _put(self, text):
        return WORDS.sub(lambda word: self._texts.get(word["name"], word[0]), text)

    def change(self, text):
        """Whether they change a text."""
        return isinstance(text, str) and bool(self._found(text))

    def into(self, text):
        """A text with them; data as they are."""
        if not isinstance(text, str):
            return text
        self._unused -= self._found(text)
        return self._put(text)

    def check_used(self):
        """Refuse one that no text of a solve has had."""
        for name in sorted(self._unused):
            raise InputError(f"parameters[{name!r}]: no source and no boundary value of this solve uses it; leave it "
                             "out")
