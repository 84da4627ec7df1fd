# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual that the package brings along: which page is about what, and Online Manual."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import bpy

FOLDER = Path(__file__).resolve().parents[2] / "manual"
FIRST = "index.html"

CLASSES: list[type] = []
"""What the manual is about: whoever registers them says so."""

PAGES = {
    "control": "controllers",
    "equipment": "rigs",
    "limb": "limb-posing",
    "manual": "index",
    "noticed": "motion",
    "posing": "pose-timing",
    "preferences": "motion",
    "presets": "turns",
    "rig": "rigs",
    "rig_roles": "rigs",
    "roles": "rigs",
    "street": "parking-car",
    "styles": "body",
}
"""File of operators, panels or settings -> page, where they are not called the same."""

# What a page explains: its headings, words that stand out, and first cells of its tables.
_SECTION = re.compile(r'<h[23] id="([^"]+)">')
_WORDS = re.compile(r"<(h\d|strong|em|td)\b[^>]*>(.*?)</\1>")
_LAST = ("physics.html", "troubleshooting.html", FIRST, "scripts.html")


@cache
def pages() -> dict[str, str]:
    """File name -> text of each page; empty where the package was not built."""
    found = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.html")}
    order = sorted(found, key=lambda name: (_LAST.index(name) if name in _LAST else -1, name))
    return {name: found[name] for name in order}


@cache
def titles() -> dict[str, str]:
    """Title -> file name of each page."""
    return {re.search(r"<h1[^>]*>(.*?)</h1>", text)[1]: name for name, text in pages().items()}


def sections(name: str) -> Iterator[tuple[str, str]]:
    """(place, text) of each section of a page.

    Args:
        name: its file name.
    """
    first, *rest = _SECTION.split(pages()[name])
    yield name, first
    for anchor, text in zip(rest[::2], rest[1::2], strict=True):
        yield f"{name}#{anchor}", text


@cache
def explained() -> dict[str, dict[str, str]]:
    """Page -> word -> place, of all words that stand out."""
    found: dict[str, dict[str, str]] = {}
    for name in pages():
        places = found.setdefault(name, {})
        for place, text in sections(name):
            # Headings are outside the text that follows them.
            words = [place.partition("#")[2].replace("-", " ").title()]
            for _tag, inside in _WORDS.findall(text):
                words += re.split(r" &gt; |, |<br>", re.sub(r"</?(?:em|strong|code)>", "", inside))
            for word in words:
                places.setdefault(html.unescape(word.strip()), place)
    return found


def page_of(cls: type) -> str:
    """The page that is about an operator, a panel or a group of settings.

    Args:
        cls: its class.
    """
    module = cls.__module__.rpartition(".")[2]
    label = getattr(cls, "bl_label", "")
    name = titles().get(label) or f"{PAGES.get(module, module)}.html"
    return name if name in pages() else FIRST


def place_of(cls: type, label: str) -> str:
    """The section of the manual that explains a label, or the page that is about its class.

    Args:
        cls: class of the operator or the settings.
        label: of the operator or of one of the settings.
    """
    own = page_of(cls)
    for name in (own, *explained()):
        if label in explained().get(name, {}):
            return explained()[name][label]
    words = re.compile(rf"\b{re.escape(html.escape(label, quote=False))}\b")
    return next((place for place, text in sections(own) if words.search(text)), own)


def online_manual() -> tuple[str, list[tuple[str, str]]]:
    """What Online Manual in the right-click menu opens: address, (name, place) of all we have."""
    found = []
    if not pages():
        return "", found
    for cls in CLASSES:
        if issubclass(cls, bpy.types.Operator):
            name = f"bpy.ops.{cls.bl_idname}".lower()
            found.append((name, place_of(cls, cls.bl_label)))
        elif issubclass(cls, bpy.types.PropertyGroup):
            rna = cls.bl_rna
            found += [
                (f"bpy.types.{rna.identifier}.{prop.identifier}".lower(), place_of(cls, prop.name))
                for prop in rna.properties if prop.identifier != "rna_type"
            ]
    return f"{FOLDER.as_uri()}/", found


def register() -> None:
    """Take part in Online Manual."""
    bpy.utils.register_manual_map(online_manual)


def unregister() -> None:
    """Take part no longer."""
    bpy.utils.unregister_manual_map(online_manual)
