# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make quick` runs, in less than three minutes: pure code, and a bake on each class of rig.

Both suites mark their tests by these lists.
"""

from __future__ import annotations

import os
import sys

import pytest

LONG = {
    # Searches through all plans, hits and falls by the hundred, stairs under all kinds of legs.
    "test_path_search.py", "test_path_calm.py", "test_path_terrain.py", "test_path_levels.py",
    "test_path_follow.py", "test_posing_blocking.py", "test_turning_control.py",
    "test_mapping_amounts.py", "test_mapping_legged.py", "test_legged_adapt.py",
    "test_legged_halt.py", "test_legged_walk.py", "test_control_lamp.py",
    # Flights and controllers found by searching, chains of bones followed for many seconds.
    "test_freeform_body.py", "test_posing_motion.py", "test_path_circuit.py", "test_times.py",
    "test_control_pendulum.py", "test_control_car.py",
    "test_recognise_structure.py::test_any_axes_and_any_size",
    "test_turning_settings.py::test_random_settings_give_a_motion_or_a_sentence",
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


SHARED = {
    "test_scenes.py", "test_freeform.py", "test_car.py", "test_lamp.py",
    # What bones of others' rigs are, how figures are controlled and timed, where paths lead:
    # little of it asks which Blender it is.
    "test_own_rigs.py", "test_own_rigs_rigify.py", "test_own_animals.py",
    "test_own_animals_rigify.py", "test_own_rigs_bad_input.py", "test_posing.py",
    "test_controllers.py", "test_path.py", "test_gait.py", "test_footprints.py",
    "test_bad_input.py", "test_own_equipment.py", "test_workflow.py", "test_between_keys.py",
}
"""Long tests in Blender, of which either Python runs every other case where they share them."""


def share(config: pytest.Config, items: list[pytest.Function]) -> None:
    """Leave to the other of two Pythons, which run side by side, what it runs of long tests.

    Modules of LONG are pure, and find the same on either; of SHARED each runs every other case.

    Args:
        config: the session's.
        items: what was collected; what is left to the other is taken out.
    """
    if not os.environ.get("POISE_SHARE"):
        return
    mine = sys.version_info[1] % 4 == 1  # 3.13, and not 3.11
    left, place = set(), 0
    for item in items:
        module = item.path.name
        if module in LONG:
            own = sorted(LONG).index(module) % 2 == 0
        elif {module, f"{module}::{item.originalname}"} & SHARED:
            own, place = place % 2 == 0, place + 1
        else:
            continue
        if own != mine:
            left.add(item)
    config.hook.pytest_deselected(items=list(left))
    items[:] = [item for item in items if item not in left]


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
