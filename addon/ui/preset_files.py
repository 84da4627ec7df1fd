# SPDX-License-Identifier: GPL-3.0-or-later
"""Preset files, read as data.

They are written as Blender writes presets, so that its menus list them, but people pass them on:
what they say is parsed and never run. A file says, of `settings`, which is the active motion's:

    settings.turns.speed = 9.0
    settings.skier.set_named("carving")
    settings.gait.sequence.clear()
    item_sub_0 = settings.gait.sequence.add()
    item_sub_0.preset = "TROT"

and nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

ROOT = "settings"
LARGEST = 1_000_000  # bytes
METHODS = ("set_named", "set_list", "clear", "add")
# What Blender writes at the top, and what it says here.
_HEAD = ("import bpy", "settings = bpy.context.view_layer.objects.active.poise.settings")


@dataclass(frozen=True)
class Change:
    """One line of a preset.

    Attributes:
        line: its number.
        path: names from `settings`, or from an item that was added, down to what is changed.
        value: what a setting is set to.
        method: one of METHODS that is called instead, or "".
        arguments: of it.
        named: of it, by name.
        item: name that an added item is given.
    """

    line: int
    path: tuple[str, ...]
    value: Any = None
    method: str = ""
    arguments: tuple = ()
    named: dict[str, Any] = field(default_factory=dict)
    item: str = ""


def read(path: str, groups: Collection[str]) -> list[Change]:
    """What a preset file says.

    Args:
        path: the file.
        groups: names of the groups of settings that it may change.

    Raises:
        ValueError: it says anything else; names the line.
        OSError: it cannot be read.
    """
    if Path(path).stat().st_size > LARGEST:
        raise ValueError(f"it is larger than {LARGEST // 1_000_000} MB")
    try:
        lines = ast.parse(Path(path).read_text(encoding="utf-8")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError("it is not written as Blender writes presets") from None
    changes, known = [], {ROOT}
    for node in lines:
        if ast.unparse(node) in _HEAD:
            continue
        try:
            change = _change(node)
        except (ValueError, TypeError, RecursionError, MemoryError):
            change = None
        if change is None or change.path[0] not in known or (
            change.path[0] == ROOT and (len(change.path) < 2 or change.path[1] not in groups)
        ):
            raise ValueError(f"line {node.lineno} is no value of a setting of a motion or style")
        if change.item:
            known.add(change.item)
        changes.append(change)
    return changes


def _change(node: ast.stmt) -> Change | None:
    """A line of a preset, or None if it is anything else."""
    target, value = None, getattr(node, "value", None)
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
    elif not isinstance(node, ast.Expr):
        return None
    if not isinstance(value, ast.Call):
        path = _names(target)
        return Change(node.lineno, path, ast.literal_eval(value)) if len(path) > 1 else None
    *path, method = _names(value.func) or ("",)
    if method not in METHODS or not path or (target is None) == (method == "add"):
        return None
    if target is not None and (not isinstance(target, ast.Name) or target.id == ROOT):
        return None
    arguments = tuple(ast.literal_eval(argument) for argument in value.args)
    named = {word.arg: ast.literal_eval(word.value) for word in value.keywords if word.arg}
    if len(named) < len(value.keywords):
        return None
    item = getattr(target, "id", "")
    return Change(node.lineno, tuple(path), None, method, arguments, named, item)


def _names(node: ast.expr | None) -> tuple[str, ...]:
    """("settings", "turns", "speed") of `settings.turns.speed`; () of anything else."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        before = _names(node.value)
        return (*before, node.attr) if before else ()
    return ()


def apply(changes: list[Change], settings: bpy.types.PropertyGroup) -> None:
    """Do what a preset says, up to the first line that cannot be.

    Args:
        changes: what `read` returned.
        settings: of a motion.

    Raises:
        ValueError: there is no such setting, or it takes no such value; names the line.
    """
    items: dict[str, Any] = {ROOT: settings}
    for change in changes:
        try:
            *path, last = change.path
            owner = items[path[0]] if path else None
            for name in path[1:]:
                owner = _value(owner, name)
            if not change.method:
                _value(owner, last)
                setattr(owner, last, change.value)
                continue
            called = items[last] if owner is None else _value(owner, last)
            made = getattr(called, change.method)(*change.arguments, **change.named)
            if change.item:
                items[change.item] = made
        except Exception as error:  # whatever Blender or a setting says to it
            raise ValueError(f"line {change.line}: {' '.join(str(error).split())}") from error


def _value(owner: Any, name: str) -> Any:
    """A setting of a group: none of its methods, nor anything else of Python's."""
    if name not in owner.bl_rna.properties or name == "rna_type":
        raise ValueError(f"there is no setting {name}")
    return getattr(owner, name)
