# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies on legs: feet where the solver has them, legs whole and bent the right way, the rest
in step with them.

Angles: joints of people in walk and run from gait laboratories; ranges of a horse's joints,
its head and back, after the sources in addon/mapping/legged.py.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from poise.addon.mapping.adapted import adapted_tracks
from poise.addon.mapping.legged import STYLES, map_legged, pose_joints
from poise.addon.mapping.legs import FOOT, HOOF, creature_of
from poise.addon.rigs.builders.legged import FIGURES
from poise.solvers import rotations as rot
from poise.solvers.ik import two_bone
from poise.solvers.legged import FootprintEdit, GaitItem, GaitSettings, solve_gait
from poise.solvers.legged.gait import PRESETS

# Kind, gait, speed in m/s.
CASES = (
    ("HORSE", "WALK", 1.6), ("HORSE", "TROT", 3.5), ("HORSE", "CANTER_LEFT", 6.0),
    ("HORSE", "GALLOP_LEFT", 10.0), ("HORSE", "BOUND", 4.0),
    ("DOG", "WALK", 1.1), ("DOG", "TROT", 2.2), ("DOG", "ROTARY_LEFT", 7.0),
    ("BIPED", "WALK_BIPED", 1.3), ("BIPED", "JOG", 2.5), ("BIPED", "RUN", 3.5),
    ("BIPED", "SKIP", 2.0), ("INSECT", "RIPPLE", 0.4), ("INSECT", "TRIPOD", 0.8),
)


@cache
def _solved(kind, gait, speed, bend=0.0, frames=97, fps=24.0):
    figure = FIGURES[kind]()
    path = None
    if bend:
        angle = np.linspace(0.0, 3.0, 300)
        path = bend * np.stack((1.0 - np.cos(angle), -np.sin(angle)), axis=1)
        path[:, 1] = -np.abs(path[:, 1])
    motion = solve_gait(GaitSettings(
        creature=creature_of(figure), sequence=(GaitItem(gait),), speed=speed, n_frames=frames,
        fps=fps, path=path,
    ))
    return motion, figure, map_legged(motion, figure, STYLES[kind.lower()])


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]} {case[1]}", scope="module")
def posed(request):
    motion, figure, tracks = _solved(*request.param)
    return motion, figure, tracks, *pose_joints(tracks, figure)


def test_a_rig_that_follows_the_tracks_has_whole_legs_and_its_feet_on_the_ground(posed):
    """Two bones by inverse kinematics with a pole, all others by their rotations."""
    motion, figure, tracks, joint, _ = posed
    assert not tracks.problems
    for i, chain in enumerate(figure.legs):
        points = np.stack([joint[role] for role in (*chain.limb, chain.tip)])
        lengths = np.linalg.norm(np.diff(points, axis=0), axis=2)
        whole = np.linalg.norm(np.diff(figure.limb(chain), axis=0), axis=1)
        assert np.abs(lengths - whole[:, None]).max() < 1e-12
        down = motion.contact[:, i]
        assert np.abs(joint[chain.tip] - tracks.position[chain.tip])[down].max() < 1e-9
        if chain.foot != FOOT:  # toes that bend are elsewhere than a stiff foot's
            off = tracks.position[chain.tip] - motion.foot_position[:, i]
            assert np.abs(off[down]).max() < 1e-9


def test_planted_tips_do_not_slide(posed):
    motion, figure, tracks, joint, _ = posed
    spans = 0
    for contact in tracks.contacts:
        inside = (tracks.time >= contact.start) & (tracks.time <= contact.end)
        place = tracks.position[contact.role][inside]
        spans += 1
        assert np.abs(place - contact.position).max() < 1e-6
        if contact.role in {chain.tip for chain in figure.legs}:
            assert np.abs(place - contact.position).max() < 1e-9
            assert np.abs(joint[contact.role][inside] - contact.position).max() < 1e-9
    steps = sum(p.off > 0.1 and p.on < tracks.time[-1] - 0.1 for p in motion.footprints)
    assert spans >= steps
    for chain in figure.legs:  # tips lie flat for most of the support
        held = sum(c.end - c.start for c in tracks.contacts if c.role == chain.tip)
        name = [leg.name for leg in motion.creature.legs].index(chain.name)
        assert held > 0.4 * motion.contact[:, name].mean() * tracks.time[-1]


def test_joints_bend_to_their_own_side_for_ever(posed):
    _, figure, _, joint, _ = posed
    for chain in figure.legs:
        roles = (*chain.segments, chain.tip)[chain.bend : chain.bend + 3]
        head, middle, end = (joint[role] for role in roles)
        line = rot.normalise(end - head)
        out = middle - head
        out = out - line * np.einsum("ij,ij->i", out, line)[:, None]
        rest = [np.asarray(figure.joints[role]) for role in roles]
        normal = np.cross(rest[1] - rest[0], rest[2] - rest[1])
        bent = np.cross(middle - head, end - middle)
        # In walk, trot and gallop on a straight way the axes of the hinges keep their sense.
        assert np.all(bent @ normal > 0.0)
        assert np.linalg.norm(out, axis=1).min() > 1e-3 * np.linalg.norm(rest[1] - rest[0])


def test_nothing_jumps(posed):
    """At 48 samples a second pasterns of a galloping horse turn by 70 degrees a sample at most,
    paws, whose limbs are shorter pendulums, by more; all of a walk by much less."""
    motion, _, tracks, *_ = posed
    most_fly = motion.contact.mean() < 0.5
    tempo = np.sqrt(motion.creature.hip_height() / 9.81)
    for role, turn in tracks.rotation.items():
        step = rot.multiply(turn[1:], rot.conjugate(turn[:-1]))
        angle = 2.0 * np.arcsin(np.clip(np.linalg.norm(step[:, 1:], axis=1), 0.0, 1.0))
        assert angle.max() < (0.46 if most_fly else 0.3) / tempo, role
        rate = 2.0 * step[:, 1:] / tracks.time[1]
        change = np.linalg.norm(np.diff(rate, axis=0), axis=1)
        assert change.max() < (24.0 if most_fly else 14.0) / tempo, role
    for values in (*tracks.position.values(), *tracks.rotation.values()):
        assert np.isfinite(values).all()


