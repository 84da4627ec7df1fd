# SPDX-License-Identifier: GPL-3.0-or-later
"""Set up every rig of a folder for every sport, bake it, and print how well it went.

    python tools/rig_table.py [part of a file's name ...]

Roles are compared with the folder's table. Errors are those of the rig's bones, as
Blender evaluates them after Bake to Bones, from where the targets of Poise's controls
are; what these say is held to the solved motion by the bake itself, whose findings
count too. A rig that is refused shows the sentence.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import installed

KINDS = ("SKIER", "SNOWBOARDER", "CYCLIST")
FRAMES = 49

# Roles whose place counts on a rig that is moved by controls of its own.
PLACED = ("root", "pelvis", "foot", "hand")


@dataclass(frozen=True)
class Ride:
    """What came of one rig and one sport.

    Attributes:
        error: largest distance in metres of a bone from where it should be.
        share: the same as a share of leg length.
        seconds: time of setting up and of both bakes.
        refused: the sentence with which it was refused, or "".
        found: what the bakes found off its track.
    """

    error: float = 0.0
    share: float = 0.0
    seconds: float = 0.0
    refused: str = ""
    found: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.refused:
            return self.refused
        off = f" ({'; '.join(self.found)})" if self.found else ""
        return f"{1e3 * self.error:.3f} mm, {self.share:.1e} of leg, {self.seconds:.1f} s{off}"


def ride(kind: str) -> Ride:
    """Set the active armature up, bake it, and measure it.

    Args:
        kind: the sport.
    """
    import bpy
    from poise.addon.rigs.controls import control_rig
    from poise.addon.scene.timing import scene_numbers

    rig = bpy.context.view_layer.objects.active
    start = time.perf_counter()
    try:
        bpy.ops.poise.rig_setup(kind=kind)
        motion = rig.poise.motion_object
        motion.poise_motion.frame_start, motion.poise_motion.frame_end = 1, FRAMES
        bpy.ops.poise.bake()
        bpy.ops.poise.bake_to_bones()
    except RuntimeError as error:
        return Ride(refused=str(error).strip().removeprefix("Error: "))
    seconds = time.perf_counter() - start
    controls = motion.poise_motion.character
    metres = scene_numbers(bpy.context.scene).unit_scale
    own = control_rig.has_own_controls(controls)
    followed = {
        role: bone for role, (bone, located) in control_rig.followers(controls).items()
        if role.split(".")[0] in PLACED or (located and not own)
    }
    worst = max(_distance(rig, controls, followed, f) for f in range(1, FRAMES + 1, 4)) * metres
    bones = controls.data.bones
    size = controls.matrix_world.to_scale().x * metres
    leg = (bones["thigh.L"].length + bones["shin.L"].length) * size
    off = tuple(p.message for p in motion.poise_motion.problems if p.code.endswith("_OFF"))
    return Ride(worst, worst / leg, seconds, "", off)


def _distance(rig, controls, followed: dict[str, str], frame: int) -> float:
    """Largest distance of bones from their targets at a frame, in Blender units."""
    import bpy

    bpy.context.scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    there, here = controls.evaluated_get(graph), rig.evaluated_get(graph)
    return max(
        (
            (there.matrix_world @ there.pose.bones[f"TGT-{role}"].matrix).translation
            - (here.matrix_world @ here.pose.bones[bone].matrix).translation
        ).length
        for role, bone in followed.items()
    )


def roles_of(name: str, rig) -> tuple[str, list[str]]:
    """How many roles of a rig are right, wrong and missing, and which are not right.

    Args:
        name: its file.
        rig: the armature.
    """
    import rig_files
    from poise.addon.rigs.recognise import recognise
    from poise.addon.rigs.skeletons import read_skeleton

    entry = rig_files.KNOWN.get(rig_files.KIN.get(name, name))
    found = recognise(read_skeleton(rig))
    if entry is None:
        return f"{found.kind}: {len(found.roles)} found, not in the table", []
    controls = rig_files.expected_controls(entry)
    wanted = controls or rig_files.expected(entry)
    have = found.controls if controls else found.roles
    wrong = [role for role in wanted if role in have and have[role] != wanted[role]]
    missing = [role for role in wanted if role not in have]
    text = f"{found.kind}: {len(wanted) - len(wrong) - len(missing)} / {len(wrong)} / "
    return f"{text}{len(missing)}", [f"{role} is {have.get(role, 'missing')}, not {wanted[role]}"
                                     for role in wrong + missing]


def main() -> None:
    """Go through the folder and print a table."""
    installed.start()
    import bpy
    import rig_files

    rows, notes = [], []
    for name in rig_files.files():
        if sys.argv[1:] and not any(part in name for part in sys.argv[1:]):
            continue
        cells: list[str] = []
        for kind in KINDS:
            print(f"{name} {kind} ...", file=sys.stderr, flush=True)
            installed.new_file()
            try:
                rig = rig_files.bring_in(name)
            except RuntimeError as error:
                cells = [f"Blender cannot read it: {str(error).strip().splitlines()[-1]}"]
                break
            if rig is None:
                cells = ["no armature"]
                break
            if not cells:
                text, wrong = roles_of(name, rig)
                cells.append(text)
                notes += [f"{name}: {one}" for one in wrong]
            cells.append(str(ride(kind)))
        rows.append([name, *cells, *[""] * (len(KINDS) + 1 - len(cells))])
    print("| rig | roles right / wrong / missing |", " | ".join(k.lower() for k in KINDS), "|")
    print("|" + "---|" * (len(KINDS) + 2))
    for row in rows:
        print("|", " | ".join(row), "|")
    print(*notes, sep="\n")
    print(f"\nBlender {bpy.app.version_string}; {FRAMES} frames, all bones at every fourth")


if __name__ == "__main__":
    main()
