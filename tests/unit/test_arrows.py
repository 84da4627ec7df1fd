# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may import whom: no circles, and no arrow that runs up.

Scene -> settings -> job -> solver -> motion -> mapping -> tracks -> rig -> F-curves: each
floor knows those under it and none over it. Imports inside functions count like all others.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Solvers: each problem on what all share, and at most on those that it is made of.
SHARED = {f"solvers/{path.stem}" for path in (ROOT / "solvers").glob("*.py")}
SOLVERS = {
    "turning": set(),
    "path": {"turning"},
    "legged": {"path", "turning"},  # the terrain and the pendulum
    "dynamics": set(),
    "posing": {"dynamics"},
    "control": {"dynamics"},
    "freeform": {"dynamics"},
}

# What any room on Blender's side stands on, lowest first.
GROUND = [f"addon/{name}" for name in ("errors", "steps", "compat", "context", "keyframes")]
GROUND += ["addon/digests", "addon/store", "addon/placement", "addon/texts"]

# The rooms in their order, each with the rooms that it may import besides solvers and ground.
ROOMS = {
    "addon/mapping": [],
    "addon/drawing": [],
    "addon/rigs": ["addon/mapping"],
    "addon/motions": ["addon/rigs"],
    "addon/scene": ["addon/mapping", "addon/rigs", "addon/motions"],
    "addon/settings": ["addon/mapping", "addon/rigs", "addon/motions", "addon/scene"],
    "addon/families": [
        "addon/mapping", "addon/drawing", "addon/rigs", "addon/scene", "addon/settings",
    ],
    # Tracks to keys: it knows roles and bones, and neither motions nor families.
    "addon/bake": ["addon/mapping", "addon/rigs", "addon/scene"],
    # What Motion objects remember of bakes.
    "addon/baked": ["addon/rigs", "addon/motions", "addon/bake"],
    "addon/pipeline": [
        "addon/baked",
        "addon/mapping", "addon/rigs", "addon/motions", "addon/scene", "addon/settings",
        "addon/families",
    ],
    "addon/shots": [
        "addon/mapping", "addon/drawing", "addon/motions", "addon/scene", "addon/settings",
        "addon/families",
    ],
    # A motion and its bake: where both ways meet.
    "addon/baking": [
        "addon/baked",
        "addon/mapping", "addon/rigs", "addon/motions", "addon/pipeline", "addon/bake",
        "addon/shots",
    ],
    "addon/base_operator": [],
    "addon/ui": ["addon/mapping", "addon/rigs", "addon/motions", "addon/scene"],
    "addon/show": [
        "addon/drawing", "addon/motions", "addon/scene", "addon/shots", "addon/families",
        "addon/pipeline", "addon/baking", "addon/ui", "addon/base_operator",
    ],
    "operators": ["addon"],
    "panels": ["addon", "operators"],
    "addon/registration": ["addon", "operators", "panels"],
    "__init__": ["addon/registration"],
}