@pytest.mark.parametrize(("kind", "gait", "speed", "most"), [
    ("HORSE", "WALK", 1.6, 3000), ("HORSE", "TROT", 3.5, 8000), ("BIPED", "WALK_BIPED", 1.3, 900),
])
def test_joints_accelerate_and_never_jump(kind, gait, speed, most):
    """At 960 samples a second, rad/s^2: a jump of 0.1 rad would be 90,000."""
    _, _, tracks = _solved(kind, gait, speed, frames=1153, fps=960.0)
    for role, turn in tracks.rotation.items():
        step = rot.multiply(turn[1:], rot.conjugate(turn[:-1]))
        rate = 2.0 * step[:, 1:] / tracks.time[1]
        push = np.linalg.norm(np.diff(rate, axis=0), axis=1) / tracks.time[1]
        assert push.max() < most, role


@pytest.mark.parametrize("speed", [1.75, 2.5, 3.2])
def test_in_a_skip_a_knee_goes_up_with_each_hop_and_the_other_arm_forward(speed):
    """The free thigh swings up to near the horizontal, the arm of the other side ahead, as
    skipping is taught: arms in opposition to legs."""
    motion, figure, tracks = _solved("BIPED", "SKIP", speed)
    joint, turn = pose_joints(tracks, figure)
    hops = 0
    for i, (hops_on, free) in enumerate((("L", "R"), ("R", "L"))):
        own = [p for p in motion.footprints if p.leg == f"leg.{hops_on}"]
        other = [p for p in motion.footprints if p.leg == f"leg.{free}"]
        for here, there in zip(own[:-1], own[1:], strict=True):
            over = [p for p in other if here.off < p.on < there.on]
            if over or not (here.off > 0.5 and there.on < tracks.time[-1] - 0.5):
                continue
            hops += 1
            k = int(np.searchsorted(tracks.time, 0.5 * (here.off + there.on)))
            assert not motion.contact[k].any()
            thigh, shin = (joint[f"{part}.{free}"][k] for part in ("thigh", "shin"))
            line = rot.normalise(shin - thigh)
            raised = np.degrees(np.arctan2(-line[1], -line[2]))
            assert 55.0 < raised < 95.0
            assert motion.foot_position[k, 1 - i, 2] > 0.2 * motion.creature.hip_height()
            same, opposite = (tracks.position[f"hand.{side}"][k] for side in (free, hops_on))
            assert opposite[1] < same[1] - 0.15  # ahead is along -Y
            knee = np.degrees(tracks.attributes[f"bend.shin.{hops_on}"])[k]
            assert knee < 60.0 < np.degrees(tracks.attributes[f"bend.shin.{free}"])[k]
    assert hops >= 3
    # People's trunks stay upright, and go up and down further than in a run at that speed.
    _, _, run = _solved("BIPED", "RUN", speed)
    assert np.ptp(motion.position[20:-20, 2]) > np.ptp(run.position["pelvis"][20:-20, 2])


def _steps(rise, tread, count):
    """Stairs ahead, in hip heights, which begin 1.5 of them away."""
    def of(hip):
        def ground(x, y):
            way = -np.asarray(y, dtype=float) / hip - 1.5
            z = rise * hip * np.clip(np.floor(way / tread) + 1.0, 0.0, count)
            return z, np.tile((0.0, 0.0, 1.0), (len(z), 1)), np.ones(len(z), dtype=bool)
        return ground
    return of


def _ramp(degrees, begin=2.0, end=np.inf):
    """Level, then a slope along the way from `begin` to `end` metres, then level."""
    rise = np.tan(np.radians(degrees))

    def ground(x, y):
        way = -np.asarray(y, dtype=float)
        on = (way > begin) & (way < end)
        normal = np.stack((0.0 * way, np.where(on, rise, 0.0), np.ones(len(way))), axis=1)
        return rise * (np.clip(way, begin, end) - begin), rot.normalise(normal), way == way

    return ground


def _pitches(kind, gait, speed, ground, frames=193):
    """Degrees that parts of the body are turned nose up, by role, and the motion."""
    figure = FIGURES[kind]()
    motion = solve_gait(GaitSettings(
        creature=creature_of(figure), sequence=(GaitItem(gait),), speed=speed, n_frames=frames,
        ground=ground,
    ))
    tracks = map_legged(motion, figure, STYLES[kind.lower()])
    nose = {}
    for role, turn in tracks.rotation.items():
        ahead = rot.rotate(turn, np.array((0.0, -1.0, 0.0)))
        nose[role] = np.degrees(np.arcsin(np.clip(ahead[:, 2], -1.0, 1.0)))
    return nose, motion, figure, tracks


@pytest.mark.parametrize("gait, speed, degrees", [
    *[("WALK_BIPED", 1.2, degrees) for degrees in (6.0, 12.0, 20.0, 27.0, -12.0, -20.0)],
    *[("JOG", 2.2, degrees) for degrees in (6.0, 12.0, -12.0)]])  # steeper, it has no flights
