# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of the manual: every operator, setting and preset, read from the installed add-on.

    python tools/manual.py

writes them anew between their marks in docs/; a test compares.
"""

from __future__ import annotations

import re
import sys
from math import degrees
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import installed

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = ("scripts.md", "turns.md", "body.md")

UNITS = {
    "VELOCITY": "length/s", "ACCELERATION": "length/s²", "LENGTH": "length", "AREA": "length²",
    "ROTATION": "rad",
    "MASS": "kg", "TIME_ABSOLUTE": "s", "FREQUENCY": "Hz", "CAMERA": "mm",
}

OPERATORS = (
    "character_add", "character_duplicate", "character_remove",
    "rig_roles_find", "rig_stand_up", "rig_role_add", "rig_role_remove",
    "rig_roles_export", "rig_roles_import", "rig_roles_save", "rig_roles_load",
    "rig_roles_delete", "motion_add", "motion_activate", "motion_move", "motion_remove",
    "motion_select", "motion_view", "heading_drag", "scene_range_set",
    "preset_apply", "settings_copy", "path_plan", "gate_add", "slalom_course_add",
    "gait_add", "gait_remove", "gait_move", "gait_mirror", "gait_speed_add", "gait_speed_remove",
    "gait_cycle", "gait_drag",
    "footprints_edit", "footprints_adapt", "footprints_reset", "footprints_remove",
    "footprints_bend", "footprints_scale", "footprints_retime", "footprints_mirror",
    "footprints_copy", "footprints_paste", "footprints_select",
    "target_add", "target_update", "target_remove", "disturbance_add", "disturbance_remove",
    "overlap_add", "overlap_remove", "bone_setting_add", "bone_setting_remove", "pose_check",
    "limb_pose",
    "figure_setup", "figure_remove", "controller_add", "controller_remove", "controller_build",
    "jump_find",
    "controller_import", "controller_export", "destination_set", "destination_remove",
    "start_set", "start_drag", "script_add", "script_remove", "script_move", "script_region",
    "script_import",
    "script_export",
    "posture_add", "posture_replace", "posture_update", "posture_remove", "posture_duplicate",
    "posture_limb", "posture_move", "posture_mirror", "posture_pose", "postures_from_action",
    "pace_edit", "postures_export", "postures_import",
    "bake", "bake_all", "bake_check", "bake_clear", "slope_add", "trail_add",
    "markers_add", "markers_clear", "chase_camera_add", "playblast", "diagram_save",
    "diagram_image",
    "mesh_swap", "mesh_restore", "equipment_attach", "equipment_detach", "equipment_hide",
    "problem_show", "problem_fix", "manual_open",
)

# Settings of a motion that scripts may set; the rest is Poise's own book-keeping.
MOTION = (
    "range_mode", "frame_start", "frame_end", "duration", "after", "mirror", "body_parts",
    "key_mode", "key_step", "keys_between", "target", "push_to_nla", "edited_keys", "show_preview",
    "live_bake",
)


def unit_of(prop, row=None) -> str:
    """Unit of a setting, "" for a plain number, a choice or a switch.

    Args:
        prop: a property of Blender's RNA.
        row: its row, if it has one.
    """
    if row is not None and not row.unit.isupper():
        return row.unit
    own = UNITS.get(getattr(prop, "unit", ""), "")
    if prop.type != "FLOAT":
        return ""
    return "m" if " in metres" in prop.description else own


def value_of(prop) -> str:
    """Default of a setting as a script would write it, with degrees beside radians.

    Args:
        prop: a property of Blender's RNA.
    """
    if prop.identifier == "duration":
        return ""  # follows from start and end
    if prop.type == "COLLECTION":
        return "empty"
    if prop.type == "ENUM":
        if prop.is_enum_flag:
            return "all" if len(prop.default_flag) == len(prop.enum_items) else "some"
        return f"`'{prop.default}'`"
    if prop.type == "POINTER":
        return "`None`"
    if prop.type == "STRING":
        return f"`'{prop.default}'`"
    if prop.type == "BOOLEAN":
        return f"`{prop.default}`"
    if getattr(prop, "is_array", False):
        return "(" + ", ".join(f"{value:.2g}" for value in prop.default_array) + ")"
    if prop.type == "FLOAT" and prop.unit == "ROTATION":
        return f"{prop.default:.4g} ({degrees(prop.default):.3g}°)"
    return f"{prop.default:.4g}" if prop.type == "FLOAT" else f"{prop.default}"


def _choices(prop) -> str:
    if prop.type != "ENUM":
        return ""
    return ": " + ", ".join(f"`'{item.identifier}'`" for item in prop.enum_items)


def settings_table(rna, names) -> str:
    """A Markdown table of settings.

    Args:
        rna: the RNA of their group.
        names: which of them.
    """
    import bpy

    groups = bpy.types.PropertyGroup.__subclasses__()
    (group,) = (group for group in groups if group.__name__ == rna.identifier)
    rows = {row.name: row for row in getattr(group, "ROWS", ())}
    lines = ["| name | label | unit | default | keyed | what it is |", "|---|---|---|---|---|---|"]
    for name in names:
        prop, row = rna.properties[name], rows.get(name)
        lines.append(
            f"| `{name}` | {prop.name} | {unit_of(prop, row)} | {value_of(prop)} | "
            f"{'yes' if row and row.sampled else ''} | {prop.description}{_choices(prop)} |"
        )
    return "\n".join(lines)


def operators_table() -> str:
    """A Markdown table of the operators and their options."""
    import bpy

    lines = ["| operator | options | what it does |", "|---|---|---|"]
    for name in OPERATORS:
        rna = getattr(bpy.ops.poise, name).get_rna_type()
        options = []
        for prop in rna.properties:
            if prop.identifier == "rna_type" or prop.is_hidden:
                continue
            unit = unit_of(prop)
            options.append(f"`{prop.identifier}`" + (f" ({unit})" if unit else ""))
        text = " ".join(rna.description.split())  # a docstring may have lines
        lines.append(f"| `bpy.ops.poise.{name}` | {', '.join(options)} | {text} |")
    return "\n".join(lines)


def style_names(rna) -> list[str]:
    """Settings of a body's style in the order of the panel.

    Args:
        rna: the RNA of the style's group.
    """
    return [p.identifier for p in rna.properties if p.identifier not in {"rna_type", "name"}]


def amounts_table() -> str:
    """A Markdown table of all amounts of all bodies, in the order of their panels."""
    from poise.addon.mapping.gaze import EyesStyle
    from poise.addon.mapping.registry import STYLE_GROUPS
    from poise.addon.mapping.rows import rows_of

    found: dict[str, dict[tuple[str, str], None]] = {}
    for style in (*(mapping.style for mapping in STYLE_GROUPS.values()), EyesStyle):
        for row in rows_of(style):
            found.setdefault(row.section, {})[row.label, row.text] = None
    lines = ["| part | amount | what it is |", "|---|---|---|"]
    lines += [
        f"| {part} | {label} | {text} |" for part, rows in found.items() for label, text in rows
    ]
    return "\n".join(lines)


def presets_table(kind: str) -> str:
    """A Markdown table of a character's presets and what their turns are like.

    Args:
        kind: kind of character, such as "SKIER".
    """
    import bpy
    from poise.addon import pipeline
    from poise.solvers.turning.summary import summarise

    installed.new_file()
    bpy.ops.poise.character_add(kind=kind)
    rig = bpy.context.active_object
    lines = [
        f"| {kind.lower()} | speed | time of a turn | lean | radius at its tightest | peak force |",
        "|---|---|---|---|---|---|",
    ]
    rows = []
    folder = ROOT / "presets" / "poise" / kind.lower()
    for path in folder.glob("*.py"):
        bpy.ops.poise.preset_apply(name=path.stem)
        name = bpy.path.display_name(path.stem, title_case=False)
        settings = pipeline.gather(bpy.context, rig.poise.motion_object).settings
        turn = summarise(settings)
        rows.append((turn.max_lean, name, settings.speed, turn))
    for lean, name, speed, turn in sorted(rows):
        lines.append(
            f"| {name} | {speed:g} m/s | {turn.turn_time:.2f} s | {degrees(lean):.0f}° | "
            f"{turn.min_radius:.1f} m | {turn.peak_force:.2f} g |"
        )
    return "\n".join(lines)


def tables() -> dict[str, str]:
    """Mark in a page -> table, of the installed add-on."""
    from poise.addon.mapping.registry import STYLE_GROUPS
    from poise.addon.settings.motion import PoiseMotion

    rna = PoiseMotion.bl_rna
    turns, path, gait = (rna.properties[name].fixed_type for name in ("turns", "path", "gait"))
    item = gait.properties["sequence"].fixed_type
    leg = item.properties["legs"].fixed_type
    speed = gait.properties["speed_points"].fixed_type
    footprint = gait.properties["footprints"].fixed_type
    made = {
        "operators": operators_table(),
        "amounts": amounts_table(),
        "motion": settings_table(rna, MOTION),
        "turns": settings_table(turns, style_names(turns)),
        "path": settings_table(path, style_names(path)),
        "gait": settings_table(gait, style_names(gait)),
        "gait item": settings_table(item, style_names(item)),
        "gait speed": settings_table(speed, style_names(speed)),
        "gait leg": settings_table(leg, style_names(leg)),
        "gait footprint": settings_table(footprint, style_names(footprint)),
    }
    posing = rna.properties["pose_timing"].fixed_type
    made["pose_timing"] = settings_table(posing, style_names(posing))
    for name in ("target", "disturbance", "overlap", "bone"):
        item = posing.properties[f"{name}s"].fixed_type
        made[f"pose_timing {name}"] = settings_table(item, style_names(item))
    control = rna.properties["control"].fixed_type
    made["control"] = settings_table(control, style_names(control))
    controller = control.properties["controllers"].fixed_type
    for name, item in (
        ("controller", controller), ("span", controller.properties["domain"].fixed_type),
        ("value", control.properties["start"].fixed_type),
        ("line", control.properties["script"].fixed_type),
        ("range", control.properties["script"].fixed_type.properties["region"].fixed_type),
    ):
        made[f"control {name}"] = settings_table(item, style_names(item))
    freeform = rna.properties["freeform"].fixed_type
    made["freeform"] = settings_table(freeform, style_names(freeform))
    item = freeform.properties["postures"].fixed_type
    made["freeform posture"] = settings_table(item, style_names(item))
    for name in (*STYLE_GROUPS, "eyes"):
        style = rna.properties[name].fixed_type
        made[name] = settings_table(style, style_names(style))
        if (ROOT / "presets" / "poise" / name).is_dir():
            made[f"presets of the {name}"] = presets_table(name.upper())
    return made


def with_tables(text: str, made: dict[str, str]) -> str:
    """A page with its tables written anew.

    Args:
        text: the page.
        made: mark -> table.
    """
    for name, table in made.items():
        start, end = f"<!-- table: {name} -->", f"<!-- end: {name} -->"
        whole = f"{start}\n\n{table}\n\n{end}"
        head, found, rest = text.partition(start)
        if found:
            text = head + whole + rest.partition(end)[2]
    return text


def marks(text: str) -> set[str]:
    """Names of the tables that a page has.

    Args:
        text: the page.
    """
    return set(re.findall(r"<!-- table: (.*?) -->", text))


def main() -> None:
    """Write the tables."""
    installed.start()
    installed.new_file()
    made = tables()
    for name in PAGES:
        page = DOCS / name
        page.write_text(with_tables(page.read_text(encoding="utf-8"), made), encoding="utf-8")
        print(f"docs/{name} written")


if __name__ == "__main__":
    main()
