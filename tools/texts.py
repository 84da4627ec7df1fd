# SPDX-License-Identifier: GPL-3.0-or-later
"""All texts that Poise shows, and what of them a language's table lacks.

    python tools/texts.py            what is missing in addon/locale/de_DE.json, or wrong there
    python tools/texts.py write      puts what is missing into it, with empty translations

Runs in the "blender" environment: labels and tooltips are read from the registered
classes; sentences that code puts together are read from the source, with {} where
something is put in.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from environments import ROOT

ROOMS = ("addon", "operators", "panels", "solvers")
LOCALE = ROOT / "addon" / "locale"
APART = Path(__file__).with_name("texts_apart.txt")
"""Names of data, and the like, that read as texts: nobody translates them."""

# Errors of whoever writes scripts or code, not of whoever animates.
_DEVELOPERS = {"ValueError", "TypeError", "RuntimeError", "AttributeError", "KeyError",
               "NotImplementedError", "LinAlgError", "StoredError", "AssertionError"}
# Calls whose texts nobody reads: names of data, patterns, files.
_APART = {"compile", "match", "search", "sub", "split", "replace", "strip", "startswith",
          "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "getattr",
          "property", "array", "einsum", "encode", "TypeVar"}
BLANK = "{}"
_FORMAT = re.compile(r"\{[^{}]*\}")


def template(node: ast.AST) -> str | None:
    """A text as it stands in the source, with {} for what is put in; None if it is none.

    Args:
        node: an expression.
    """
    if isinstance(node, ast.Constant):
        # What is filled in by format().
        return _FORMAT.sub(BLANK, node.value) if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else BLANK for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = template(node.left), template(node.right)
        if parts != (None, None):
            return "".join(BLANK if part is None else part for part in parts)
    return None


def is_text(words: str) -> bool:
    """True of what reads as words and is no code, pattern, file or key.

    Args:
        words: a template.
    """
    plain = words.replace(BLANK, "")
    if not re.search(r"[A-Za-z]{2}", plain) or re.search(r"[<>\n\\|_=\[\]]|::|\bbpy\b|^--", plain):
        return False
    return bool(re.search(r"[A-Za-z,;:.)}] +[A-Za-z({\d]", words)) or bool(
        re.fullmatch(r"[A-Z][a-z]+(-[a-z]+)*", words)
    )


def sources() -> Iterator[tuple[Path, ast.Module]]:
    """(file, syntax tree) of everything that may show a text."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def of_code() -> dict[str, str]:
    """Text -> "file:line" of each that stands in the source, but those that are kept apart."""
    found: dict[str, str] = {}
    apart = set(APART.read_text(encoding="utf-8").splitlines())

    def visit(node: ast.AST, place: str) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # documentation
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in _DEVELOPERS | _APART:
                return
        words = template(node)
        if words is not None:
            if is_text(words) and words not in apart:
                found.setdefault(words, f"{place}:{node.lineno}")
            for part in ast.walk(node):
                if isinstance(part, ast.FormattedValue):
                    visit(part.value, place)
            return
        if isinstance(node, ast.ClassDef) and "_OT_" in node.name:
            # An operator's tooltip.
            tooltip = ast.get_docstring(node, clean=False)
            if tooltip:
                found.setdefault(tooltip, f"{place}:{node.lineno}")
        for child in ast.iter_child_nodes(node):
            visit(child, place)

    for path, tree in sources():
        visit(tree, path.relative_to(ROOT).as_posix())
    return found


def of_classes() -> dict[str, str]:
    """Text -> class of each that Blender shows of what is registered: labels, tooltips, choices."""
    import bpy
    from poise.addon import registration
    from poise.addon.ui import menus

    found: dict[str, str] = {}

    def take(place: str, *texts: str) -> None:
        for text in texts:
            # Poise's own book-keeping is called by its identifiers.
            if re.search("[A-Za-z]{2}", text) and not re.fullmatch("[a-z_]+", text):
                found.setdefault(_FORMAT.sub(BLANK, text), place)

    for cls in (*registration.CLASSES, *menus.CLASSES):
        name = cls.__name__
        take(name, getattr(cls, "bl_label", ""))
        rna = cls.bl_rna
        if issubclass(cls, bpy.types.Operator):
            rna = getattr(bpy.ops.poise, cls.bl_idname.partition(".")[2]).get_rna_type()
            take(name, rna.description)
        if issubclass(cls, bpy.types.Panel | bpy.types.Menu | bpy.types.UIList):
            continue
        own = {key for base in cls.__mro__ for key in vars(base).get("__annotations__", {})}
        for prop in rna.properties:
            if prop.identifier not in own:
                continue
            take(f"{name}.{prop.identifier}", prop.name, prop.description)
            if prop.type == "ENUM":
                for item in prop.enum_items:
                    take(f"{name}.{prop.identifier}", item.name, item.description)
    return found


def missing(texts: dict[str, str], table: dict[str, str]) -> dict[str, str]:
    """Text -> where it stands, of those that a table lacks.

    Args:
        texts: of `of_code` or `of_classes`.
        table: English -> translation.
    """
    return {text: place for text, place in texts.items() if not table.get(text)}


def wrong(table: dict[str, str]) -> list[str]:
    """Texts of a table whose translations do not put in what they do.

    Args:
        table: English -> translation.
    """
    return [text for text, own in table.items() if text.count(BLANK) != own.count(BLANK)]


def read(path: Path) -> dict[str, str]:
    """A table.

    Args:
        path: its file.
    """
    return json.loads(path.read_text(encoding="utf-8"))


def write(path: Path, table: dict[str, str]) -> None:
    """Write a table, a line for each text, in their order.

    Args:
        path: its file.
        table: English -> translation.
    """
    text = json.dumps(table, ensure_ascii=False, indent=0, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Say what each table lacks, or put it in to be translated."""
    import installed

    installed.start()
    installed.new_file()
    texts = of_classes() | of_code()
    for path in sorted(LOCALE.glob("*.json")):
        table = read(path)
        lacks = missing(texts, table)
        for text, place in lacks.items():
            print(f"{json.dumps(text, ensure_ascii=False)}  {place}")
        print(f"{path.name}: {len(lacks)} of {len(texts)} texts missing, wrong: {wrong(table)}")
        if "write" in sys.argv[1:]:
            write(path, table | dict.fromkeys(lacks, ""))


if __name__ == "__main__":
    main()
