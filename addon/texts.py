# SPDX-License-Identifier: GPL-3.0-or-later
"""Poise's texts in the language that Blender speaks, from tables that are read as data.

What Blender draws itself (labels, tooltips, choices) it translates by the tables that are
registered here. Sentences that code puts together are English until they are shown: `tr`
finds the sentence of the table that they were made from, with {} for what was put in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "locale"
PACKAGE = __package__.removesuffix(".addon")
BLANK = "{}"

CONTEXT = "Poise"
"""Where Blender looks up what is Poise's own: it has words of its own for "Speed" and "Lead"."""

# Tooltips and plain labels are looked up where all of Blender's are.
CONTEXTS = ("*", CONTEXT)

SURE = 6
"""Letters of its own that a sentence needs, to be looked for before a text is taken apart."""

SEPARATORS = ("; ", ", ")


@cache
def table(language: str) -> dict[str, str]:
    """English -> a language's text; empty for a language that there is no table of.

    Args:
        language: Blender's name of it, such as "de_DE" or "de".
    """
    files = sorted(FOLDER.glob(f"{language.partition('_')[0]}*.json")) if language else []
    found = json.loads(files[0].read_text(encoding="utf-8")) if files else {}
    return {text: own for text, own in found.items() if own}


@cache
def _patterns(language: str) -> tuple[tuple[int, str, re.Pattern, str], ...]:
    """(letters, first letters, pattern, text) of sentences with blanks, those that say most first.

    Args:
        language: as in `table`.
    """
    found = []
    for text, own in table(language).items():
        if BLANK not in text:
            continue
        parts = text.split(BLANK)
        letters = sum(character.isalpha() for part in parts for character in part)
        if letters:
            pattern = "(.*?)".join(map(re.escape, parts))
            found.append((letters, parts[0], re.compile(pattern, re.DOTALL), own))
    return tuple(sorted(found, key=lambda each: (-each[0], -each[3].count(BLANK))))


def _nobody(words: str) -> bool:
    return False


@lru_cache(maxsize=4096)
def translated(text: str, language: str, is_name: Callable[[str], bool] = _nobody) -> str:
    """A text in a language; as it is where the table has no such sentence.

    Of several sentences that it may have been made from, the one with the most letters of its
    own is taken. What was put in is translated, too, where it is a text of Poise.

    Args:
        text: in English, with what was put in.
        language: as in `table`.
        is_name: tells names that users give, which stay.
    """
    own = table(language)
    if not own or not text or is_name(text):
        return text
    if text in own and BLANK not in text:
        return own[text]
    weak = None
    for letters, first, pattern, said in _patterns(language):
        match = pattern.fullmatch(text) if text.startswith(first) else None
        if match and letters >= SURE:
            return _filled(said, match.groups(), language, is_name)
        if match:
            weak = said, match.groups()
            break
    # Sentences that were put one behind the other, and lists.
    for between in SEPARATORS:
        before, found, after = text.partition(between)
        if found and before:
            rest = translated(between + after, language, is_name)
            if rest == between + after:
                rest = between + translated(after, language, is_name)
            whole = translated(before, language, is_name) + rest
            if whole != text:
                return whole
    return _filled(*weak, language, is_name) if weak else text


def _filled(said: str, parts: tuple[str, ...], language: str, is_name) -> str:
    """A sentence with what was put in, that translated, too."""
    own = iter([translated(part, language, is_name) for part in parts])
    return re.sub(re.escape(BLANK), lambda _blank: next(own), said)


def language() -> str:
    """The language that Blender's interface is in; "" for English, or without translations."""
    import bpy

    if not bpy.context.preferences.view.use_translate_interface:
        return ""
    return bpy.app.translations.locale or ""


def tr(text: str) -> str:
    """A text as the interface shows it, in Blender's language.

    Args:
        text: in English.
    """
    spoken = language()
    return translated(text, spoken, _is_name) if table(spoken) else text


def _is_name(words: str) -> bool:
    """True of what an object or an action of the file is called."""
    import bpy

    return words in bpy.data.objects or words in bpy.data.actions


def for_blender() -> dict[str, dict[tuple[str, str], str]]:
    """Language -> (context, English) -> text of what Blender draws itself."""
    tables = {
        path.stem: {
            (context, text): own
            for text, own in table(path.stem).items() if BLANK not in text for context in CONTEXTS
        }
        for path in FOLDER.glob("*.json")
    }
    # Some Blenders call it by the language alone.
    return tables | {name.partition("_")[0]: texts for name, texts in tables.items()}


def in_context(*classes: type) -> None:
    """Let Blender look labels and choices of classes up where Poise's words come before its own.

    Args:
        classes: that are not registered yet.
    """
    for cls in classes:
        cls.bl_translation_context = CONTEXT
        for part in cls.__mro__:
            for setting in getattr(part, "__annotations__", {}).values():
                if hasattr(setting, "keywords"):
                    setting.keywords["translation_context"] = CONTEXT


def register() -> None:
    """Give Blender the tables."""
    import bpy

    bpy.app.translations.register(PACKAGE, for_blender())


def unregister() -> None:
    """Take the tables back."""
    import bpy

    bpy.app.translations.unregister(PACKAGE)
