"""The structures and names of _library.py are those of the headers."""
import ast
import inspect
import os
import re
import subprocess
import sys
import tempfile
import types
import typing
import unittest
from unittest import mock

from support import ROOT

import kedge
from kedge import _library as c
from kedge import context, errors

ENUMERATORS = {"KEDGE_BACKEND_": c.BACKENDS, "KEDGE_FIELD_": c.FIELDS, "KEDGE_STOP_": c.STOPS,
               "KEDGE_BOUNDARY_": c.BOUNDARY_TYPES, "KEDGE_": c.STATUS}
CONSTANTS = {"KEDGE_STAGES_MAX": c.STAGES_MAX, "KEDGE_OPERATORS_MAX": c.OPERATORS_MAX, "KEDGE_ORDER_MAX": c.ORDER_MAX,
             "KEDGE_WAVE_FIELDS_MAX": c.WAVE_FIELDS_MAX}


def run_c(lines):
    """What a C program prints that includes every public header."""
    program = "#include <stdio.h>\n#include <kedge/kedge.h>\nint main(void)\n{\n" + "\n".join(lines) + "\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "a.c"), os.path.join(folder, "a")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program)
        subprocess.run([os.environ.get("KEDGE_CC", "cc"), "-I", ROOT / "include", source, "-o", target], check=True)
        return subprocess.run([target], check=True, capture_output=True, text=True).stdout.split()


