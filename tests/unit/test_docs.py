# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual: links, pictures, names that scripts use, panels, problems."""

import ast
import re
from pathlib import Path

import pytest
from poise.addon.mapping.gaze import EyesStyle
from poise.addon.mapping.registry import STYLE_GROUPS
from poise.addon.mapping.rows import rows_of

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
TEXTS = [*PAGES, ROOT / "README.md", ROOT / "CHANGELOG.md"]

LARGEST, LARGEST_ALL = 400_000, 12_000_000  # bytes of a picture, of all pictures

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
    """Names of the settings, and of the methods and properties, of a group."""
    node = next(n for n in classes("addon/settings") if n.name == class_name)
    fields = {i.target.id for i in node.body if isinstance(i, ast.AnnAssign)}
    rows = {
        call.args[0].value for call in ast.walk(node)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Row"
    }
    return fields | rows | {i.name for i in node.body if isinstance(i, ast.FunctionDef)}


def style_of(style):
    """Names of the settings of a body's style."""
    return {row.name for row in rows_of(style)} | {"set_named"}


OPERATORS = {
    name.removeprefix("poise.")
    for node in classes("operators")
    if (name := constant(node, "bl_idname"))
}
GROUPS = {
    "turns": settings_of("PoiseTurns"),
    "path": settings_of("PoisePath"),
    "gait": settings_of("PoiseGait"),
    "pose_timing": settings_of("PoisePoseTiming"),
    "control": settings_of("PoiseControl"),
    "freeform": settings_of("PoiseFreeform"),
    **{name: style_of(mapping.style) for name, mapping in STYLE_GROUPS.items()},
    "eyes": style_of(EyesStyle),
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
        if page.name not in ("scripts.md", "troubleshooting.md", "house.md"):
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
    # Saving a preset is what the + of the preset menus calls.
    assert OPERATORS - mentioned == {"preset_add", "gait_preset_add"}


@pytest.mark.parametrize("page", TEXTS, ids=lambda path: path.name)
def test_names_of_settings_exist(page):
    text = text_of(page)
    character = settings_of("PoiseCharacter") | set(GROUPS)
    for name in re.findall(r"(?:rig|armature_object)\.poise\.(\w+)", text):
        assert name in character, f"{page.name}: .poise.{name}"
    for group, names in GROUPS.items():
        for name in re.findall(rf"(?<!\w)(?:\.|\b){group}\.(\w+)", text):
            if name not in ("keyframe_insert", "md", "png", "py"):
                assert name in names, f"{page.name}: {group}.{name}"
        for name in re.findall(rf"{group}\.keyframe_insert\('(\w+)'", text):
            assert name in names, f"{page.name}: {group}: {name}"


def test_every_setting_stands_in_the_tables():
    text = text_of(DOCS / "scripts.md")
    for group in sorted(set(GROUPS) - {"settings"}):
        table = text.partition(f"<!-- table: {group} -->")[2].partition("<!-- end")[0]
        rows = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
        node_names = {name for name in GROUPS[group] if not name.startswith("_")}
        assert rows <= node_names
        fields = node_names - {
            "to_params", "begin", "set_named", "add_speed", "speed_pairs",
            "set_list",
            "add", "go_on_from", "take_from", "stored", "bring_back",
        }
        assert fields - rows == set(), group


@pytest.mark.parametrize("page", TEXTS, ids=lambda path: path.name)
def test_scripts_compile(page):
    for code in re.findall(r"```python\n(.*?)```", text_of(page), re.DOTALL):
        compile(code, page.name, "exec")


# Problems: every call that makes one is read from the source, with its code and
# its message, in which "\u2026" stands for what is put in when it is made.

BLANK = "\u2026"
CODE, MESSAGE = ("code",), ("message", "opening")


def sources():
    """Syntax trees of everything that may list a problem.

    Rooms of solvers that nothing of Blender's side imports list none that anybody could see.
    """
    users = "".join(text_of(path) for path in (ROOT / "addon").rglob("*.py"))
    for folder in ("solvers", "addon", "operators"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            room = path.relative_to(ROOT / folder).parts[0]
            if folder != "solvers" or room.endswith(".py") or f"solvers.{room}" in users:
                yield path, ast.parse(text_of(path))


def makers():
    """What makes a problem from a code -> names of its arguments, in order.

    A name that starts with an underscore is known in its own file alone.
    """
    found = {}
    for path, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name == "Problem":
                found["Problem"] = [
                    item.target.id for item in node.body if isinstance(item, ast.AnnAssign)
                ]
            elif isinstance(node, ast.FunctionDef):
                names = [item.arg for item in (*node.args.posonlyargs, *node.args.args,
                                               *node.args.kwonlyargs)]
                if set(CODE) & set(names):
                    found[_known_as(path, node.name)] = names
    return found


def _known_as(path, name):
    return (path, name) if name.startswith("_") else name


def readings(node):
    """Every text that an expression may be, with blanks for what is put in."""
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if isinstance(node, ast.IfExp):
        return readings(node.body) + readings(node.orelse)
    if isinstance(node, ast.JoinedStr):
        return ["".join(
            str(part.value) if isinstance(part, ast.Constant) else BLANK for part in node.values
        )]
    return [BLANK]


def problems_of_source():
    """code -> messages of every problem that the source can list."""
    known, found = makers(), {}
    for path, tree in sources():
        own = {
            call
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and _known_as(path, node.name) in known
            for call in ast.walk(node)
        }
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call) or call in own:
                continue
            function = call.func
            name = _known_as(path, getattr(function, "attr", getattr(function, "id", "")))
            if name not in known:
                continue
            given = dict(zip(known[name], call.args, strict=False))
            given |= {item.arg: item.value for item in call.keywords}
            codes = [text for key in CODE if key in given for text in readings(given[key])]
            messages = [text for key in MESSAGE if key in given for text in readings(given[key])]
            assert codes and BLANK not in codes, f"{path.name}:{call.lineno}: which code?"
            assert messages, f"{path.name}:{call.lineno}: which message?"
            for code in codes:
                found.setdefault(code, set()).update(messages)
    return found


def problems_of_manual():
    """code -> lines of the problem list that the manual's table has for it."""
    found = {}
    for row in re.findall(r"^\| (.*) \|$", text_of(DOCS / "problems.md"), re.MULTILINE)[1:]:
        lines, _meaning, _help, codes = row.split(" | ")
        for code in re.findall(r"`(\w+)`", codes):
            found.setdefault(code, set()).update(lines.split("<br>"))
    return found


def begins(line, message):
    """Whether a message can begin as a line of the manual does."""
    words = re.findall(rf"{BLANK}|[^\s{BLANK}:,.]+", line)
    pattern = r"\W*?".join(
        ".*?" if word == BLANK else f"(?:{re.escape(word)}|{BLANK})" for word in words
    )
    return re.match(pattern, message) is not None


def test_a_line_of_the_manual_is_told_from_another():
    assert begins(f"Falls to the left at {BLANK}", f"Falls to the {BLANK} at {BLANK} s: limits")
    assert begins(f"{BLANK} is {BLANK} m tall", f"{BLANK} is {BLANK} m tall in this scene")
    assert not begins(f"Stops at {BLANK}", f"Comes to a stop at {BLANK} s")
    assert not begins("The skis are edged", "The board is edged")


def test_every_problem_is_in_the_manual_and_no_other():
    source, manual = problems_of_source(), problems_of_manual()
    # Made by the solver, by the mapping, by the pipeline and by a bake's helper.
    assert {"FALL", "LEG_REACH", "SIZE", "REACH"} <= set(source)
    assert set(source) == set(manual)
    for code, messages in source.items():
        if BLANK in messages:
            continue  # made elsewhere
        for message in messages:
            assert any(begins(line, message) for line in manual[code]), (code, message)
        for line in manual[code]:
            assert any(begins(line, message) for message in messages), (code, line)


# Words of panels: what stands out in a page that explains, not in the tables of scripts.md alone.


def marked(text):
    """Words of a page that stand out: headings, bold and italic ones, first cells of tables."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    found = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    found += [cell for row in re.findall(r"^\|(.*)\|$", text, re.MULTILINE)
              for cell in row.split("|")[:-1]]
    found += re.findall(r"\*\*([^*]+)\*\*", text)
    found += re.findall(r"(?<!\*)\*([^*\n]+(?:\n[^*\n]+)?)\*", text)
    whole = [" ".join(words.split()) for words in found]
    parts = [part for words in whole for part in re.split(r" > |, |<br>| or ", words)]
    return {words.strip(" *") for words in (*whole, *parts)}


EXPLAINED = set().union(
    *(marked(text_of(page)) for page in PAGES if page.name not in ("scripts.md", "house.md"))
)
PANELS = [ast.parse(text_of(path)) for path in sorted((ROOT / "panels").glob("*.py"))]
# Names that panels draw properties by.
DRAWN = {
    node.value for tree in PANELS for node in ast.walk(tree)
    if isinstance(node, ast.Constant) and isinstance(node.value, str)
}
# What a panel calls a setting under a title that says the rest of its name.
(SHORT,) = (
    ast.literal_eval(node.value) for tree in PANELS for node in tree.body
    if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "SHORT"
)
# Drawn by an icon, or as a list under a title of its own.
NO_WORD = {
    "sequence", "gaits", "targets", "target_index", "bone_index", "disturbance_index", "overlaps",
    "overlap_index", "source", "number", "controllers", "script_index", "postures",
    "posture_index", "speed_points", "speed_points_index", "footprints_index", "kind",
}


def settings_tables():
    """(table, name, label) of each setting of the tables that `make manual` writes."""
    text = text_of(DOCS / "scripts.md")
    for table, rows in re.findall(r"<!-- table: (.*?) -->(.*?)<!-- end", text, re.DOTALL):
        for name, label in re.findall(r"^\| `(\w+)` \| ([^|]+?) \|", rows, re.MULTILINE):
            if table != "operators":
                yield table, name, label


def test_every_setting_of_the_panels_is_explained():
    found, wrong = 0, []
    for table, name, label in settings_tables():
        if table in STYLE_GROUPS or table == "eyes" or name in DRAWN - NO_WORD:
            found += 1
            if not {label, SHORT.get(name)} & EXPLAINED:
                wrong.append(f"{table}.{name}: {label}")
    assert found > 300
    assert wrong == [], "to be explained in docs/, where they stand out"


def test_every_choice_of_the_settings_is_explained():
    """Choices are tuples of an identifier, a label and a tooltip."""
    wrong = []
    for path in sorted((ROOT / "addon" / "settings").glob("*.py")):
        for node in ast.walk(ast.parse(text_of(path))):
            if not isinstance(node, ast.Tuple) or not 3 <= len(node.elts) <= 5:
                continue
            texts = [getattr(part, "value", None) for part in node.elts[:3]]
            if all(isinstance(text, str) for text in texts) and texts[0].isupper():
                label = texts[1]
                if " " in texts[2] and label not in EXPLAINED:
                    wrong.append(f"{path.name}: {label}")
    assert wrong == [], "to be explained in docs/, where they stand out"


def test_every_number_of_the_panels_boxes_is_explained():
    """Rows of boxes are pairs of what it is and how much, made where a family shows itself."""
    found = set()
    for path in sorted((ROOT / "addon" / "families").rglob("*.py")):
        if path.stem not in ("view", "numbers"):
            continue
        for node in ast.walk(ast.parse(text_of(path))):
            if isinstance(node, ast.Tuple) and len(node.elts) in (2, 4):
                name, value = getattr(node.elts[0], "value", None), node.elts[1]
                if isinstance(name, str) and re.fullmatch(r"[A-Z][a-z]+( [A-Za-z]+)*", name):
                    if not isinstance(value, ast.Constant):
                        found.add(name)
    assert {"Way", "Half Turn", "Froude Number"} <= found
    assert found - EXPLAINED == set(), "to be explained in docs/, where they stand out"
