# SPDX-License-Identifier: GPL-3.0-or-later
"""Rest poses of the legged characters, and that they walk, trot and run as they stand.

Standing angles of the joints: Budras, Sack and Röck, Anatomy of the Horse; Miller's Anatomy of
the Dog. Speeds of gaits: tables of the presets' sources (solvers/legged/gait.py).
"""

from dataclasses import replace
from functools import cache
from inspect import signature

import numpy as np
import pytest
from poise.addon.mapping.legs import creature_of
from poise.addon.rigs.builders.kinds import BUILDS
from poise.addon.rigs.builders.legged import FIGURES
from poise.addon.rigs.builders.skeleton import Building
from poise.solvers.errors import SettingError
from poise.solvers.legged import GaitItem, GaitSettings, solve_gait
from poise.solvers.legged.creature import biped, check_creature
from poise.solvers.legged.gait import BIPED, HEXAPOD, QUADRUPED
from poise.solvers.rotations import rotate

ORDER = {"HORSE": QUADRUPED, "DOG": QUADRUPED, "BIPED": BIPED, "INSECT": HEXAPOD}
SIZES = {"HORSE": (1.0, 1.6, 1.85), "DOG": (0.25, 0.6, 0.9), "BIPED": (0.9, 1.78, 2.1),
         "INSECT": (0.05, 0.8, 3.0)}


def angle(joints, before, at, after):
    """Between two segments that meet, degrees."""
    a, b = joints[before] - joints[at], joints[after] - joints[at]
    return np.degrees(np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b)))


@pytest.mark.parametrize("kind", FIGURES)
def test_both_sides_are_mirror_images_and_feet_stand_on_the_ground(kind):
    figure = FIGURES[kind]()
    assert tuple(leg.name for leg in figure.legs) == ORDER[kind]
    for role, place in figure.joints.items():
        assert np.isfinite(place).all() and place.shape == (3,)
        if role.endswith(".L"):
            other = figure.joints[f"{role[:-1]}R"]
            assert np.allclose(place * (-1.0, 1.0, 1.0), other, atol=1e-12)
        elif not role.endswith(".R"):
            assert place[0] == 0.0
    for leg in figure.legs:
        assert figure.joints[leg.tip][2] == pytest.approx(0.0, abs=1e-12)
        assert all(figure.joints[role][2] > 0.0 for role in leg.segments)
        assert leg.pole in figure.joints and leg.control in figure.joints
        # Trunk, neck and tail hang together, the pelvis first.
    assert figure.trunk[0] == "pelvis" and figure.trunk[-1] == "chest"
    assert all(role in figure.joints for role in (*figure.trunk, *figure.neck, *figure.tail))


@pytest.mark.parametrize("kind", FIGURES)
def test_the_bent_pair_is_bent_towards_its_pole(kind):
    """Far enough from straight, and folded away from it, for a two-bone IK with a pole."""
    figure = FIGURES[kind]()
    for leg in figure.legs:
        start, joint, end = figure.chain(leg)[leg.bend : leg.bend + 3]
        pole = figure.joints[leg.pole]
        across = joint - start - (end - start) * ((joint - start) @ (end - start)) / (
            (end - start) @ (end - start))
        assert np.linalg.norm(across) > 0.03 * np.linalg.norm(end - start)
        side = pole - start - (end - start) * ((pole - start) @ (end - start)) / (
            (end - start) @ (end - start))
        assert across @ side > 0.9 * np.linalg.norm(across) * np.linalg.norm(side)


def test_a_horse_and_a_dog_stand_at_the_angles_of_anatomy():
    for kind, limits in (
        ("HORSE", {"shoulder": (110, 125), "elbow": (140, 152), "carpus": (178, 180),
                   "stifle": (128, 150), "hock": (145, 157)}),
        ("DOG", {"shoulder": (105, 120), "elbow": (133, 145), "carpus": (160, 180),
                 "stifle": (115, 135), "hock": (125, 140)}),
    ):
        joints = FIGURES[kind]().joints
        found = {
            "shoulder": angle(joints, "clavicle.L", "fore.1.L", "fore.2.L"),
            "elbow": angle(joints, "fore.1.L", "fore.2.L", "fore.3.L"),
            "carpus": angle(joints, "fore.2.L", "fore.3.L", "fore.4.L"),
            "stifle": angle(joints, "hind.1.L", "hind.2.L", "hind.3.L"),
            "hock": angle(joints, "hind.2.L", "hind.3.L", "hind.4.L"),
        }
        for name, (low, high) in limits.items():
            assert low <= found[name] <= high, (kind, name, found[name])
        # Stifle and elbow are where they are on an animal: ahead of, and behind, hip and shoulder.
        assert joints["hind.2.L"][1] < joints["hind.1.L"][1] < joints["hind.3.L"][1]
        assert joints["fore.1.L"][1] < joints["fore.2.L"][1]


