# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws Poise's panels without a window, and checks what they ask for.

Blender draws no region in the background. Here a panel's `draw` gets a layout
that takes the calls of `bpy.types.UILayout` and fails where Blender would: a
property or operator that is not there, an icon that has no such name, a text
that is no string.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import FunctionType, SimpleNamespace
from typing import NamedTuple

import blf
import bpy

LAYOUT = bpy.types.UILayout.bl_rna
ICONS = set(LAYOUT.functions["label"].parameters["icon"].enum_items.keys())
# Pixels at scale 1, found by texts of all widths in a window.
PANEL = 225.0  # inside a panel of a sidebar that is as wide as Blender makes it
MARGINS = {"box": 10.0, "list": 32.0}
GAP = 8.0  # between the parts of a row that are not aligned
MARGIN = 3.0  # to both sides of a button's text
ICON = 22.0
TICK = 20.0
ARROW = 16.0
# Places of a name and its value beside each other, as a share of the width and what is not
# theirs of it: the gap to the value, and the dot for keys behind that.
NAME = (0.4, 12.0)
VALUE = (0.6, 20.0)
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


class Text(NamedTuple):
    """A text that Blender cuts where its place is too narrow."""

    words: str
    beside: float = 0.0  # what an icon, an arrow or a tick box takes of the place
    part: tuple[float, float] = (1.0, 0.0)  # of the layout's width: a share and, of it, less

    def icons_only(self) -> bool:
        return not self.words and self.beside > 0.0


class Layout:
    """Takes what a panel draws; `said` collects its texts."""

    def __init__(self, said: list[str], kind="column", split=False, factor=0.0, align=False,
                 columns=1):
        self.__dict__.update(said=said, kind=kind, use_property_split=split, factor=factor,
                             gap=0.0 if align else GAP, columns=columns, parts=[])

    def __setattr__(self, name, value):
        assert name in LAYOUT.properties, f"a layout has no {name}"
        self.__dict__[name] = value

    def __getattr__(self, name):
        function = LAYOUT.functions[name]  # KeyError: Blender has none either

        def take(*arguments, **named):
            wrong = set(named) - set(function.parameters.keys())
            assert not wrong, f"layout.{name} takes no {wrong}"
            self._check(named)
            chosen = {key: named[key] for key in ("factor", "align", "columns") if key in named}
            part = self._part(name, **chosen)
            return part if name in PARTS else None

        return take

    def _part(self, kind="column", **chosen):
        part = Layout(self.said, kind, self.use_property_split, **chosen)
        self.parts.append(part)
        return part

    def _check(self, named):
        text, icon = named.get("text", ""), named.get("icon", "NONE")
        assert isinstance(text, str), text
        assert icon in ICONS, icon
        if text:
            self.said.append(text)

    def _button(self, named, words, beside=0.0):
        """A button or label: its text, with the icon before it."""
        words = named.get("text", words)
        words = _said(words) if named.get("translate", True) else words
        icon = 0.0 if named.get("icon", "NONE") == "NONE" else ICON
        self.parts.append(Text(words, icon + beside))

    def label(self, **named):
        self._check(named)
        self._button(named, "")

    def prop(self, data, name, **named):
        if name.startswith('["'):
            self._own_property(data, name[2:-2], named)
            return
        assert name in data.bl_rna.properties, f"{data.bl_rna.identifier} has no {name}"
        self._check(named)
        prop = data.bl_rna.properties[name]
        words = _said(named.get("text", prop.name))
        place = self._part()
        if prop.type == "BOOLEAN":
            if self.use_property_split and prop.is_array:
                place.parts.append(Text(words, 0.0, NAME))
            elif self.use_property_split:
                place.parts.append(Text(words, TICK, VALUE))
            else:
                place._button(named, words, 0.0 if "icon" in named else TICK)
            return
        split = self.use_property_split and bool(words)
        if split:
            place.parts.append(Text(words, 0.0, NAME))
        elif words and prop.type in ("INT", "FLOAT"):
            # Its name and its number share a field, between arrows.
            place.parts.append(Text(words + "  0.000", 2 * ICON))
        # Without a name, too, there is room for the dot behind the value.
        share, less = VALUE if split else (1.0, VALUE[1] * self.use_property_split)
        if prop.type == "STRING" and not split:
            place._button(named | {"text": getattr(data, name), "translate": False}, "", less)
        elif prop.type == "ENUM":
            # A field shows any of the items, or there is one for each of them.
            expanded = prop.is_enum_flag or named.get("expand", False)
            count = len(prop.enum_items) if expanded else 1
            beside, part = 2 * MARGIN if expanded else ARROW, (share / count, less / count)
            place.parts.extend(Text(_said(item.name), beside, part) for item in prop.enum_items)

    def _own_property(self, data, name, named):
        """A number that is a custom property."""
        assert isinstance(data[name], (int, float)), f"{data} has no number {name}"
        self._check(named)
        part = NAME if self.use_property_split else (1.0, 0.0)
        self._part().parts.append(Text(named.get("text", name), 0.0, part))

    def prop_enum(self, data, name, value, **named):
        self._check(named)
        self._button(named, data.bl_rna.properties[name].enum_items[value].name)

    def operator(self, name, **named):
        group, _, short = name.partition(".")
        rna = getattr(getattr(bpy.ops, group), short).get_rna_type()  # KeyError: no such one
        self._check(named)
        self._button(named, rna.name)
        return Arguments(rna)

    def operator_menu_enum(self, name, choice, **named):
        self.operator(name, **named)
        self._check(named)

    def menu(self, name, **named):
        assert hasattr(bpy.types, name), name
        self._check(named)
        self._button(named, getattr(bpy.types, name).bl_label, ARROW)

    def popover(self, panel, **named):
        assert hasattr(bpy.types, panel), panel
        self._check(named)
        self._button(named, getattr(bpy.types, panel).bl_label)

    def panel(self, name, default_closed=False):
        return self._part("row"), self._part()

    def template_list(self, kind, _name, data, items, active_data, active, **_named):
        cls = getattr(bpy.types, kind)
        assert active in active_data.bl_rna.properties
        place = self._part("list")
        for index, item in enumerate(getattr(data, items)):
            layout = place._part()
            cls.draw_item(
                Self(cls, self), Context(), layout, data, item, 0, active_data, active, index, 0
            )

    # -- widths ----------------------------------------------------------------

    def icons_only(self) -> bool:
        return bool(self.parts) and all(part.icons_only() for part in self.parts)

    def cut(self, width: float) -> list[str]:
        """Texts that are wider than their place.

        Args:
            width: of this layout, in pixels.
        """
        found = []
        widths = self._widths(width - MARGINS.get(self.kind, 0.0))
        for part, place in zip(self.parts, widths, strict=True):
            if isinstance(part, Layout):
                found += part.cut(place)
                continue
            share, less = part.part
            free, needed = share * place - less - part.beside, width_of(part.words)
            if part.words.strip() and needed > free:
                found.append(f"{part.words!r} is {needed:.0f} wide, its place {free:.0f}")
        return found

    def words(self) -> Iterator[str]:
        """All texts, in their order."""
        for part in self.parts:
            yield from part.words() if isinstance(part, Layout) else (part.words,)

    def _widths(self, width):
        """How Blender shares a width among the parts: icons keep theirs, others get the same."""
        if self.kind not in ("row", "split"):
            width -= self.gap * (self.columns - 1)
            return [width / self.columns] * len(self.parts)
        count = len(self.parts)
        width -= self.gap * (count - 1)
        if self.kind == "split":
            first = self.factor or 1.0 / count
            return [first * width] + [(1.0 - first) * width / max(count - 1, 1)] * (count - 1)
        icons = [part.icons_only() for part in self.parts]
        each = (width - ICON * sum(icons)) / max(count - sum(icons), 1)
        return [ICON if icon else each for icon in icons]


