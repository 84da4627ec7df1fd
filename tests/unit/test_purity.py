# SPDX-License-Identifier: GPL-3.0-or-later
"""Solvers and mappings know nothing of Blender; differences of versions live in one file."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PURE = ("solvers", "addon/drawing", "addon/mapping", "addon/rigs/recognise")
ALLOWED = {"numpy", "scipy"} | set(sys.stdlib_module_names)
FORBIDDEN_STDLIB = {"socket", "urllib", "http", "subprocess", "ctypes", "random"}
COMPAT = ROOT / "addon" / "compat.py"
PACKAGE = ("addon", "operators", "panels", "solvers", "__init__.py")


def _files(*places: str) -> list[Path]:
    found: list[Path] = []
    for place in places:
        path = ROOT / place
        found += [path] if path.is_file() else sorted(path.rglob("*.py"))
    return found


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _imports(tree: ast.AST, path: Path) -> list[tuple[int, str]]:
    """(line, what): absolute module, or file-system path of a relative import's target."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                found.append((node.lineno, node.module or ""))
            else:
                base = path.parents[node.level - 1]
                target = base.joinpath(*(node.module or "").split("."))
                found.append((node.lineno, "/" + target.relative_to(ROOT).as_posix()))
        elif isinstance(node, ast.Call) and getattr(
            node.func, "id", getattr(node.func, "attr", "")
        ) in ("__import__", "import_module"):
            found.append((node.lineno, "an import made at run time"))
    return found


@pytest.mark.parametrize("path", _files(*PURE), ids=_name)
def test_imports_only_numpy_scipy_and_each_other(path):
    for line, what in _imports(ast.parse(path.read_text()), path):
        if what.startswith("/"):
            inside = any(what[1:] == place or what[1:].startswith(place + "/") for place in PURE)
            assert inside, f"{_name(path)}:{line} imports {what}"
        else:
            top = what.split(".")[0]
            assert top in ALLOWED - FORBIDDEN_STDLIB, f"{_name(path)}:{line} imports {what}"


def test_scan_would_find_what_it_looks_for():
    path = ROOT / "solvers" / "turning" / "made_up.py"
    source = (
        "import bpy\nfrom mathutils import Vector\nfrom ...addon import scene\nimport_module('x')\n"
    )
    found = [what for _, what in _imports(ast.parse(source), path)]
    assert found[:2] == ["bpy", "mathutils"]
    assert "/addon" in found
    assert "an import made at run time" in found


def test_everything_pure_imports_with_blender_blocked():
    """In a process of its own, in which importing bpy or mathutils is an error."""
    modules = [
        "poise." + _name(path).removesuffix("/__init__.py").removesuffix(".py").replace("/", ".")
        for path in _files(*PURE)
        if path.parent.name != "addon"
    ]
    program = f"""
import sys
for name in ("bpy", "mathutils", "gpu", "bmesh", "bl_math", "idprop", "blf", "aud"):
    sys.modules[name] = None
sys.path.insert(0, {str(Path(__file__).parent)!r})
import conftest
import importlib
for name in {modules!r}:
    importlib.import_module(name)
print(len({modules!r}))
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) == len(modules) > 10


def _attribute_chains(tree: ast.AST) -> list[tuple[int, str]]:
    """(line, dotted text) of every attribute access, "action.fcurves" and the like."""
    return [
        (node.lineno, ast.unparse(node))
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
    ]


def _version_or_action_curves(tree: ast.AST) -> list[tuple[int, str]]:
    found = []
    for line, text in _attribute_chains(tree):
        if text.endswith("app.version") or text.endswith("app.version_string"):
            found.append((line, text))
        owner, _, last = text.rpartition(".")
        # Channelbags and drivers still own F-curves; actions do not since 5.0.
        if last == "fcurves" and owner.split(".")[-1].lower().rstrip("0123456789_").endswith(
            "action"
        ):
            found.append((line, text))
    return found


@pytest.mark.parametrize("path", _files(*PACKAGE), ids=_name)
def test_versions_and_action_fcurves_only_in_compat(path):
    if path == COMPAT:
        return  # the place for it
    found = _version_or_action_curves(ast.parse(path.read_text()))
    assert not found, f"{_name(path)}: {found}"


@pytest.mark.parametrize(
    "source",
    [
        "if bpy.app.version >= (5, 0, 0): pass",
        "v = bpy.app.version_string",
        "action.fcurves.new('location')",
        "obj.animation_data.action.fcurves[0]",
        "for c in my_action.fcurves: pass",
        "new_action_2.fcurves",
    ],
)
def test_ban_would_find_what_it_looks_for(source):
    assert _version_or_action_curves(ast.parse(source))


@pytest.mark.parametrize(
    "source", ["channelbag.fcurves.new('x')", "bag.fcurves", "self.version", "ensure(action)"]
)
def test_ban_leaves_the_rest_alone(source):
    assert not _version_or_action_curves(ast.parse(source))


@pytest.mark.parametrize("path", _files(*PACKAGE), ids=_name)
def test_package_imports_itself_relatively_and_gpu_only_in_functions(path):
    tree = ast.parse(path.read_text())
    for line, what in _imports(tree, path):
        top = what.split(".")[0]
        assert top not in {"poise", "addon", "operators", "panels", "solvers", "bl_ext"}, (
            f"{_name(path)}:{line} imports {what} absolutely"
        )
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
            )
            tops = {name.split(".")[0] for name in names}
            assert not tops & {"gpu", "gpu_extras"}, f"{_name(path)}:{node.lineno} imports gpu"
