# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual's tables say what the installed add-on has; its script runs."""

import re
from pathlib import Path

import bpy
import manual
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_tables_are_those_of_the_add_on(scene):
    made = manual.tables()
    found = set()
    for name in manual.PAGES:
        page = (DOCS / name).read_text(encoding="utf-8")
        found |= manual.marks(page)
        wanted = manual.with_tables(page, made)
        assert page == wanted, f"docs/{name} is out of date: make manual writes its tables anew"
    assert found == set(made)


@pytest.mark.parametrize("page", ["docs/scripts.md", "README.md"])
def test_the_script_runs(scene, page):
    text = (DOCS.parent / page).read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    scene.frame_end = 120
    exec(compile(code, page, "exec"), {})
    rigs = [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]
    assert rigs
    for rig in rigs:
        assert rig.poise.kind == "SKIER"
        data = rig.animation_data
        assert data.action is not None or len(data.nla_tracks) > 0