@cache
def width_of(words: str) -> float:
    """Width of a text in pixels, in Blender's own font and size.

    Args:
        words: the text.
    """
    blf.size(0, 11.0)
    return blf.dimensions(0, words)[0]


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
    return {name: layout.said for name, layout in _layouts()}


def cut() -> dict[str, list[str]]:
    """Draw every panel of Poise that would be seen, in a sidebar as wide as Blender makes it, in
    English and in each other language.

    Returns:
        Name of the class -> what is said of each text that Blender would cut; of names that
        the user gives, too.
    """
    from poise.addon import texts

    found: dict[str, list[str]] = {}
    new: set[str] = set()
    for language in ("", *sorted(path.stem for path in texts.FOLDER.glob("*.json"))):
        with _speaking(language):
            layouts = [each for each in _layouts(new if language else None) if "_PT_" in each[0]]
        for name, layout in layouts:
            if said := layout.cut(PANEL):
                found.setdefault(name, []).extend(said)
            # The same words fit in the other languages as they did before.
            words = (name, *layout.words())
            if words not in _fit:
                _fit.add(words)
                new.add(name)
    return found


_fit: set[tuple[str, ...]] = set()

_said = str
"""What Blender makes of a text that it translates itself."""


@contextmanager
def _speaking(language: str) -> Iterator[None]:
    """Draw in a language: Blender as a Python module has none."""
    from poise.addon import texts

    global _said
    former = texts.language
    texts.language, _said = (lambda: language), lambda words: texts.translated(words, language)
    try:
        yield
    finally:
        texts.language, _said = former, str


def _layouts(wanted: set[str] | None = None) -> Iterator[tuple[str, Layout]]:
    from poise.addon import registration

    context = Context()
    for cls in registration.CLASSES:
        if not issubclass(cls, (bpy.types.Panel, bpy.types.Menu)):
            continue
        if wanted is not None and cls.__name__ not in wanted:
            continue
        if hasattr(cls, "poll") and not cls.poll(context):
            continue
        layout = Layout([])
        for name in ("draw_header", "draw_header_preset", "draw"):
            function = getattr(cls, name, None)
            if function is not None:
                function(Self(cls, layout if name == "draw" else Layout(layout.said)), context)
        yield cls.__name__, layout
