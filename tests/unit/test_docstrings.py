# SPDX-License-Identifier: GPL-3.0-or-later
"""Every public function, method and class of solvers and mappings says what it takes."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PURE = ("solvers", "addon/mapping", "addon/rigs/recognise")


def _files() -> list[Path]:
    return [path for place in PURE for path in sorted((ROOT / place).rglob("*.py"))]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _public(tree: ast.Module) -> list[tuple[str, ast.AST]]:
    """Public functions, classes and methods of a module, with their dotted names."""
    found: list[tuple[str, ast.AST]] = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            found.append((node.name, node))
            if isinstance(node, ast.ClassDef):
                found += [
                    (f"{node.name}.{item.name}", item)
                    for item in node.body
                    if isinstance(item, ast.FunctionDef)
                    and (not item.name.startswith("_") or item.name == "__call__")
                ]
    return found


def _arguments(function: ast.FunctionDef, method: bool) -> list[str]:
    a = function.args
    names = [arg.arg for arg in (*a.posonlyargs, *a.args)]
    decorators = {ast.unparse(item) for item in function.decorator_list}
    if method and "staticmethod" not in decorators:
        names = names[1:]
    names += [arg.arg for arg in a.kwonlyargs]
    names += [arg.arg for arg in (a.vararg, a.kwarg) if arg is not None]
    return [name for name in names if not name.startswith("_")]


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(item) for item in node.decorator_list)


def _documented(docstring: str, section: str) -> set[str]:
    """Names described in a Google style section."""
    match = re.search(rf"^{section}:\n((?:[ \t]+.*\n?|\n)*)", docstring + "\n", re.MULTILINE)
    if not match:
        return set()
    body = match.group(1)
    indent = min((len(x) - len(x.lstrip()) for x in body.splitlines() if x.strip()), default=0)
    names: set[str] = set()
    for line in body.splitlines():
        found = re.match(
            rf"^ {{{indent}}}(\*{{0,2}}\w+(?:[,/] ?\*{{0,2}}\w+)*)(?: \([^)]*\))?:", line
        )
        if found:
            names |= {part.strip(" *") for part in re.split(r"[,/]", found.group(1))}
    return names


def _told(path: Path) -> set[str]:
    """Fields, as "Class.field", that a row of the panel's says what they are."""
    dotted = _name(path).removesuffix("/__init__.py").removesuffix(".py").replace("/", ".")
    return {
        f"{name}.{field}"
        for name, found in vars(import_module(f"poise.{dotted}")).items()
        for cls in getattr(found, "__mro__", ())
        for field, made in getattr(cls, "__dataclass_fields__", {}).items()
        if "row" in made.metadata
    }


def _complaints(tree: ast.Module, told: set[str] | None = None) -> list[str]:
    found = []
    for name, node in _public(tree):
        docstring = ast.get_docstring(node)
        if not docstring:
            found.append(f"{name}: no docstring")
            continue
        if isinstance(node, ast.ClassDef):
            if _is_dataclass(node):
                fields = [
                    item.target.id
                    for item in node.body
                    if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
                    and f"{name}.{item.target.id}" not in (told or ())
                    and "ClassVar" not in ast.unparse(item.annotation)
                ]
                known = _documented(docstring, "Attributes")
                found += [f"{name}: {x} undocumented" for x in fields if x not in known]
                continue
            init = [x for x in node.body if isinstance(x, ast.FunctionDef) and x.name == "__init__"]
            wanted = _arguments(init[0], True) if init else []
        else:
            wanted = _arguments(node, "." in name)  # type: ignore[arg-type]
        known = _documented(docstring, "Args")
        found += [f"{name}: {x} undocumented" for x in wanted if x not in known]
        found += [
            f"{name}: {x} is documented and no argument" for x in sorted(known) if x not in wanted
        ]
    return found


@pytest.mark.parametrize("path", _files(), ids=_name)
def test_every_public_argument_is_documented(path):
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree), f"{_name(path)} has no module docstring"
    told = _told(path) if path.is_relative_to(ROOT / "addon/mapping") else set()
    complaints = _complaints(tree, told)
    assert not complaints, f"{_name(path)}:\n" + "\n".join(complaints)


def test_scan_covers_the_solvers_and_the_mappings():
    public = sum(len(_public(ast.parse(path.read_text()))) for path in _files())
    assert public > 60


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("def f(a): pass", "f: no docstring"),
        ('def f(a):\n    """Do."""', "f: a undocumented"),
        ('def f(a, *, b=1):\n    """Do.\n\n    Args:\n        a: x.\n    """', "f: b undocumented"),
        ('def f():\n    """Do.\n\n    Args:\n        a: x.\n    """', "f: a is documented and no"),
        (
            '@dataclass\nclass C:\n    """It.\n\n    Attributes:\n        a: x.\n    """\n'
            "    a: int\n    b: int",
            "C: b undocumented",
        ),
        ('class C:\n    """It."""\n    def m(self, a):\n        """Do."""', "C.m: a undocumented"),
    ],
)
def test_scan_would_find_what_it_looks_for(source, complaint):
    assert any(text.startswith(complaint) for text in _complaints(ast.parse(source)))


def test_scan_is_content_with_a_full_docstring():
    source = '''
def f(a, b, *rest):
    """Do.

    Args:
        a: first,
            on two lines: with a colon.
        b (float): second.
        rest: others.

    Returns:
        x: nothing to see.
    """
'''
    assert _complaints(ast.parse(source)) == []