class Library(unittest.TestCase):
    def test_names_of_types_need_no_arrays_with_parameters(self):
        class ndarray:  # as NumPy 1.21 has it
            pass

        text = (ROOT / "python/kedge/hints.py").read_text()
        old = types.ModuleType("numpy")
        old.ndarray = ndarray
        with mock.patch.dict(sys.modules, {"numpy": old}):
            names = {}
            exec(compile(text, "hints.py", "exec"), names)
        self.assertIs(names["Array"], ndarray)

    def test_every_member_of_a_structure_lies_where_the_header_has_it(self):
        lines, expected = [], []
        for name, structure in c.STRUCTURES.items():
            grows = structure._fields_[0][0] == "size" or name == "kedge_points"  # members may come at the end
            lines.append(f'printf("{name}:%d\\n", sizeof({name}) {">=" if grows else "=="} '
                         f'{c.ctypes.sizeof(structure)});')
            expected.append(f"{name}:1")
            for member, _ in structure._fields_:
                place = getattr(structure, member)
                lines.append(f'printf("{name}.{member}:%zu:%zu\\n", offsetof({name}, {member}), '
                             f'sizeof((({name} *)0)->{member}));')
                expected.append(f"{name}.{member}:{place.offset}:{place.size}")
        self.assertEqual(run_c(lines), expected)

    def test_enumerators_and_constants_have_their_numbers(self):
        names = {prefix + word.upper(): i for prefix, words in ENUMERATORS.items() for i, word in enumerate(words)}
        names.update(CONSTANTS)
        counts = {"KEDGE_BACKEND_COUNT": len(c.BACKENDS), "KEDGE_FIELD_COUNT": len(c.FIELDS),
                  "KEDGE_STOP_COUNT": len(c.STOPS), "KEDGE_STATUS_COUNT": len(c.STATUS)}
        names.update(counts)
        self.assertEqual(run_c(f'printf("%d\\n", (int){name});' for name in names), [str(n) for n in names.values()])

    def test_functions_have_as_many_arguments_as_in_the_headers(self):
        text = "".join(path.read_text() for path in (ROOT / "include/kedge").glob("*.h"))
        text = re.sub(r"//.*", "", text)
        for name, (_, *arguments) in c.FUNCTIONS.items():
            declared = re.search(rf"\b{name}\(([^;]*)\);", text)
            self.assertIsNotNone(declared, name)
            inside = declared.group(1).strip()
            self.assertEqual(len(arguments), 0 if inside == "void" else inside.count(",") + 1, name)

    def test_what_functions_make_is_destroyed_by_its_kind(self):
        makers = {name for name, types in c.FUNCTIONS.items() if types[-1] is c.OUT}
        self.assertEqual(set(context._DESTROY), makers - {"kedge_context_create"})
        self.assertLessEqual({f"kedge_{kind}_destroy" for kind in context._DESTROY.values()}, set(c.FUNCTIONS))

    def test_the_version_is_that_of_the_headers(self):
        self.assertIn(f'#define KEDGE_VERSION       "{kedge.__version__}"', (ROOT / "include/kedge/base.h").read_text())

    def test_every_status_has_an_exception(self):
        from kedge.errors import BY_STATUS
        self.assertEqual(len(BY_STATUS), len(c.STATUS))
        for error in BY_STATUS[1:]:
            self.assertTrue(issubclass(error, kedge.Error))

    def test_what_the_package_raises_is_of_kedge(self):
        raised = set()
        for path in sorted((ROOT / "python/kedge").glob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if path.name != "_library.py" and isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                    raised.add(node.exc.func.id)
        self.assertIn("WrongType", raised)
        for name in raised - {"of_status"}:
            self.assertTrue(issubclass(getattr(kedge, name), kedge.Error), name)

    def test_sentences_of_the_library_name_no_function_of_c(self):
        self.assertEqual(str(errors.of_status(1, b"kedge_solver_apply: call kedge_solver_update()")), "call update()")
        named = set()
        for path in (ROOT / "src").rglob("*.c"):
            if path.parent.name != "cli":
                for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', path.read_text()):
                    named.update(re.findall(r"kedge_\w+\(\)", text))
        self.assertEqual(named, set(errors.IN_PYTHON))

    def test_sentences_name_arguments_and_not_sections_of_a_file(self):
        for said, expected in (
                ("[region steel]: /tmp/kedge-ab_1/arrays.msh, refined 2 times has no region 'steel' among air, iron",
                 "region 'steel': the mesh has no region 'steel' among air, iron"),
                ("[region iron] diffusion: diffusion must be positive", "diffusion['iron']: diffusion must be positive"),
                ("[region foam] has source, and region 'air' of a.msh has no section; add [region air] or [region default]",
                 "source has region 'foam', and region 'air' of a.msh has nothing; add 'air' or 'default' to source"),
                ("[boundary hot sides]: a.msh has no boundary group", "boundary['hot sides']: a.msh has no boundary group"),
                ("add [boundary hot] or [boundary default]", "add boundary['hot'] or boundary['default']"),
                ("[the equation] source: column 1 of source: unknown", "column 1 of source: unknown"),
                ("[hot] value: value has no finite value", "boundary['hot']: value has no finite value"),
                ("[boundary hot] value: column 1 of value: unknown", "boundary['hot']: column 1 of value: unknown"),
                ("[exact] u: column 5 of u: unexpected end", "exact: column 5: unexpected end"),
                ("[equation] quadrature = 3 is too little", "equation_quadrature = 3 is too little"),
                ("[exact] quadrature: quadrature must be a number", "exact_quadrature must be a number"),
                ("raise [exact] quadrature, or set [mesh] geometry", "raise exact_quadrature, or set geometry"),
                ("[parameters] k: bad, of [parameters]", "parameters['k']: bad, of parameters"),
                ("diffusion of [equation] is used by no region", "diffusion is used by no region"),
                ("solve with fields = full", 'solve with fields="full"'),
                ("diffusion in [region iron] is of elliptic problems", "diffusion is of elliptic problems"),
                ("[exact] Ez: column 1 of Ez: unknown", "exact['Ez']: column 1: unknown"),
                ("[boundary left] Ez: column 1 of Ez: unknown", "Ez of boundary['left']: column 1: unknown"),
                ("a/plate.ini:12: [region steel]: no", "a/plate.ini:12: [region steel]: no")):
            self.assertEqual(errors.in_python(said.encode()), expected)

    def test_every_argument_that_users_give_has_a_type(self):
        count = 0
        for name in kedge.__all__:
            thing = getattr(kedge, name)
            if isinstance(thing, type) and issubclass(thing, (tuple, BaseException)):
                continue
            functions = [thing] if inspect.isfunction(thing) else [
                getattr(value, "__func__", value) for key, value in vars(thing).items()
                if (not key.startswith("_") or key in ("__init__", "__call__")) and callable(getattr(thing, key))]
            for function in functions:
                if function.__qualname__ in ("Report.__init__", "Solution.__init__", "MarchSolution.__init__",
                                             "March.__init__", "WaveMarch.__init__", "WaveSolution.__init__", "Solver.solve", "Problem.build",
                                             "Problem.parsed", "Context.ask", "Context.call", "Context.calling", "Context.discard",
                                             "Context.turn"):
                    continue  # not for users, or overloaded
                hints = typing.get_type_hints(function)
                arguments = set(inspect.signature(function).parameters) - {"self", "cls"}
                self.assertEqual(arguments - set(hints), set(), function.__qualname__)
                self.assertIn("return", hints, function.__qualname__)
                count += 1
        self.assertGreater(count, 30)


if __name__ == "__main__":
    unittest.main()
