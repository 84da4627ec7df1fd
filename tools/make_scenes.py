# SPDX-License-Identifier: GPL-3.0-or-later
"""Demo scenes: one .blend for each feature, under out/scenes.

    python tools/make_scenes.py [NAME ...]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import control_scenes
import freeform_scenes
import gait_scenes
import installed
import lamp_scenes
import path_scenes
import posing_scenes
import scenes

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "out" / "scenes"


def main() -> None:
    """Make the scenes named on the command line, or all."""
    rooms = (scenes, path_scenes, gait_scenes, posing_scenes, control_scenes, lamp_scenes,
             freeform_scenes)
    known = {name: make for room in rooms for name, make in room.SCENES.items()}
    wanted = sys.argv[1:] or list(known)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"no scene is called {unknown[0]}: {', '.join(known)}")
    installed.start()
    import bpy
    from poise.addon import motions

    OUT.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        rigs = known[name]()
        path = OUT / f"{name}.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)
        problems = [
            f"{p.severity}: {p.message}"
            for rig in rigs
            for motion in motions.motions_of(rig)
            for p in motion.poise_motion.problems
        ]
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 2**20:.2f} MiB")
        for problem in problems:
            print(f"    {problem}")


if __name__ == "__main__":
    main()
