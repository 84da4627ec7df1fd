# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual: links, pictures, names that scripts use, a page for each panel."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
TEXTS = [*PAGES, ROOT / "README.md", ROOT / "CHANGELOG.md"]

LARGEST, LARGEST_ALL = 400_000, 5_000_000  # bytes of a picture, of all pictures

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def text_of(path):
    return path.read_text(encoding="utf-8")


def anchors(path):
    """Anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text_of(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def classes(folder):
    """Class definitions in the modules of a folder."""
    for path in sorted((ROOT / folder).glob("*.py")):
        for node in ast.parse(text_of(path)).body:
            if isinstance(node, ast.ClassDef):
                yield node


def constant(node, name):
    """A string that a class sets, or None."""
    for item in node.body:
        if isinstance(item, ast.Assign) and item.targets[0].id == name:
            if isinstance(item.value, ast.Constant):
                return item.value.value
    return None


def settings_of(class_name):
    """Names of the annotated settings, and of the methods and properties, of a group."""
    node = next(n for n in classes("addon/properties") if n.name == class_name)
    fields = {i.target.id for i in node.body if isinstance(i, ast.AnnAssign)}
    return fields | {i.name for i in node.body if isinstance(i, ast.FunctionDef)}


OPERATORS = {
    name.removeprefix("poise.")
    for node in classes("operators")
    if (name := constant(node, "bl_idname"))
}
GROUPS = {
    "turns": settings_of("PoiseTurns"),
    "skier": settings_of("PoiseSkierStyle"),
    "snowboarder": settings_of("PoiseSnowboarderStyle"),
    "settings": settings_of("PoiseMotion"),
}


@pytest.mark.parametrize("page", TEXTS, ids=lambda path: path.name)
def test_links_and_pictures_lead_somewhere(page):
    for picture, words, target in LINK.findall(text_of(page)):
        if target.startswith(("http://", "https://")):
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.is_file(), f"{page.name}: {target}"
        assert there.is_relative_to(ROOT)
        if anchor:
            assert anchor in anchors(there), f"{page.name}: {target}"
        if picture:
            assert words, f"{page.name}: {target} says nothing to who cannot see it"


def test_every_picture_is_shown_and_small_enough():
    shown = {
        (page.parent / target).resolve()
        for page in TEXTS
        for picture, _words, target in LINK.findall(text_of(page))
        if picture
    }
    pictures = set((DOCS / "images").iterdir())
    assert pictures == shown
    sizes = {path.name: path.stat().st_size for path in pictures}
    assert max(sizes.values()) <= LARGEST, max(sizes, key=sizes.get)
    assert sum(sizes.values()) <= LARGEST_ALL


def test_every_page_is_listed_and_has_a_picture():
    listed = {target for _p, _w, target in LINK.findall(text_of(DOCS / "README.md"))}
    for page in PAGES:
        if page.name == "README.md":
            continue
        assert page.name in listed
        if page.name not in ("scripts.md", "troubleshooting.md"):
            assert any(picture for picture, _w, _t in LINK.findall(text_of(page))), page.name


def test_every_panel_has_its_page():
    panels = {}
    for node in classes("panels"):
        label = constant(node, "bl_label")
        if label:
            panels[constant(node, "bl_idname") or node.name] = (
                label, constant(node, "bl_parent_id")
            )
    assert len(panels) > 10
    titles = {text_of(page).splitlines()[0].removeprefix("# "): page for page in PAGES}
    for label, parent in panels.values():
        if parent is None and label in titles:
            assert f"*Sidebar > Poise > {label}*" in text_of(titles[label])
            continue
        # A sub-panel, or the menu of presets: a section of its parent's page.
        page = titles[panels[parent][0]] if parent else titles["Turns"]
        heading = "## Presets" if parent is None else f"## {label}"
        assert re.search(f"^{heading}$", text_of(page), re.MULTILINE), (label, page.name)


@pytest.mark.parametrize("page", TEXTS, ids=lambda path: path.name)
def test_names_of_operators_exist(page):
    for name in re.findall(r"bpy\.ops\.poise\.(\w+)", text_of(page)):
        assert name in OPERATORS, f"{page.name}: bpy.ops.poise.{name}"


def test_every_operator_is_documented():
    mentioned = set(re.findall(r"bpy\.ops\.poise\.(\w+)", text_of(DOCS / "scripts.md")))
    # Saving a preset is what the + of the preset menu calls.
    assert OPERATORS - mentioned == {"preset_add"}


@pytest.mark.parametrize("page", TEXTS, ids=lambda path: path.name)
def test_names_of_settings_exist(page):
    text = text_of(page)
    character = settings_of("PoiseCharacter")
    for name in re.findall(r"(?:rig|armature_object)\.poise\.(\w+)", text):
        assert name in character, f"{page.name}: .poise.{name}"
    for group, names in GROUPS.items():
        for name in re.findall(rf"(?<!\w)(?:\.|\b){group}\.(\w+)", text):
            if name not in ("keyframe_insert", "md", "png"):
                assert name in names, f"{page.name}: {group}.{name}"
        for name in re.findall(rf"{group}\.keyframe_insert\('(\w+)'", text):
            assert name in names, f"{page.name}: {group}: {name}"


def test_every_setting_stands_in_the_tables():
    text = text_of(DOCS / "scripts.md")
    for group in ("turns", "skier", "snowboarder"):
        table = text.partition(f"<!-- table: {group} -->")[2].partition("<!-- end")[0]
        rows = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
        node_names = {name for name in GROUPS[group] if not name.startswith("_")}
        assert rows <= node_names
        fields = node_names - {"to_params", "begin", "animated_names", "set_named"}
        assert fields - rows == set(), group


@pytest.mark.parametrize("page", TEXTS, ids=lambda path: path.name)
def test_scripts_compile(page):
    for code in re.findall(r"```python\n(.*?)```", text_of(page), re.DOTALL):
        compile(code, page.name, "exec")