def test_segments_of_the_horse_have_the_lengths_of_anatomy():
    """In metres, of a horse of 1.60 m at the withers; with half the carpus, and the tarsus."""
    figure = FIGURES["HORSE"]()
    legs = {leg.name: leg for leg in figure.legs}
    assert figure.lengths(legs["hind.L"])[:3] == pytest.approx((0.40, 0.38, 0.37), rel=0.02)
    assert figure.lengths(legs["fore.L"])[:3] == pytest.approx((0.30, 0.38, 0.30), rel=0.02)
    blade = np.linalg.norm(figure.joints["clavicle.L"] - figure.joints["fore.1.L"])
    assert blade == pytest.approx(0.42, rel=0.03)
    assert figure.height == 1.60 and figure.mass == 500.0


@pytest.mark.parametrize("kind", FIGURES)
def test_size_and_mass(kind):
    usual = FIGURES[kind]()
    for size in SIZES[kind]:
        figure = FIGURES[kind](size)
        factor = size / usual.height
        assert figure.height == pytest.approx(size)
        assert figure.mass == pytest.approx(usual.mass * factor**3)
        for role, place in usual.joints.items():
            assert figure.joints[role] == pytest.approx(place * factor)
        check_creature(creature_of(figure))
    assert FIGURES[kind](mass=42.0).mass == 42.0
    for bad in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(SettingError, match="Size"):
            FIGURES[kind](bad)
        with pytest.raises(SettingError, match="Mass"):
            FIGURES[kind](mass=bad)


CASES = {
    "HORSE": (("WALK", 1.6), ("TROT", 3.5), ("CANTER_LEFT", 6.0), ("GALLOP_LEFT", 10.0)),
    "DOG": (("WALK", 1.1), ("TROT", 2.2), ("CANTER_RIGHT", 4.0), ("ROTARY_LEFT", 7.0)),
    "BIPED": (("WALK_BIPED", 1.3), ("JOG", 2.5), ("RUN", 3.5)),
    "INSECT": (("WAVE", 0.15), ("RIPPLE", 0.4), ("TRIPOD", 0.8)),
}


@cache
def _solved(kind, gait, speed):
    settings = GaitSettings(
        creature=creature_of(FIGURES[kind]()), sequence=(GaitItem(gait),), speed=speed,
        n_frames=145,
    )
    return solve_gait(settings)


@pytest.mark.parametrize(("kind", "gait", "speed"),
                         [(kind, *case) for kind, cases in CASES.items() for case in cases])
def test_gaits_work_at_their_usual_speeds(kind, gait, speed):
    motion = _solved(kind, gait, speed)
    assert motion.success and not motion.problems
    creature = motion.creature
    ankles = motion.foot_position + rotate(
        motion.foot_orientation, np.array([leg.ankle for leg in creature.legs]))
    far = np.linalg.norm(motion.hip - ankles, axis=2)
    lengths = np.array([leg.length for leg in creature.legs])
    assert np.all(far <= lengths * (1.0 + 1e-9))
    # The trunk stays within a tenth of the hip height of where it stands in rest.
    assert np.abs(motion.position[:, 2] - creature.centre[2]).max() < 0.15 * creature.hip_height()


def test_a_person_walks_the_same_wherever_on_the_sole_footprints_are_marked():
    """Marked at the toes, or under the ankle: heel, ball and ankle are at the same places."""
    creature = creature_of(FIGURES["BIPED"]())
    moved = []
    for leg in creature.legs:
        back = np.array([0.0, leg.ankle[1], 0.0])
        moved.append(replace(leg, foot=leg.foot + back, ankle=leg.ankle - back,
                             heel=leg.heel - back[1], toe=leg.toe + back[1]))
    other = replace(creature, legs=tuple(moved))
    settings = GaitSettings(creature=creature, sequence=(GaitItem("WALK_BIPED"),), speed=1.3,
                            n_frames=73)
    first, second = solve_gait(settings), solve_gait(replace(settings, creature=other))
    # All but the same: feet that point outwards are turned about another point.
    assert first.position == pytest.approx(second.position, abs=0.004)
    assert first.hip == pytest.approx(second.hip, abs=0.004)


def test_the_person_is_the_one_of_the_solvers():
    """The same legs, heels and toes as solvers.legged.creature.biped, but for the eased knees."""
    ours, theirs = creature_of(FIGURES["BIPED"]()), biped(1.78)
    for a, b in zip(ours.legs, theirs.legs, strict=True):
        assert a.name == b.name and a.length == pytest.approx(b.length, rel=0.01)
        assert a.heel - a.ankle[1] == pytest.approx(b.heel, abs=0.03)
        assert a.toe + a.ankle[1] == pytest.approx(b.toe, abs=0.03)


@pytest.mark.parametrize("kind", BUILDS)
def test_every_kind_answers_all_that_is_asked_of_a_build(kind):
    build, asked = BUILDS[kind], {n for n in vars(Building) if not n.startswith("_")}
    assert len(asked) > 8 and len(Building.__annotations__) > 8
    for name in Building.__annotations__:
        assert hasattr(build, name), name
    for name in asked:
        wanted = list(signature(getattr(Building, name)).parameters)[1:]
        assert list(signature(getattr(build, name)).parameters) == wanted, name
    # Who goes on legs tells where their joints are.
    assert (build.figure is None) == (build.joint_ends() == {}) == (kind not in FIGURES)