def _modules() -> dict[str, Path]:
    """Module -> file: of the package by path ("addon/bake/write"), of tools by name."""
    found = {}
    for place in ("addon", "operators", "panels", "solvers"):
        for path in sorted((ROOT / place).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix().removesuffix(".py")
            found[name.removesuffix("/__init__")] = path
    found["__init__"] = ROOT / "__init__.py"
    found |= {path.stem: path for path in sorted((ROOT / "tools").glob("*.py"))}
    return found | {f"lab/{path.stem}": path for path in sorted((ROOT / "tools/lab").glob("*.py"))}


MODULES = _modules()
PACKAGE = [name for name, path in MODULES.items() if ROOT / "tools" not in path.parents]


def _imported(name: str, path: Path, source: str) -> set[str]:
    """Modules that a module imports, anywhere in it; never itself."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.replace(".", "/") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = (node.module or "").replace(".", "/")
            if node.level:
                folder = path.parents[node.level - 1].relative_to(ROOT)
                base = (folder / base).as_posix().removeprefix("tools/").removesuffix("/.")
            base = base.removeprefix("poise/")
            # A name may be a module of a package, or something in a module.
            names = [alias.name for alias in node.names]
            members = set(names) if base == "." else {f"{base}/{member}" for member in names}
            inside = members & set(MODULES)
            found |= inside if inside == members else inside | {base}
    return found & set(MODULES) - {name}


IMPORTS = {name: _imported(name, path, path.read_text()) for name, path in MODULES.items()}


def _circle(arrows: dict[str, set[str]]) -> list[str]:
    """One way that leads back to where it starts; empty if there is none."""
    done: set[str] = set()

    def walk(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name not in done:
            for there in sorted(arrows.get(name, ())):
                if found := walk(there, [*way, name]):
                    return found
            done.add(name)
        return []

    for name in sorted(arrows):
        if found := walk(name, []):
            return found
    return []


def _room(name: str) -> str:
    """The room of a module: a folder, or one of addon's single files."""
    parts = name.split("/")
    return "/".join(parts[:2]) if parts[0] in ("addon", "solvers") else parts[0]


def _allowed(room: str, there: str) -> bool:
    """Whether what stands in one room may import what stands in another."""
    if there.startswith("solvers/"):
        problem = room.removeprefix("solvers/")
        if room in SHARED:
            return there in SHARED
        return not room.startswith("solvers/") or there in SHARED or (
            there.removeprefix("solvers/") in SOLVERS[problem]
        )
    if room in GROUND:
        return there in GROUND[: GROUND.index(room)]
    if there in GROUND:
        return room in ROOMS
    may = ROOMS.get(room, [])
    return there in may or ("addon" in may and there.startswith("addon/") and
                            there != "addon/registration")


def test_no_module_imports_itself_through_others():
    assert not (way := _circle(IMPORTS)), " -> ".join(way)


def test_no_room_imports_itself_through_others():
    rooms: dict[str, set[str]] = {}
    for name in PACKAGE:
        there = {_room(other) for other in IMPORTS[name]}
        rooms.setdefault(_room(name), set()).update(there - {_room(name)})
    assert not (way := _circle(rooms)), " -> ".join(way)


def test_no_arrow_runs_up():
    arrows = [(name, other) for name in PACKAGE for other in IMPORTS[name]]
    assert len(arrows) > 1000
    up = [
        f"{name} imports {other}"
        for name, other in arrows
        if _room(name) != _room(other) and not _allowed(_room(name), _room(other))
    ]
    assert not up, "; ".join(up)


def test_the_rooms_stand_in_order():
    """No room may import one over it: the table itself has no arrow that runs up."""
    order = list(ROOMS)
    for room, may in ROOMS.items():
        over = order[order.index(room) :]
        wrong = [there for there in may if there in over]
        assert not wrong, f"{room} may import {wrong}"


def test_a_bake_has_one_door():
    """What a bake needs is one value: no function takes it piece by piece."""
    asked = {}
    for name in PACKAGE:
        if _room(name) in ("addon/bake", "addon/baking"):
            for node in ast.walk(ast.parse(MODULES[name].read_text())):
                if isinstance(node, ast.FunctionDef):
                    given = node.args
                    asked[f"{name}.{node.name}"] = len(given.args) + len(given.kwonlyargs)
    assert len(asked) > 200 and not [name for name, count in asked.items() if count > 9]


def test_operators_are_called_by_nothing_under_them():
    for name in PACKAGE:
        text = MODULES[name].read_text()
        if "ops.poise." not in text or _room(name) in ("operators", "panels", "addon/registration"):
            continue
        calls = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        assert not [call for call in calls if "ops.poise." in ast.unparse(call)], name


def test_what_only_reads_the_scene_writes_nothing_to_it():
    """scene/ neither makes nor removes what a file holds."""
    for name in PACKAGE:
        if _room(name) == "addon/scene":
            text = MODULES[name].read_text()
            assert not [word for word in (".new(", ".remove(", ".link(") if word in text], name


@pytest.mark.parametrize(
    "source, target",
    [
        ("from ..families import gait", "addon/families/gait"),
        ("def f():\n    from ..show.preview import status", "addon/show/preview"),
        ("if TYPE_CHECKING:\n    from ... import operators", "operators"),
        ("from ..families.base import Job", "addon/families/base"),
    ],
)
def test_scan_would_find_what_it_looks_for(source, target):
    path = ROOT / "addon" / "rigs" / "made_up.py"
    assert _imported("addon/rigs/made_up", path, source) == {target}
    assert not _allowed("addon/rigs", _room(target))


def test_a_circle_would_be_found():
    assert _circle({"a": {"b"}, "b": {"c", "d"}, "c": {"a"}}) == ["a", "b", "c", "a"]
    assert _circle({"a": {"b", "c"}, "b": {"c"}}) == []


def test_tests_import_no_tests():
    """What several of them need stands in a module of its own beside them."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        named = [n.module or "" for n in ast.walk(ast.parse(path.read_text()))
                 if isinstance(n, ast.ImportFrom)]
        assert not [module for module in named if module.startswith("test_")], path.name
