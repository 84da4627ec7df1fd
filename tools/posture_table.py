# SPDX-License-Identifier: GPL-3.0-or-later
"""How near postures of captured motions come to these: a table.

    python tools/environments.py blender tools/posture_table.py

The motions are other people's, see `rig_files`; without them there is nothing to do.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import installed

CLIPS = {
    # File -> first and last frame that are looked at, stature in m.
    "animateddrawings_bvh/jumping.bvh": (1, 10000, 1.7),
    "animateddrawings_bvh/zombie.bvh": (1, 200, 1.7),
    "cmu_walk/02_01.bvh": (1, 10000, 1.75),
}
COUNTS = (4, 8, 16)


def read(name: str, first: int, last: int, stature: float):
    """A clip on a rig that is set up, at its own frame rate.

    Args:
        name: path of the file.
        first: first frame.
        last: last frame.
        stature: of whom it shows, m.

    Returns:
        The controls, and the action.
    """
    import bpy
    import rig_files
    from poise.addon import compat
    from poise.addon.families.freeform.gather import figure_on_legs

    installed.new_file()
    scene = bpy.context.scene
    text = (rig_files.FOLDER / name).read_text()
    scene.render.fps = round(1.0 / float(re.search(r"Frame Time:\s*([\d.eE-]+)", text)[1]))
    rig = rig_files.bring_in(name)
    action = rig.animation_data.action
    for curve in compat.action_fcurves(action, rig.animation_data.action_slot):
        for key in [k for k in reversed(curve.keyframe_points) if not first <= k.co.x <= last]:
            curve.keyframe_points.remove(key, fast=True)
        curve.update()
    bpy.ops.poise.rig_setup(kind="BIPED")
    controls = bpy.context.active_object.poise.settings.character
    controls.poise.motion = "FREEFORM"
    # What is measured, energy of jumps among it, is in metres.
    scene.unit_settings.scale_length = stature / figure_on_legs(controls, 1.0).height
    return controls, action


def main() -> None:
    """Print the table."""
    installed.start()
    import bpy
    import rig_files

    if not rig_files.KNOWN:
        sys.exit("there are no rigs of other people: set POISE_RIGS")
    for name, (first, last, stature) in CLIPS.items():
        controls, action = read(name, first, last, stature)
        for count in COUNTS:
            try:
                bpy.ops.poise.postures_from_action(action=action.name, count=count)
            except RuntimeError as error:
                print(f"{name} {count}: {error}")
                continue
            settings = controls.poise.freeform
            rows = ", ".join(settings.lost.splitlines())
            print(f"{name} {len(settings.postures)} postures: {rows}", flush=True)


if __name__ == "__main__":
    main()
