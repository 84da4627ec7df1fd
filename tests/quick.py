# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make quick` runs, in less than three minutes: pure code, and a bake on each class of rig.

Both suites mark their tests by these lists.
"""

from __future__ import annotations

import pytest

LONG = {
    # Searches through all plans, hits and falls by the hundred, stairs under all kinds of legs.
    "test_path_search.py", "test_path_calm.py", "test_path_terrain.py", "test_path_levels.py",
    "test_path_follow.py", "test_posing_blocking.py", "test_turning_control.py",
    "test_mapping_amounts.py", "test_mapping_legged.py", "test_legged_adapt.py",
    "test_legged_halt.py", "test_legged_walk.py", "test_control_lamp.py",
    "test_dynamics.py::test_a_chain_without_control_keeps_energy_and_momentum",
    "test_docs.py::test_every_problem_is_in_the_manual_and_no_other",
}
"""Modules of tests/unit, and tests, that `make quick` leaves out: all others count."""

BAKES = {
    "test_package.py::test_the_zip_is_installed_and_enabled",
    # Bones of a small rig, whose motion is a formula.
    "test_bake_contract.py::test_every_role_is_on_its_track",
    # Riders of Poise's own, and those on legs.
    "test_path.py::test_the_baked_figure_follows_the_planned_track",
    "test_gait.py::test_the_bake_is_the_preview_and_planted_feet_stay",
    "test_footprints.py::test_moved_and_turned_footprints_are_adapted_to_and_baked",
    "test_several_motions.py::test_bake_all_plays_one_after_the_other",
    # Rigs of others: plain skeletons, animals, any number of legs, things of their own.
    "test_own_rigs.py::test_plain_humans_bend_the_right_way[1.0-True-None-SKIER]",
    "test_own_rigs.py::test_rigs_of_others_do_what_their_controls_do"
    "[quaternius_man/Casual.glb-CYCLIST]",
    "test_own_animals.py::test_animals_follow_controls_with_their_own_legs"
    "[quaternius_animals/Horse.glb]",
    "test_own_animals.py::test_many_legs",
    "test_own_equipment.py::test_a_rig_of_someone_else_carries_objects_too",
    # Those that Rigify generated, by their own controls.
    "test_own_rigs_rigify.py::test_controls_of_rigify_do_what_the_motion_says"
    "[rigify_human-SKIER]",
    "test_own_animals_rigify.py::test_controls_of_a_rigify_animal_do_what_the_motion_says[horse]",
}
"""Tests of tests/blender that count: all cases of one, or the one named."""


def shared(item: pytest.Function) -> bool:
    """Which of two Pythons runs a long test, where they share them.

    Args:
        item: the test.
    """
    return sorted(LONG).index(item.path.name) % 2 == 0


def mark(items: list[pytest.Function], named: set[str], quick: bool) -> None:
    """Mark the tests that are quick.

    Args:
        items: what was collected.
        named: some of them, as above.
        quick: whether it is those; otherwise it is all others.

    Raises:
        pytest.UsageError: a test is named that its module does not have.
    """
    missing = {name for name in named if name.partition("::")[0] in {i.path.name for i in items}}
    for item in items:
        module = item.path.name
        names = {module, f"{module}::{item.originalname}", f"{module}::{item.name}"}
        missing -= names
        if bool(names & named) == quick:
            item.add_marker(pytest.mark.quick)
    if missing and not any("::" in argument for argument in items[0].config.args):
        raise pytest.UsageError(f"tests/quick.py names what is not there: {', '.join(missing)}")
