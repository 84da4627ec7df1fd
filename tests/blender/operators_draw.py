# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws Poise's panels without a window, and checks what they ask for.

Blender draws no region in the background. Here a panel's `draw` gets a layout
that takes the calls of `bpy.types.UILayout` and fails where Blender would: a
property or operator that is not there, an icon that has no such name, a text
that is no string.
"""

from __future__ import annotations

from types import FunctionType, SimpleNamespace

import bpy

LAYOUT = bpy.types.UILayout.bl_rna
ICONS = set(LAYOUT.functions["label"].parameters["icon"].enum_items.keys())
PARTS = {"row", "column", "column_flow", "grid_flow", "box", "split", "menu_pie"}


class Context:
    """Blender's context with a region, as it is while a sidebar is drawn."""

    region = SimpleNamespace(width=280)

    def __getattr__(self, name):
        return getattr(bpy.context, name)


class Arguments:
    """Properties of an operator that a button sets."""

    def __init__(self, rna):
        self.__dict__["_rna"] = rna

    def __setattr__(self, name, value):
        assert name in self._rna.properties, f"{self._rna.identifier} has no {name}"
        prop = self._rna.properties[name]
        if prop.type == "ENUM":
            assert value in prop.enum_items.keys(), f"{self._rna.identifier}.{name} = {value!r}"


class Layout:
    """Takes what a panel draws; `said` collects its texts."""

    def __init__(self, said: list[str]):
        self.__dict__["said"] = said

    def __setattr__(self, name, value):
        assert name in LAYOUT.properties, f"a layout has no {name}"

    def __getattr__(self, name):
        function = LAYOUT.functions[name]  # KeyError: Blender has none either

        def take(*arguments, **named):
            wrong = set(named) - set(function.parameters.keys())
            assert not wrong, f"layout.{name} takes no {wrong}"
            self._check(named)
            return Layout(self.said) if name in PARTS else None

        return take

    def _check(self, named):
        text, icon = named.get("text", ""), named.get("icon", "NONE")
        assert isinstance(text, str), text
        assert icon in ICONS, icon
        if text:
            self.said.append(text)

    def prop(self, data, name, **named):
        assert name in data.bl_rna.properties, f"{data.bl_rna.identifier} has no {name}"
        self._check(named)

    def operator(self, name, **named):
        group, _, short = name.partition(".")
        rna = getattr(getattr(bpy.ops, group), short).get_rna_type()  # KeyError: no such one
        self._check(named)
        return Arguments(rna)

    def menu(self, name, **named):
        assert hasattr(bpy.types, name), name
        self._check(named)

    def popover(self, panel, **named):
        assert hasattr(bpy.types, panel), panel
        self._check(named)

    def panel(self, name, default_closed=False):
        return Layout(self.said), Layout(self.said)

    def template_list(self, kind, _name, data, items, active_data, active, **_named):
        cls = getattr(bpy.types, kind)
        assert active in active_data.bl_rna.properties
        for index, item in enumerate(getattr(data, items)):
            cls.draw_item(
                Self(cls, self), Context(), Layout(self.said), data, item, 0, active_data, active,
                index, 0,
            )


class Self:
    """Stands for an instance of a panel or menu: only Blender can make a real one."""

    def __init__(self, cls, layout):
        self._cls, self.layout = cls, layout

    def __getattr__(self, name):
        for owner in self._cls.__mro__:
            found = vars(owner).get(name)
            if isinstance(found, property):
                return found.fget(self)
            if isinstance(found, FunctionType):
                return found.__get__(self)
            if found is not None:
                return getattr(self._cls, name)
        return getattr(self._cls, name)


def drawn() -> dict[str, list[str]]:
    """Draw every panel and menu of Poise that would be seen.

    Returns:
        Name of the class -> texts that it drew.
    """
    from poise.addon import registration

    context = Context()
    found = {}
    for cls in registration.CLASSES:
        if not issubclass(cls, (bpy.types.Panel, bpy.types.Menu)):
            continue
        if hasattr(cls, "poll") and not cls.poll(context):
            continue
        said: list[str] = []
        for name in ("draw_header", "draw_header_preset", "draw"):
            function = getattr(cls, name, None)
            if function is not None:
                function(Self(cls, Layout(said)), context)
        found[cls.__name__] = said
    return found