def test_people_lean_into_hills_they_go_up_and_back_a_little_going_down(gait, speed, degrees):
    """Trunks pitch forward on ramps, the more the steeper they are, from 3 degrees on (Prentice
    et al. 2004): by a third to a half of the slope's angle. The head stays nearly level."""
    ground = _ramp(degrees, -50.0)
    nose, motion, figure, _ = _pitches("BIPED", gait, speed, ground)
    usual, *_ = _pitches("BIPED", gait, speed, None)
    late = slice(-len(motion.time) // 2, -30)
    chest, head = figure.trunk[-1], figure.neck[-1]
    share = (usual[chest][late].mean() - nose[chest][late].mean()) / degrees
    low, high = (0.33, 0.5) if degrees > 0.0 else (0.08, 0.25)
    assert low < share < high
    assert abs(nose[head][late].mean() - usual[head][late].mean()) < 0.1 * abs(degrees)


def test_hills_are_leaned_into_without_a_jerk_and_left_again():
    nose, motion, figure, tracks = _pitches("BIPED", "WALK_BIPED", 1.2, _ramp(20.0, 2.0, 5.0), 289)
    chest = nose[figure.trunk[-1]]
    usual, *_ = _pitches("BIPED", "WALK_BIPED", 1.2, None)
    upright = usual[figure.trunk[-1]].mean()
    way = -motion.position[:, 1]
    assert chest[(way > 3.0) & (way < 4.0)].mean() < upright - 6.0
    assert abs(chest[way > 6.5].mean() - upright) < 1.0
    # As quickly as within a step, not at once.
    assert np.abs(np.diff(chest)).max() / tracks.time[1] < 40.0
    # On level ground at another height nothing is otherwise.
    flat, *_ = _pitches("BIPED", "WALK_BIPED", 1.2, _ramp(0.0))
    for role, angle in flat.items():
        assert np.allclose(angle, usual[role][: len(angle)], atol=1e-9), role


@pytest.mark.parametrize("kind, speed", [("DOG", 1.0), ("HORSE", 1.6)])
@pytest.mark.parametrize("degrees", [15.0, -15.0])
def test_necks_keep_to_the_level_where_trunks_follow_a_slope(kind, speed, degrees):
    """Head, neck and trunk of horses stay within some 20 degrees (Dunbar et al. 2008): down a
    slope an animal looks where it goes, with its neck raised against its trunk."""
    nose, motion, figure, _ = _pitches(kind, "WALK", speed, _ramp(degrees, -50.0))
    usual, *_ = _pitches(kind, "WALK", speed, None)
    late = slice(-len(motion.time) // 2, -30)

    def turned(role):
        return (nose[role][late].mean() - usual[role][late].mean()) / degrees

    assert turned(figure.trunk[-1]) > 0.8
    for role in figure.neck[:-1]:
        assert 0.15 < turned(role) < 0.55
    assert -0.05 < turned(figure.neck[-1]) < 0.3


WALKS = {"HORSE": ("WALK", 1.6), "DOG": ("WALK", 1.0), "BIPED": ("WALK_BIPED", 1.35)}


@pytest.mark.parametrize("kind", WALKS)
@pytest.mark.parametrize(("rise", "tread", "count"), [
    (0.1, 0.2, 8), (0.17, 0.33, 8), (0.2, 0.5, 8), (0.3, 9.0, 1), (0.6, 9.0, 1)])
def test_no_joint_flips_on_stairs_and_over_steps(kind, rise, tread, count):
    """Carpus and tarsus of a trotting horse swing by 10 to 20 rad/s (Back et al. 1995); a joint
    that turns over does so from one sample to the next, here by some 300. Up four stairs at a
    time, or a step of more than half the legs' height, they fold as far as they go in a swing."""
    figure = FIGURES[kind]()
    creature = creature_of(figure)
    hip = creature.hip_height()
    gait, speed = WALKS[kind]
    cases = [(sign, gait, share * speed) for sign in (1, -1) for share in (0.6, 1.0)]
    if kind != "BIPED" and rise in (0.17, 0.6):
        cases += [(1, "TROT", 2.0 * speed), (-1, "TROT", 2.0 * speed)]
    for sign, name, pace in cases:
        motion = solve_gait(GaitSettings(
            creature=creature, sequence=(GaitItem(name),), speed=pace, n_frames=481, fps=96.0,
            ground=_steps(sign * rise, tread, count)(hip),
        ))
        tracks = map_legged(motion, figure, STYLES[kind.lower()])
        _check_hinges(figure, tracks, 35.0 if kind == "BIPED" else 75.0)


def _least_down(gait):
    """How many feet are on the ground at least, by the gait's own diagram."""
    share = np.linspace(0.0, 1.0, 2000, endpoint=False)
    on = np.mod(share[:, None] - np.array(PRESETS[gait].phase), 1.0) < np.array(PRESETS[gait].duty)
    return int(on.sum(axis=1).min())


@pytest.mark.parametrize("kind", WALKS)
@pytest.mark.parametrize("sign", [1, -1], ids=["up", "down"])
@pytest.mark.parametrize(("rise", "tread", "count"), [
    (0.1, 0.154, 10), (0.12, 0.159, 10), (0.15, 0.179, 10),  # 33, 37 and 40 degrees
    (0.3, 99.0, 1), (0.4, 99.0, 1), (0.5, 99.0, 1)])
def test_feet_stay_where_they_stand_on_steep_stairs_and_high_steps(kind, sign, rise, tread, count):
    """Legs of a trunk that follows steep stairs hang back from it, where shoulder blades no longer
    turn into line: they are shorter there than on level ground. Up a step that is high, bodies
    follow the foot that stands lower, and so never lose the ground that their gait has."""
    figure = FIGURES[kind]()
    creature = creature_of(figure)
    hip = creature.hip_height()
    gait, speed = WALKS[kind]
    for pace in (0.6 * speed, speed):
        motion = solve_gait(GaitSettings(
            creature=creature, sequence=(GaitItem(gait),), speed=pace, n_frames=577, fps=96.0,
            ground=_steps(sign * rise, tread, count)(hip),
        ))
        tracks = map_legged(motion, figure, STYLES[kind.lower()])
        told = {p.code for p in (*motion.problems, *tracks.problems)}
        assert motion.success and not told & {
            "LEG_STRETCHED", "LEG_CRUSHED", "OUT_OF_REACH", "STEP_LEFT_OUT"
        }
        assert motion.contact.sum(axis=1).min() >= _least_down(gait)
        joint, _ = pose_joints(tracks, figure)
        for i, chain in enumerate(figure.legs):
            down = motion.contact[:, i]
            if chain.foot != FOOT:
                off = joint[chain.tip][down] - motion.foot_position[down, i]
                assert np.abs(off).max() < 1e-3
            # Swinging feet: a stair is 0.1 hip heights high and more.
            tip = joint[chain.tip][~down]
            floor = _steps(sign * rise, tread, count)(hip)(tip[:, 0], tip[:, 1])[0]
            assert (floor - tip[:, 2]).max() < 0.12 * hip, chain.name
        for contact in tracks.contacts:
            inside = (tracks.time >= contact.start) & (tracks.time <= contact.end)
            assert np.abs(joint[contact.role][inside] - contact.position).max() < 1e-3


def _check_hinges(figure, tracks, most, straight=True):
    """No bend, segment or plane of a leg turns quicker, and joints that are bent in rest keep to
    their side."""
    joint, turn = pose_joints(tracks, figure)
    spacing = tracks.time[1]
    for role, bend in tracks.attributes.items():
        if role.startswith("bend."):
            assert np.abs(np.diff(bend)).max() < most * spacing, role
    for chain in figure.legs:
        for role in chain.limb:
            step = rot.multiply(turn[role][1:], rot.conjugate(turn[role][:-1]))
            angle = 2.0 * np.arcsin(np.clip(np.linalg.norm(step[:, 1:], axis=1), 0.0, 1.0))
            assert angle.max() < most * spacing, role
        roles = (*chain.limb, chain.tip)[: (*chain.limb, chain.tip).index(chain.ankle) + 1]
        places = np.stack([joint[role] for role in roles])
        rest = np.stack([np.asarray(figure.joints[role]) for role in roles])
        was = np.cross(rest[1:-1] - rest[:-2], rest[2:] - rest[1:-1])
        bent = np.cross(places[1:-1] - places[:-2], places[2:] - places[1:-1])
        size = np.linalg.norm(np.diff(rest, axis=0), axis=1)
        for sine, first, now, role in zip(
            np.linalg.norm(was, axis=1) / (size[1:] * size[:-1]), was, bent, roles[1:-1],
            strict=True,
        ):
            if sine < 0.26 or (chain.foot == HOOF and role == roles[-2]):
                continue  # carpi; fetlocks, which fold the other way while they swing
            if straight:
                assert np.all(now @ first > 0.0), role
            plane = rot.normalise(now)
            assert np.einsum("ij,ij->i", plane[1:], plane[:-1]).min() > 0.85, role


@pytest.mark.parametrize("kind", [*WALKS, "INSECT"])
@pytest.mark.parametrize("radius", [0.0, 0.1, 0.25, 3.0])
def test_legs_keep_their_sense_where_a_walker_turns_around(kind, radius):
    """A bend of half a circle that is narrower than a stride is long: bodies turn by 120 degrees
    in a stride at most, earlier and later than the path does, and the problem list says so."""
    figure = FIGURES[kind]()
    creature = creature_of(figure)
    hip = creature.hip_height()
    gait, speed = WALKS.get(kind, ("TRIPOD", 0.45))
    angle = np.linspace(0.0, np.pi, 25)[:: 1 if radius else 24]
    way = np.column_stack((radius * (1.0 - np.cos(angle)), -2.0 - radius * np.sin(angle)))
    way = hip * np.concatenate(([[0.0, 0.0]], way, [[2.0 * radius, 5.0]]))
    motion = solve_gait(GaitSettings(
        creature=creature, sequence=(GaitItem(gait),), speed=0.8 * speed, n_frames=577, fps=96.0,
        path=way,
    ))
    tracks = map_legged(motion, figure, STYLES[kind.lower()])
    _check_hinges(figure, tracks, 55.0, straight=False)
    found = [p for p in motion.problems if p.code == "TURN_SHARP"]
    assert bool(found) == (radius < 1.0)
    assert abs(np.ptp(motion.yaw) - np.pi) < 0.2 or not found
    strides = np.median(np.diff([p.on for p in motion.footprints
                                 if p.leg == creature.legs[0].name and p.on > 0.1]))
    for leg in creature.legs:
        yaw = [p.yaw for p in motion.footprints if p.leg == leg.name]
        assert np.abs(np.diff(yaw)).max() < np.radians(150.0), leg.name
    if found:
        rate = np.abs(np.gradient(motion.yaw, motion.time)).max()
        assert rate < 2.0 * np.radians(120.0) / strides
        assert "Widen the bend" in found[0].remedy and found[0].amount > 2.5


def _through_a_stride(tracks, motion, leg, values):
    """A curve over the stride from a touchdown of a leg, as a function of its share."""
    first, following = [p.on for p in motion.footprints if p.leg == leg and p.on > 0.5][:2]
    return lambda share: np.interp(first + share * (following - first), tracks.time, values)


def test_knees_of_people():
    """5 degrees at the strike, 15 to 20 after it, 0 to 15 from midstance on, 60 to 65 in the swing
    of a walk; 10 to 20 at the strike, 40 to 45 at midstance, 90 to 130 in the swing of a run."""
    motion, _, tracks = _solved("BIPED", "WALK_BIPED", 1.3, frames=385, fps=96.0)
    knee = np.degrees(tracks.attributes["bend.shin.L"])
    at = _through_a_stride(tracks, motion, "leg.L", knee)
    assert at(0.0) < 13.0
    assert 12.0 < at(0.12) < 27.0
    assert 3.0 < at(0.3) < 20.0 and 3.0 < at(0.4) < 20.0
    assert 28.0 < at(0.6) < 45.0
    assert 55.0 < knee.max() < 68.0
    # Knees that are nearly straight do not snap: hinges turn by some 400 degrees a second.
    assert np.abs(np.gradient(knee, tracks.time)).max() < 650.0
    motion, _, tracks = _solved("BIPED", "RUN", 3.5)
    knee = np.degrees(tracks.attributes["bend.shin.L"])
    at = _through_a_stride(tracks, motion, "leg.L", knee)
    assert 10.0 < at(0.0) < 22.0 and 38.0 < max(at(0.1), at(0.17)) < 51.0
    assert 90.0 < knee.max() < 130.0


# A person of CMU's motion capture database (mocap.cs.cmu.edu, subject 2, trial 1) at 1.25 m/s, at
# every 20th of the stride from where the ankle is furthest ahead of the hips: thigh ahead of
# straight down, knee bent, ankle bent up and toes up, both against the flat foot; degrees.
CAPTURED = {
    "thigh": (29, 28, 27, 24, 19, 14, 10, 6, 0, -7, -13, -16, -15, -8, 3, 13, 21, 26, 28, 28),
    "knee": (17, 20, 26, 28, 28, 26, 25, 24, 20, 14, 10, 12, 22, 39, 55, 63, 62, 53, 36, 22),
    "ankle": (-5, -8, -9, -4, -1, 1, 4, 7, 6, 5, 2, 1, -5, -19, -23, -13, -5, -1, -3, -4),
    "foot": (17, 9, 2, 1, 0, 0, -1, -2, -4, -6, -10, -18, -32, -55, -65, -53, -37, -18, -1, 13),
}


def _leg_curves(gait, speed):
    """Curves of the left leg as of `CAPTURED` at every hundredth of a stride, low passed at 8 Hz
    as those were, and the largest angular acceleration of the knee at 10 Hz, degrees/s^2."""
    motion, figure, tracks = _solved("BIPED", gait, speed, frames=241, fps=60.0)
    joint, _ = pose_joints(tracks, figure)
    places = [joint[f"{part}.L"] for part in ("thigh", "shin", "foot", "toe")]
    upper, lower, sole = (np.diff(places, axis=0)[i][:, 1:] * (-1.0, 1.0) for i in range(3))
    thigh, shin = (np.degrees(np.arctan2(part[:, 0], -part[:, 1])) for part in (upper, lower))
    foot = np.degrees(np.arctan2(sole[:, 1], sole[:, 0]))
    middle = 0.5 * (joint["thigh.L"] + joint["thigh.R"])
    ahead = middle[:, 1] - places[2][:, 1]
    first = [k for k in range(60, len(ahead) - 25) if ahead[k] == ahead[k - 25 : k + 26].max()]
    share = np.linspace(first[0], first[1], 101)[:-1]

    def low(values, most):
        width = 1.0 / (2.0 * np.pi * most * tracks.time[1])
        kernel = np.exp(-0.5 * (np.arange(-20, 21) / width) ** 2)
        return np.convolve(values, kernel / kernel.sum(), mode="same")

    curves = {"thigh": thigh, "knee": thigh - shin, "ankle": foot - shin, "foot": foot}
    curves = {name: low(values, 8.0) for name, values in curves.items()}
    push = np.abs(np.diff(low(curves["knee"], 10.0)[60:-60], 2)).max() / tracks.time[1] ** 2
    curves = {k: np.interp(share, np.arange(len(v)), v) for k, v in curves.items()}
    for one in ("ankle", "foot"):
        curves[one] = curves[one] - curves[one][15:31].mean()
    return curves, push


def _bends(knee):
    """How many times a knee bends by more than 3 degrees and straightens again in a stride."""
    knee = np.roll(knee, -int(np.argmin(knee)))
    turns = [knee[0]]
    for value in (*knee, knee[0]):
        same = len(turns) > 1 and (value - turns[-1]) * (turns[-1] - turns[-2]) >= 0.0
        if same:
            turns[-1] = value
        elif abs(value - turns[-1]) > 3.0:
            turns.append(value)
    return len(turns) // 2


def test_a_person_walks_as_one_was_captured_to():
    """The knee gives once while the foot stands, the other foot lands before the knee bends for
    the swing, and the heel is up by 65 degrees after the toe has left the ground."""
    curves, push = _leg_curves("WALK_BIPED", 1.25)
    for name, most in ("thigh", 5.0), ("knee", 6.0), ("ankle", 6.0), ("foot", 6.0):
        off = curves[name][::5] - CAPTURED[name]
        assert np.sqrt(np.mean(off**2)) < most, name
    assert curves["knee"][50] == pytest.approx(CAPTURED["knee"][10], abs=6.0)
    assert curves["knee"][60] == pytest.approx(CAPTURED["knee"][12], abs=10.0)
    assert curves["thigh"][50] == pytest.approx(CAPTURED["thigh"][10], abs=6.0)
    assert curves["foot"].min() == pytest.approx(min(CAPTURED["foot"]), abs=10.0)
    assert push < 1.5 * 4100.0  # captured: 4100


@pytest.mark.parametrize(("gait", "speed"), [
    ("WALK_BIPED", 1.0), ("WALK_BIPED", 1.25), ("WALK_BIPED", 1.5), ("WALK_BIPED", 1.8),
    ("JOG", 2.5), ("RUN", 3.5), ("RUN", 5.0)])
def test_knees_give_once_while_the_foot_stands(gait, speed):
    """And bend once more in the swing."""
    curves, _ = _leg_curves(gait, speed)
    assert _bends(curves["knee"]) == 2


@pytest.mark.parametrize(("gait", "speed", "most"), [
    ("JOG", 2.5, 50.8), ("JOG", 2.9, 50.8), ("RUN", 2.9, 50.8), ("RUN", 4.0, 52.0)])
def test_knees_of_runners_give_as_much_as_they_were_measured_to(gait, speed, most):
    """17.8 +- 4 degrees at the strike, 46.3 +- 4.5 at most in the support, of 45 who ran at
    their own pace of some 2.9 m/s (Heiderscheit et al. 2011); hardly more at 4 m/s."""
    motion, _, tracks = _solved("BIPED", gait, speed, frames=385, fps=96.0)
    knee = np.degrees(tracks.attributes["bend.shin.L"])
    at = _through_a_stride(tracks, motion, "leg.L", knee)
    bent = at(np.linspace(0.0, PRESETS[gait].duty[0], 40))
    assert 13.8 < bent[0] < 21.8
    assert 41.8 < bent.max() < most


@pytest.mark.parametrize(("gait", "speed"), [("JOG", 2.7), ("RUN", 3.4), ("RUN", 6.0)])
def test_trunks_of_runners_lean_ahead(gait, speed):
    """By 7.2 degrees in the mean of 40 at 3.4 m/s: halves of them by 3.6 and 10.8 (Teng and
    Powers 2015)."""
    motion, figure, tracks = _solved("BIPED", gait, speed)
    joint, _ = pose_joints(tracks, figure)
    line = (joint["neck"] - joint["pelvis"])[24:-24]
    rest = np.subtract(figure.joints["neck"], figure.joints["pelvis"])
    lean = np.degrees(np.arctan2(-line[:, 1], line[:, 2]) - np.arctan2(-rest[1], rest[2]))
    assert 6.2 < lean.mean() < 8.2 and np.ptp(lean) < 3.0


def test_toes_of_a_walker_pass_a_little_over_the_ground():
    """1.1 to 1.9 cm (Winter; Moosabhoy and Gard 2006), and nowhere below it."""
    motion, figure, tracks = _solved("BIPED", "WALK_BIPED", 1.3, frames=385, fps=96.0)
    joint, _ = pose_joints(tracks, figure)
    high = joint["toe_tip.L"][:, 2]
    assert high.min() > -1e-6
    one, two = [p for p in motion.footprints if p.leg == "leg.L" and p.on > 0.5][:2]
    off, on = one.off, two.on
    middle = high[(tracks.time > off + 0.25 * (on - off)) & (tracks.time < off + 0.7 * (on - off))]
    assert 0.008 < middle.min() < 0.025


@pytest.mark.parametrize(("kind", "gait", "speed", "low", "high"), [
    ("HORSE", "TROT", 3.5, 0.047, 0.073),  # the body 5.3 +- 0.6 cm, the trunk up to 7.3
    ("BIPED", "WALK_BIPED", 1.3, 0.03, 0.05),
    ("BIPED", "JOG", 2.5, 0.065, 0.10), ("BIPED", "RUN", 3.5, 0.07, 0.10),
])
def test_bodies_rise_and_fall_as_much_as_they_were_measured_to(kind, gait, speed, low, high):
    """Buchner et al. 2000; Cavagna 2006; gait laboratories."""
    motion, _, _ = _solved(kind, gait, speed)
    assert low < np.ptp(motion.position[24:-24, 2]) < high


@pytest.mark.parametrize(("kind", "gait", "speed", "low", "high"), [
    ("HORSE", "TROT", 3.5, 0.0, 2.5), ("HORSE", "CANTER_LEFT", 6.0, 4.0, 8.5),
    ("HORSE", "GALLOP_LEFT", 10.0, 4.0, 10.0), ("DOG", "ROTARY_LEFT", 7.0, 5.0, 12.0),
    ("DOG", "BOUND", 3.5, 8.0, 15.0), ("HORSE", "BOUND", 5.0, 8.0, 16.0)])
def test_trunks_rock_little(kind, gait, speed, low, high):
    """Horses' by 2 degrees to each side in a trot, 4 to 7 in a canter, 4 to 8 in a gallop; who
    bounds, and is carried by one girdle at a time, throws itself up before and behind by turns."""
    motion, _, _ = _solved(kind, gait, speed)
    pitch = np.degrees(motion.pitch[len(motion.time) // 3 :])
    assert low < 0.5 * np.ptp(pitch) < high


def test_a_galloping_horse_goes_as_high_as_a_trotting_one_over_legs_under_its_trunk():
    """No crouch: in the mean the trunk is within 3 cm; hind feet leave the ground no further
    behind the hips than 0.6 of their height, and in the flight all feet are gathered."""
    trot, _, _ = _solved("HORSE", "TROT", 3.5)
    motion, figure, tracks = _solved("HORSE", "GALLOP_LEFT", 11.0)
    mean = [m.position[24:-24, 2].mean() for m in (trot, motion)]
    assert abs(mean[0] - mean[1]) < 0.03
    assert min(mean) > motion.creature.centre[2] - 0.08
    joint, _ = pose_joints(tracks, figure)
    ahead = -(motion.foot_position - motion.hip)[24:-24, :, 1]
    down = motion.contact[24:-24]
    assert np.abs(ahead[down]).max() < 0.6 * motion.creature.hip_height()
    aloft = ~down.any(axis=1)
    assert 0.15 < aloft.mean() < 0.32  # 0.24 of the stride
    hips = motion.creature.hips()[:, 1]
    place = hips - ahead  # behind the middle of the trunk
    spread = place[:, :2].mean(axis=1) - place[:, 2:].mean(axis=1)
    assert spread[aloft].max() < 0.75 * np.ptp(hips)
    # Trailing hind, leading hind, trailing fore, leading fore; then the flight.
    first = next(p.on for p in motion.footprints if p.leg == "hind.R" and p.on > 0.2)
    order = sorted((p.on, p.leg) for p in motion.footprints if first <= p.on < first + 0.45)
    assert [leg for _, leg in order] == ["hind.R", "hind.L", "fore.R", "fore.L"]


@pytest.mark.parametrize(("gait", "speed", "most"), [
    ("WALK", 1.6, 52), ("TROT", 3.5, 48), ("GALLOP_LEFT", 11.0, 62)])
def test_forearms_of_horses_stay_well_below_the_horizontal(gait, speed, most):
    """Some 45 degrees in a working trot; it is the carpus that folds."""
    _, figure, tracks = _solved("HORSE", gait, speed)
    joint, _ = pose_joints(tracks, figure)
    arm = joint["fore.3.L"] - joint["fore.2.L"]
    assert np.degrees(np.arctan2(-arm[:, 1], -arm[:, 2]))[24:-24].max() < most
    carpus = np.degrees(tracks.attributes["bend.fore.3.L"])[24:-24].max()
    assert {"WALK": 45, "TROT": 65, "GALLOP_LEFT": 80}[gait] < carpus < 115


def test_thighs_of_a_walker_swing_thirty_ahead_and_twenty_back():
    """Hips bend by 30 degrees and stretch by 10, against a pelvis that is tipped ahead by 10."""
    _, figure, tracks = _solved("BIPED", "WALK_BIPED", 1.3)
    joint, _ = pose_joints(tracks, figure)
    thigh = joint["shin.L"] - joint["thigh.L"]
    angle = np.degrees(np.arctan2(-thigh[:, 1], -thigh[:, 2]))
    assert 22.0 < angle.max() < 40.0 and -26.0 < angle.min() < -12.0


def test_a_horse_folds_its_carpus_in_the_swing_and_stands_on_a_straight_one():
    """The range of the carpus is 54 degrees, of the tarsus 40, in a flat walk."""
    motion, _, tracks = _solved("HORSE", "WALK", 1.6)
    carpus = np.degrees(tracks.attributes["bend.fore.3.L"])
    number = [leg.name for leg in motion.creature.legs].index("fore.L")
    down = motion.contact[:, number]
    assert carpus[down].max() < 12.0
    assert 40.0 < carpus.max() < 85.0
    # It folds as the leg gets shorter, and does not snap: 25 rad/s looked like a stick that breaks.
    assert np.abs(np.gradient(np.radians(carpus), tracks.time)).max() < 20.0
    tarsus = np.degrees(tracks.attributes["bend.hind.3.L"])
    assert 25.0 < np.ptp(tarsus) < 55.0


@pytest.mark.parametrize(("kind", "speed", "wide"), [
    ("HORSE", 1.2, 0.12), ("HORSE", 1.6, 0.12), ("DOG", 1.0, 0.06),
])
def test_hind_feet_come_down_where_fore_feet_have_left(kind, speed, wide):
    """A hoof is some 12 cm wide, the paw of a dog of this size 6: the middles of two soles are
    never nearer than that, neither on the ground nor where one makes way for the other."""
    motion, figure, tracks = _solved(kind, "WALK", speed, frames=385, fps=96.0)
    assert np.isclose(figure.height, {"HORSE": 1.6, "DOG": 0.6}[kind])
    joint, _ = pose_joints(tracks, figure)
    for side in "LR":
        hind, fore = (joint[leg.tip] for leg in figure.legs if leg.name.endswith(side))
        assert np.linalg.norm(hind - fore, axis=1).min() > wide


def test_stifle_and_hock_fold_together():
    """The reciprocal apparatus (Back et al. 1995)."""
    _, _, tracks = _solved("HORSE", "TROT", 3.5)
    stifle, hock = (tracks.attributes[f"bend.hind.{k}.L"] for k in (2, 3))
    assert np.corrcoef(stifle, hock)[0, 1] > 0.98


def _ahead(joint, role, of, yaw):
    forward = np.stack((np.sin(yaw), -np.cos(yaw), 0.0 * yaw), axis=-1)
    return np.einsum("ij,ij->i", joint[role] - joint[of], forward)


@pytest.mark.parametrize(("gait", "speed", "low", "high"),
                         [("WALK_BIPED", 1.3, 25, 45), ("RUN", 3.5, 35, 75)])
def test_arms_swing_with_the_legs_of_the_other_side(gait, speed, low, high):
    """30 to 40 degrees in all in a walk, 45 to 70 in a run; elbows near a right angle in a run."""
    motion, figure, tracks = _solved("BIPED", gait, speed)
    joint, _ = pose_joints(tracks, figure)
    inner = slice(20, -20)
    for arm, leg in (("L", "R"), ("R", "L")):
        hand = _ahead({**joint, **tracks.position}, f"hand.{arm}", "chest", motion.yaw)[inner]
        feet = [_ahead(joint, f"toe_tip.{side}", f"thigh.{side}", motion.yaw)[inner]
                for side in (leg, arm)]
        assert np.corrcoef(hand, feet[0] - feet[1])[0, 1] > 0.9
    shoulder, elbow, hand = _arm(tracks, figure, "L")
    upper = elbow - shoulder
    swing = np.degrees(np.ptp(np.arctan2(-upper[inner, 1], -upper[inner, 2])))
    assert low < swing < high
    bend = np.degrees(np.arccos(np.einsum(
        "ij,ij->i", rot.normalise(upper), rot.normalise(hand - elbow))))[inner]
    low, high = (8, 40) if gait == "WALK_BIPED" else (60, 110)
    assert low < bend.min() < bend.max() < high


def test_both_arms_swing_forward_as_both_legs_push_off_in_hops():
    """Arms are swung along in jumps (Lees et al. 2004): forward at liftoff, back at landing."""
    motion, figure, tracks = _solved("BIPED", "HOP", 1.5)
    joint, _ = pose_joints(tracks, figure)
    joint = {**joint, **tracks.position}
    left, right = (_ahead(joint, f"hand.{side}", "chest", motion.yaw) for side in "LR")
    assert np.abs(left - right).max() < 0.01
    steps = [p for p in motion.footprints if p.leg == motion.creature.legs[0].name][2:-2]
    off, on = (np.array([getattr(p, name) for p in steps]) for name in ("off", "on"))
    off, on = (np.interp(t, motion.time, left) for t in (off, on))
    assert off.min() > on.max() + 0.1  # m
    inner = slice(20, -20)
    shoulder, elbow, _ = _arm(tracks, figure, "L")
    upper = (elbow - shoulder)[inner]
    swing = np.degrees(np.ptp(np.arctan2(-upper[:, 1], -upper[:, 2])))
    assert 35.0 < swing < 80.0


@pytest.mark.parametrize(("gait", "speed", "low"), [
    ("HOP", 1.5, 2.0), ("HOP", 3.0, 4.0), ("HOP", 5.3, 4.0), ("RUN", 9.0, 4.0)])
def test_hands_are_no_quicker_than_those_of_sprinters(gait, speed, low):
    """Their hands reach some 6 to 8 m/s against the trunk, however quick the legs are."""
    motion, _, tracks = _solved("BIPED", gait, speed)
    back = rot.conjugate(tracks.rotation["pelvis"])
    for side in "LR":
        seen = rot.rotate(back, tracks.position[f"hand.{side}"] - tracks.position["pelvis"])
        quick = np.linalg.norm(np.diff(seen, axis=0), axis=1).max() / motion.time[1]
        assert low < quick < 8.0


@pytest.mark.parametrize("kind", WALKS)
def test_legs_that_fold_no_further_are_not_called_too_short(kind):
    """Standing feet under a body that is far too low, or too high, are off their footholds."""
    motion, figure, _ = _solved(kind, *WALKS[kind])
    hip, low = motion.creature.hip_height(), -0.85 if kind == "BIPED" else -0.5
    for up, code in ((0.0, None), (low * hip, "LEG_CRUSHED"), (hip, "LEG_STRETCHED")):
        lift = np.array([0.0, 0.0, up])
        moved = replace(motion, position=motion.position + lift, hip=motion.hip + lift)
        told = {p.code for p in map_legged(moved, figure, STYLES[kind.lower()]).problems}
        assert told & {"LEG_STRETCHED", "LEG_CRUSHED"} == ({code} if code else set())


def _arm(tracks, figure, side):
    """Shoulder, elbow and wrist, as a rig bends the arm between them."""
    joint, turn = pose_joints(tracks, figure)
    rest = {role: np.asarray(p) for role, p in figure.joints.items()}
    collar = joint["chest"] + rot.rotate(turn["chest"], rest[f"shoulder.{side}"] - rest["chest"])
    top = collar + rot.rotate(turn[f"shoulder.{side}"],
                              rest[f"upper_arm.{side}"] - rest[f"shoulder.{side}"])
    lengths = [np.linalg.norm(rest[f"{b}.{side}"] - rest[f"{a}.{side}"])
               for a, b in (("upper_arm", "elbow_joint"), ("elbow_joint", "hand"))]
    hand = tracks.position[f"hand.{side}"]
    limb = two_bone(top, hand, tracks.position[f"elbow.{side}"], *lengths)
    assert limb.shortfall.max() < 1e-9
    return top, limb.middle, hand


def test_pelvis_and_chest_turn_against_each_other():
    """4 to 5 degrees each way of the pelvis, thorax opposite; pelvis ahead on the foot's side."""
    motion, _, tracks = _solved("BIPED", "WALK_BIPED", 1.3)
    yaw = {role: rot.twist_angle(tracks.rotation[role], [0, 0, 1])[20:-20]
           for role in ("pelvis", "chest")}
    assert np.corrcoef(yaw["pelvis"], yaw["chest"])[0, 1] < -0.9
    assert 3.0 < np.degrees(np.ptp(yaw["pelvis"]) / 2) < 6.5
    left = (motion.foot_position[:, 0] - motion.foot_position[:, 1])[20:-20, 1]
    assert np.corrcoef(yaw["pelvis"], left)[0, 1] > 0.9  # left foot ahead (-Y): turned right


def _head(tracks, figure):
    joint, _ = pose_joints(tracks, figure)
    return joint["head"][:, 2], joint["chest"][:, 2]


def test_a_horse_nods_in_the_walk_and_holds_its_head_still_in_the_trot():
    """5 to 10 cm at the poll, twice a stride; in a trot less than its trunk rises and falls."""
    motion, figure, tracks = _solved("HORSE", "WALK", 1.6)
    head, _ = (z[24:-24] for z in _head(tracks, figure))
    assert 0.04 < np.ptp(head) < 0.13
    stride = np.diff([p.on for p in motion.footprints if p.leg == "hind.L"])[1]
    spectrum = np.abs(np.fft.rfft(head - head.mean()))
    strides = (len(head) / 48.0) / stride
    assert np.argmax(spectrum) == pytest.approx(2.0 * strides, abs=1.01)
    _, figure, tracks = _solved("HORSE", "TROT", 3.5)
    head, chest = (z[24:-24] for z in _head(tracks, figure))
    assert np.ptp(head) < 0.6 * np.ptp(chest)


@pytest.mark.parametrize(("kind", "gait", "speed", "low", "high"),
                         [("HORSE", "GALLOP_LEFT", 10.0, 4, 12),
                          ("DOG", "ROTARY_LEFT", 7.0, 25, 60)])
def test_backs_round_when_hind_and_fore_legs_come_together(kind, gait, speed, low, high):
    """A dog's 30 to 60 degrees in all, a horse's 5 to 8; next to nothing in a trot."""
    def flexion(tracks):
        pitch = {}
        for role in ("pelvis", "chest"):
            ahead = rot.rotate(tracks.rotation[role], np.array((0.0, -1.0, 0.0)))
            pitch[role] = np.arctan2(ahead[:, 2], np.hypot(ahead[:, 0], ahead[:, 1]))
        return np.degrees(pitch["pelvis"] - pitch["chest"])[24:-24]

    motion, _, tracks = _solved(kind, gait, speed)
    bend = flexion(tracks)
    assert low < np.ptp(bend) < high
    apart = (motion.foot_position[:, 2:, 1].mean(1) - motion.foot_position[:, :2, 1].mean(1))
    assert np.corrcoef(bend, apart[24:-24])[0, 1] > 0.95  # fore feet near the hind ones: round
    _, _, trotting = _solved(kind, "TROT", {"HORSE": 3.5, "DOG": 2.2}[kind])
    assert np.ptp(flexion(trotting)) < 0.25 * np.ptp(bend)


def test_amounts_of_nothing_leave_the_body_as_it_was_solved():
    motion, figure, _ = _solved("HORSE", "TROT", 3.5)
    names = ("pelvis_turn", "pelvis_drop", "shoulder_turn", "spine_flexion", "trunk_pitch",
             "effort")
    tracks = map_legged(motion, figure, replace(STYLES["horse"], **dict.fromkeys(names, 0.0)))
    for role in figure.trunk:
        assert np.abs(np.einsum("ij,ij->i", tracks.rotation[role], motion.orientation)
                      ).min() > 1.0 - 1e-12
    joint, _ = pose_joints(tracks, figure)
    for number, chain in enumerate(figure.legs):
        assert np.abs(joint[chain.limb[0]] - motion.hip[:, number]).max() < 1e-9


def test_a_bend_to_the_left_is_the_mirror_image_of_one_to_the_right():
    left = _solved("DOG", "CANTER_LEFT", 3.5, bend=8.0)
    right = _solved("DOG", "CANTER_RIGHT", 3.5, bend=-8.0)
    assert left[0].position[-1, 0] > 0.5
    mirror, turned = np.array([-1.0, 1.0, 1.0]), np.array([1.0, 1.0, -1.0, -1.0])

    def other(role):
        ends = {"L": "R", "R": "L"}
        return role[:-1] + ends[role[-1]] if role[-2:] in (".L", ".R") else role

    for role, place in left[2].position.items():
        assert np.abs(place - right[2].position[other(role)] * mirror).max() < 1e-6, role
    for role, turn in left[2].rotation.items():
        same = np.einsum("ij,ij->i", turn, right[2].rotation[other(role)] * turned)
        assert np.abs(same).min() > 1.0 - 1e-9, role


def test_one_who_stands_stands_still_and_a_style_out_of_range_is_kept_within_it():
    for kind in FIGURES:
        figure = FIGURES[kind]()
        gait = {"BIPED": "WALK_BIPED", "INSECT": "TRIPOD"}.get(kind, "WALK")
        motion = solve_gait(GaitSettings(
            creature=creature_of(figure), sequence=(GaitItem(gait),), speed=0.0, n_frames=25))
        style = replace(STYLES[kind.lower()], spine_flexion=20.0, arm_swing=float("nan"))
        tracks = map_legged(motion, figure, style)
        assert {p.code for p in tracks.problems} == {"STYLE_LIMITED"}
        for values in (*tracks.position.values(), *tracks.rotation.values()):
            assert np.abs(values - values[0]).max() < 1e-9
        for role in figure.trunk:
            assert np.abs(tracks.rotation[role][:, 0]).min() > 1.0 - 1e-6


def test_keyed_amounts_change_the_motion_where_they_are_keyed():
    motion, figure, tracks = _solved("BIPED", "WALK_BIPED", 1.3)
    later = np.linspace(0.0, 1.0, len(motion.time)) > 0.5
    keyed = map_legged(motion, figure, replace(STYLES["biped"],
                                               arm_swing=np.where(later, 0.0, np.radians(20.0))))
    hand = "hand.L"
    assert np.array_equal(keyed.position[hand][~later], tracks.position[hand][~later])
    assert np.abs(keyed.position[hand] - tracks.position[hand])[later].max() > 0.05


def test_events_tell_of_every_touchdown_and_liftoff():
    motion, figure, tracks = _solved("HORSE", "TROT", 3.5)
    landed = [e for e in tracks.events if e.kind == "TOUCHDOWN"]
    printed = [p for p in motion.footprints if p.on >= 0.0]
    assert len(landed) == len(printed) > 10
    assert {e.side for e in landed} == {leg.name for leg in figure.legs}
    assert [e.time for e in tracks.events] == sorted(e.time for e in tracks.events)
    corners = set(np.round(tracks.clock.corners, 9))
    assert set(np.round([e.time for e in tracks.events], 9)) == corners


@pytest.mark.parametrize("case", [
    ("DOG", "ROTARY_LEFT", 7.0), ("HORSE", "GALLOP_LEFT", 10.0), ("HORSE", "WALK", 1.6),
    ("INSECT", "TRIPOD", 0.8),
])
def test_feet_stand_on_edited_footprints_from_their_touchdown_to_their_liftoff(case):
    """Also in strides shorter than tracks take to go over from those without edits."""
    motion, figure, plain = _solved(*case)
    settings = GaitSettings(creature=creature_of(figure), sequence=(GaitItem(case[1]),),
                            speed=case[2], n_frames=97)
    hip = motion.creature.hip_height()
    some = [m for m in motion.footprints if 1.2 < m.on < 1.8]
    edits = tuple(FootprintEdit(m.leg, m.index, m.position + [0.1 * hip, 0.05 * hip, 0.0],
                                m.yaw + 0.1) for m in some)
    edited = solve_gait(replace(settings, edits=edits))
    tracks = adapted_tracks(plain, map_legged(edited, figure, STYLES[case[0].lower()]), edited)
    assert 0.0 < edited.windows[0][0] and edited.windows[0][1] < edited.time[-1]
    outside = np.ones(len(edited.time), dtype=bool)
    for start, end in edited.windows:
        outside &= (edited.time <= start) | (edited.time >= end)
    worst = 0.0
    for i, chain in enumerate(figure.legs):
        tip = tracks.position[chain.tip]
        assert np.array_equal(tip[outside], plain.position[chain.tip][outside])
        down = edited.contact[:, i]
        worst = max(worst, np.abs(tip - edited.foot_position[:, i])[down].max())
    assert worst < 1e-6
