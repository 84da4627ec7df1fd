# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole legged motions: planted feet, projectiles in the air, legs within their length."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from poise.addon.mapping.legs import creature_of
from poise.addon.rigs.builders.legged import FIGURES
from poise.solvers.errors import Cancelled, SettingError
from poise.solvers.legged import GaitItem, GaitSettings, solve_gait
from poise.solvers.legged.creature import Creature, Leg, biped, insect, quadruped
from poise.solvers.legged.gait import BIPED, HEXAPOD, PRESETS, metachronal, spoken_leg
from poise.solvers.legged.path import Path
from poise.solvers.legged.settings import FootprintEdit
from poise.solvers.legged.stairs import find_flights
from poise.solvers.motion import Placement
from poise.solvers.rotations import rotate
from poise.solvers.turning import sample_times

G = 9.81
HORSE, DOG = quadruped(), quadruped(0.5, 0.6, 0.2, name="DOG", hoof=False)
PERSON, INSECT = biped(), insect()


def _arc(radius, way=60.0):
    angle = np.linspace(0.0, way / radius, 400)
    return radius * np.stack((1.0 - np.cos(angle), -np.sin(angle)), axis=1)


def _hills(x, y):
    z = 0.15 * np.sin(0.8 * x) * np.cos(0.5 * y) + 0.1 * np.sin(0.9 * y)
    dx = 0.12 * np.cos(0.8 * x) * np.cos(0.5 * y)
    dy = -0.075 * np.sin(0.8 * x) * np.sin(0.5 * y) + 0.09 * np.cos(0.9 * y)
    normal = np.stack((-dx, -dy, np.ones_like(z)), axis=-1)
    return z, normal / np.linalg.norm(normal, axis=-1, keepdims=True), np.ones(len(z), bool)


def _stairs(x, y):
    """Up 10 steps of 0.17 by 0.29 m, along 3 m, and down again, along -Y."""
    way = -np.asarray(y, dtype=float) - 2.0
    up = np.clip(np.floor(way / 0.29) + 1.0, 0.0, 10.0)
    down = np.clip(np.floor((way - 5.9) / 0.29) + 1.0, 0.0, 10.0)
    normal = np.tile([0.0, 0.0, 1.0], (len(way), 1))
    return 0.17 * (up - down), normal, np.ones(len(way), dtype=bool)


def _demo_stairs(x, y):
    """Up 9 steps of 0.16 by 0.32 m, along 2 m, and down again."""
    way = -np.asarray(y, dtype=float) - 2.0
    up = np.clip(np.floor(way / 0.32) + 1.0, 0.0, 9.0)
    down = np.clip(np.floor((way - 4.56) / 0.32) + 1.0, 0.0, 9.0)
    normal = np.tile([0.0, 0.0, 1.0], (len(way), 1))
    return 0.16 * (up - down), normal, np.ones(len(way), dtype=bool)


def _speed(function, n_frames, fps=24.0):
    return function(sample_times(n_frames, fps))


CASES = {
    **{
        name: {"creature": PERSON if gait.legs == BIPED else INSECT if gait.legs == HEXAPOD
               else HORSE, "sequence": (GaitItem(name),), "speed": speed}
        for (name, gait), speed in zip(PRESETS.items(), (
            1.6, 3.0, 4.0, 4.0, 5.0, 5.0, 10.0, 10.0, 9.0, 9.0, 4.0, 4.0,
            1.37, 4.0, 2.5, 2.0, 2.0, 2.0, 1.5, 1.2, 0.5, 0.2), strict=True)
    },
    "bend": {"sequence": (GaitItem("TROT"),), "speed": 3.5, "path": _arc(9.0)},
    "changes": {
        "sequence": (GaitItem("WALK"), GaitItem("TROT", 2.0), GaitItem("CANTER_RIGHT", 4.0),
                     GaitItem("GALLOP_RIGHT", 6.5), GaitItem("TROT", 8.0)),
        "speed": lambda t: 1.5 + 1.2 * np.minimum(t, 10.0 - 0.5 * t), "path": _arc(30.0, 120.0),
    },
    "automatic": {"speed": lambda t: 0.5 + 1.2 * t},
    "stop and go": {"speed": lambda t: 2.0 * np.clip(np.sin(0.9 * t), 0.0, 0.8)},
    "dog on hills": {"creature": DOG, "sequence": (GaitItem("TROT"),), "speed": 2.0,
                     "ground": _hills, "path": _arc(8.0)},
    # Two treads of 0.29 m a stride.
    "stairs": {"creature": PERSON, "speed": 0.55, "ground": _stairs, "n_frames": 480,
               "sequence": (GaitItem(replace(PRESETS["WALK_BIPED"], stroke=0.58 * 0.61)),)},
    # Soles nearly as long as the treads of 0.32 m, footprints at the tips of the toes.
    "stairs of a demo": {"creature": creature_of(FIGURES["BIPED"]()), "speed": 0.6,
                         "ground": _demo_stairs, "n_frames": 400,
                         "sequence": (GaitItem(replace(PRESETS["WALK_BIPED"],
                                                       stroke=0.64 * 0.61)),)},
    "stairs too quickly": {"creature": PERSON, "sequence": (GaitItem("WALK_BIPED"),),
                           "speed": 0.9, "ground": _stairs, "n_frames": 288},
    "insect on hills": {"creature": INSECT, "speed": lambda t: 0.1 + 0.1 * t, "ground": _hills},
    "circuit": {"creature": DOG, "sequence": (GaitItem("PACE"),), "speed": 2.5, "closed": True,
                "path": _arc(2.5, 5.0 * math.pi)[:-1], "n_frames": 300},
    "slalom": {"creature": DOG, "sequence": (GaitItem("ROTARY_LEFT"),), "speed": 5.0,
               "path": np.stack((2.0 * np.sin(np.arange(80) / 8.0), -np.arange(80.0)), axis=1)},
}


@cache
def _solved(name, fps=24.0, seconds=None):
    case = dict(CASES[name])
    n = case.pop("n_frames", 240)
    n = round((n if seconds is None else 24.0 * seconds) * fps / 24.0) + 1
    speed = case.pop("speed")
    if callable(speed):
        speed = _speed(speed, n, fps)
    settings = GaitSettings(n_frames=n, fps=fps, speed=speed, **case)
    return settings, solve_gait(settings)


def _check_planted(motion):
    """In each support the point that the foot stands on, or rolls about, stays where it is."""
    worst = 0.0
    for i, leg in enumerate(motion.creature.legs):
        heel, toe = np.array([0.0, leg.heel, 0.0]), np.array([0.0, -leg.toe, 0.0])
        turn, place = motion.foot_orientation[:, i], motion.foot_position[:, i]
        for step in motion.footprints:
            if step.leg != leg.name:
                continue
            down = (motion.time >= step.on) & (motion.time <= step.off)
            assert np.all(motion.contact[down, i])
            for rolls, arm in (
                (motion.foot_pitch[:, i] == 0.0, np.zeros(3)),
                (motion.foot_pitch[:, i] > 0.0, heel),
                (motion.foot_pitch[:, i] < 0.0, toe),
            ):
                inside = down & rolls
                if inside.any():
                    there = place[inside] + rotate(turn[inside], arm)
                    printed = step.position + rotate(step.orientation, arm)
                    worst = max(worst, float(np.abs(there - printed).max()))
    return worst


def _ankles(motion):
    arms = np.array([leg.ankle for leg in motion.creature.legs], dtype=float)
    return motion.foot_position + rotate(motion.foot_orientation, arms)


@pytest.mark.parametrize("name", CASES)
def test_planted_feet_stay_planted(name):
    _, motion = _solved(name)
    assert np.isfinite(motion.position).all() and np.isfinite(motion.foot_position).all()
    assert _check_planted(motion) < 1e-9
    # Every moment of contact belongs to a footprint.
    for i, leg in enumerate(motion.creature.legs):
        steps = [step for step in motion.footprints if step.leg == leg.name]
        inside = np.zeros(len(motion.time), dtype=bool)
        for step in steps:
            inside |= (motion.time >= step.on) & (motion.time <= step.off)
            assert step.off >= -1e-8
        assert np.array_equal(inside, motion.contact[:, i])
        if not any(p.code == "STEP_LEFT_OUT" for p in motion.problems):
            assert [step.index for step in steps] == list(range(len(steps)))


@pytest.mark.parametrize("name", CASES)
def test_hip_is_never_farther_from_the_foot_than_the_leg_is_long(name):
    _, motion = _solved(name)
    far = np.linalg.norm(motion.hip - _ankles(motion), axis=2)
    assert motion.success, motion.problems
    assert np.all(far <= np.array([leg.length for leg in motion.creature.legs]) * (1.0 + 1e-3))
    down = motion.contact
    lengths = np.broadcast_to([leg.length for leg in motion.creature.legs], far.shape)
    assert np.all(far[down] <= lengths[down] * (1.0 + 1e-9))


@pytest.mark.parametrize("name", CASES)
def test_girdles_are_projectiles_in_the_air(name):
    """Second differences of heights between liftoff and touchdown are exactly -g dt^2."""
    _, motion = _solved(name)
    dt = motion.time[1]
    flights = 0
    for g, profile in enumerate(motion.supports):
        z = motion.girdle_height[:, g]
        air = np.zeros(len(z), dtype=bool)
        for a, b in zip(*profile.flights(), strict=True):
            air |= (motion.time - dt >= a) & (motion.time + dt <= b)
        inner = np.flatnonzero(air[1:-1]) + 1
        flights += len(inner)
        second = (z[inner + 1] - 2.0 * z[inner] + z[inner - 1]) / dt**2
        assert np.allclose(second, -G, atol=1e-7)
    assert flights > 0 or not any(len(p.start) > 3 for p in motion.supports) or dt > 0.01


@pytest.mark.parametrize("name", ["TROT", "GALLOP_LEFT", "RUN", "WALK_BIPED", "changes", "stairs"])
def test_speeds_do_not_jump(name):
    """At 1920 samples a second, body and feet change their speed by accelerations only."""
    seconds = 5.0 if name in ("changes", "stairs") else 2.0
    _, motion = _solved(name, 1920.0, seconds)
    dt = motion.time[1]
    curves = ((motion.position, 80.0), (motion.foot_position, 900.0), (motion.hip, 150.0))
    for curve, most in curves:
        push = np.linalg.norm(np.diff(curve, 2, axis=0), axis=-1) / dt**2
        assert push.max() < most  # a jump of 1 m/s would be 1920 m/s^2
    rates = np.diff(motion.girdle_height, axis=0) / dt
    assert np.abs(np.diff(rates, axis=0)).max() < 80.0 * dt


def test_body_does_not_accelerate_sideways_in_the_air():
    _, motion = _solved("slalom")
    flying = ~motion.contact.any(axis=1)
    both = flying[1:] & flying[:-1]
    assert both.sum() > 10
    assert np.all(motion.velocity[1:, :2][both] == motion.velocity[:-1, :2][both])
    push = np.linalg.norm(np.diff(motion.velocity[:, :2], axis=0), axis=1) / motion.time[1]
    assert np.all(push <= 4 * 6.0 + 1e-9)


def test_walk_is_highest_and_run_lowest_at_midstance():
    for name, sign in (("WALK_BIPED", 1.0), ("RUN", -1.0)):
        _, motion = _solved(name)
        middles = [0.5 * (s.on + s.off) for s in motion.footprints if 1.0 < s.on < 8.0]
        at = np.interp(middles, motion.time, motion.position[:, 2])
        quarter = 0.25 * np.median(np.diff(np.sort(middles)))
        aside = np.interp(np.array(middles) + quarter, motion.time, motion.position[:, 2])
        assert np.all(sign * at > sign * aside + 0.002)


def test_strokes_supports_and_periods_of_every_leg_agree():
    """stroke = speed * support, P = support / duty, to rounding (Girard 1986, section 3.3)."""
    for name, speed in (("WALK", 1.6), ("CANTER_LEFT", 5.0), ("GALLOP_RIGHT", 10.0)):
        _, motion = _solved(name)
        gait = PRESETS[name]
        period = 1.0 / float(gait.rates(speed, HORSE.hip_height(), G))
        duty = gait.duties(speed**2 / (G * HORSE.hip_height()))
        for i, leg in enumerate(HORSE.legs):
            steps = [s for s in motion.footprints if s.leg == leg.name]
            on, off = (np.array([getattr(s, x) for s in steps]) for x in ("on", "off"))
            assert np.allclose(off - on, duty[i] * period, atol=1e-9)
            assert np.allclose(np.diff(on), period, atol=1e-9)
            way = np.diff([s.position[1] for s in steps])
            assert np.allclose(-way, speed * period, atol=1e-6)


def test_footholds_belong_to_midstance_and_go_out_in_bends():
    """On a circle feet run hip height * tan(bank) outside of where they would go upright."""
    settings, motion = _solved("bend")
    radius, speed = 9.0, 3.5
    bank = math.atan(speed**2 / (radius * G))
    late = (motion.time > 4.0) & (motion.time < 9.0)
    assert np.allclose(motion.bank[late], bank, atol=0.01)  # to the left, the inside
    centre = np.array([radius, 0.0])
    body = np.linalg.norm(motion.position[late, :2] - centre, axis=1).mean()
    out = {"L": [], "R": []}
    for step in motion.footprints:
        if 4.0 < step.on < 9.0:
            out[step.leg[-1]].append(np.linalg.norm(step.position[:2] - centre))
    middle = 0.5 * (np.mean(out["L"]) + np.mean(out["R"]))
    # Feet ahead of and behind the body's centre are farther out by half their distance squared.
    ahead = math.hypot(body, 0.6) - body
    assert middle - body - ahead == pytest.approx(1.4 * math.cos(bank) * math.tan(bank), abs=0.05)
    assert np.mean(out["L"]) < np.mean(out["R"])
    upright = solve_gait(replace(settings, bank=0.0))
    assert np.all(upright.bank == 0.0)


def test_yaw_follows_the_path_and_is_not_wrapped():
    settings, _ = _solved("bend")
    motion = solve_gait(replace(settings, n_frames=600, path=_arc(9.0, 120.0)))
    wanted = 3.5 * motion.time / 9.0
    assert np.abs(motion.yaw - wanted)[48:].max() < 0.06
    assert motion.yaw[-1] > 2.0 * math.pi


def test_motion_goes_on_from_another_without_a_jump():
    """Steps that stand at the joint are the same, and the body goes on."""
    first_settings, first = _solved("CANTER_LEFT")
    state = first.end_state
    second = solve_gait(replace(
        first_settings, start_phase=state.phase / (2.0 * math.pi),
        placement=Placement(state.position, state.yaw),
    ))
    assert np.allclose(second.position[0], first.position[-1], atol=1e-6)
    assert np.allclose(second.velocity[0], first.velocity[-1], atol=1e-5)
    assert np.allclose(second.orientation[0], first.orientation[-1], atol=1e-6)
    assert np.allclose(second.foot_position[0], first.foot_position[-1], atol=1e-6)
    assert np.array_equal(second.contact[0], first.contact[-1])


@pytest.mark.parametrize("frames", [86, 100])
def test_a_skip_goes_on_from_either_side(frames):
    """The hand-over tells whose turn it is: a skip is the same again after two strides only."""
    gait = replace(PRESETS["SKIP"], period=0.75)  # 18 frames
    settings = GaitSettings(
        creature=PERSON, sequence=(GaitItem(gait),), speed=2.0, n_frames=frames + 1
    )
    first = solve_gait(settings)
    state = first.end_state
    assert state.phase / (2.0 * math.pi) == pytest.approx((frames / 36.0) % 1.0, abs=1e-9)
    second = solve_gait(replace(
        settings, start_phase=state.phase / (2.0 * math.pi),
        placement=Placement(state.position, state.yaw),
    ))
    assert np.allclose(second.position[0], first.position[-1], atol=1e-6)
    assert np.allclose(second.foot_position[0], first.foot_position[-1], atol=1e-6)
    assert np.array_equal(second.contact[0], first.contact[-1])
    # Out of another gait, too: the pattern then begins where the shift put it.
    walked = solve_gait(replace(
        settings, sequence=(GaitItem("WALK_BIPED"), GaitItem(gait, 1.0)), n_frames=frames + 49
    ))
    on = {leg: [p.on for p in walked.footprints if p.leg == leg][-1] for leg in BIPED}
    share = walked.end_state.phase / math.pi  # strides
    since = {leg: (float(walked.time[-1]) - t) / 0.75 for leg, t in on.items()}
    for i, leg in enumerate(BIPED):
        gone = np.mod(share - gait.touchdowns()[:, i], 2.0).min()
        assert gone == pytest.approx(since[leg], abs=1e-6)


def test_a_stride_later_a_skip_is_its_mirror_image():
    gait = replace(PRESETS["SKIP"], period=0.75)  # 18 frames
    motion = solve_gait(GaitSettings(
        creature=creature_of(FIGURES["BIPED"]()), sequence=(GaitItem(gait),), speed=2.2, n_frames=97
    ))
    assert not motion.problems and _check_planted(motion) < 1e-9
    stride, way = 18 * motion.steps_per_frame, np.array([0.0, -2.2 * 0.75, 0.0])
    flip = np.array([-1.0, 1.0, 1.0])
    assert np.allclose(motion.position[stride:], motion.position[:-stride] * flip + way, atol=1e-9)
    feet = motion.foot_position[:, ::-1] * flip
    assert np.allclose(motion.foot_position[stride:], feet[:-stride] + way, atol=1e-9)
    other = motion.contact[stride:] != motion.contact[:-stride, ::-1]
    assert np.all(np.abs(np.mod(motion.time[stride:][other.any(axis=1)] / 0.75, 1.0) - 0.5) > 0.49)
    # In the air for as long as the gait has it, with the rise of a projectile: g t^2 / 8.
    flight = (1.0 - gait.phase[1] - gait.duty[0]) * 0.75
    (profile,) = motion.supports
    left, landed = profile.flights()
    inside = (left > 0.5) & (landed < 3.5)
    assert np.allclose((landed - left)[inside], flight, atol=1e-9)
    for begin, end in zip(left[inside], landed[inside], strict=True):
        z = np.interp((begin, 0.5 * (begin + end), end), motion.time, motion.position[:, 2])
        assert z[1] - 0.5 * (z[0] + z[2]) == pytest.approx(G * flight**2 / 8.0, abs=2e-3)


@pytest.mark.parametrize("start", np.linspace(3.0, 4.4, 6))
@pytest.mark.parametrize("into", ["WALK_BIPED", "JOG"])
def test_a_skip_gives_way_to_slower_gaits_without_a_jump(start, into):
    """No flight of the change lasts longer than a hop, whichever side's turn it is."""
    creature = creature_of(FIGURES["BIPED"]())
    tempo = math.sqrt(G * creature.hip_height())
    time = sample_times(169, 24.0)
    slow = 0.42 if into == "WALK_BIPED" else 0.6
    motion = solve_gait(GaitSettings(
        creature=creature, sequence=(GaitItem("SKIP"), GaitItem(into, start)), n_frames=169,
        speed=tempo * np.interp(time, (start - 0.5, start + 0.5), (0.75, slow)),
    ))
    assert motion.success and _check_planted(motion) < 1e-9
    assert not {p.code for p in motion.problems} & {"GAIT_DELAYED", "JUMP_HIGH", "STEP_SHORTENED"}
    left, landed = motion.supports[0].flights()
    before = landed < start - 0.5
    assert before.sum() > 2 and np.all(landed - left < 1.3 * (landed - left)[before].max())


def test_closed_path_is_gone_around_again_and_again():
    _, motion = _solved("circuit")
    assert motion.yaw[-1] == pytest.approx(2.5 * motion.time[-1] / 2.5, abs=0.1)
    off = np.linalg.norm(motion.position[:, :2] - [2.5, 0.0], axis=1) - 2.5
    assert np.abs(off).max() < 0.1
    assert not motion.problems


def test_steady_gait_repeats_exactly():
    """One stride later body and feet are where they were, a stride further on."""
    gait = replace(PRESETS["TROT"], period=0.75)  # 18 frames
    motion = solve_gait(GaitSettings(sequence=(GaitItem(gait),), speed=4.0, n_frames=145))
    shift = 18 * motion.steps_per_frame
    way = np.array([0.0, -3.0, 0.0])
    assert np.allclose(motion.position[shift:], motion.position[:-shift] + way, atol=1e-9)
    assert np.allclose(motion.foot_position[shift:], motion.foot_position[:-shift] + way, atol=1e-9)
    assert np.allclose(motion.orientation[shift:], motion.orientation[:-shift], atol=1e-9)
    assert np.allclose(motion.velocity[shift:], motion.velocity[:-shift], atol=1e-6)


def test_accelerating_horse_goes_through_its_gaits():
    _, motion = _solved("automatic")
    assert [name for name, _, _ in motion.gaits] == ["WALK", "TROT", "CANTER_LEFT", "GALLOP_LEFT"]
    assert not [p for p in motion.problems if p.severity == "ERROR"]


def test_feet_stand_while_the_animal_stands():
    _, motion = _solved("stop and go")
    speed = np.linalg.norm(motion.velocity[:, :2], axis=1)
    standing = speed < 1e-4
    assert standing.sum() > 50
    late = standing & (motion.time > 4.5) & (motion.time < 6.5)
    assert late.sum() > 10 and motion.contact[late].all()


@pytest.mark.parametrize("creature", [HORSE, PERSON], ids=["horse", "person"])
def test_who_starts_from_a_stand_stands_with_feet_under_the_hips(creature):
    speed = np.clip(sample_times(121, 24.0) - 1.0, 0.0, 1.4)
    motion = solve_gait(GaitSettings(creature, speed=speed, n_frames=121))
    rest = creature.feet() - creature.hips()
    assert motion.contact[0].all()
    off = motion.foot_position[0, :, 1] - motion.hip[0, :, 1] - rest[:, 1]
    # A person's first foot is ahead, so that it reaches until it lifts off.
    assert np.count_nonzero(np.abs(off) < 0.01) >= len(off) - 1
    assert np.all((off < 0.01) & (off > -0.3 * creature.hip_height()))
    assert not [p for p in motion.problems if p.code != "HIPS_LOWERED"]


@pytest.mark.parametrize("name", ["stairs", "stairs of a demo"])
def test_person_climbs_stairs_with_whole_feet_over_the_edges(name):
    settings, motion = _solved(name)
    assert motion.position[:, 2].max() > 1.4 + 0.7
    assert not {p.code for p in motion.problems} & {"NO_GROUND", "STEP_HIGH", "STEP_LEFT_OUT"}
    # What a foot bears on is on a tread, a quarter of the sole behind it too.
    for step in motion.footprints:
        leg = next(leg for leg in motion.creature.legs if leg.name == step.leg)
        for behind in (max(-leg.toe, 0.0), max(-leg.toe, 0.0) + 0.2 * (leg.heel + leg.toe)):
            place = step.position + rotate(step.orientation, np.array([0.0, behind, 0.0]))
            floor = settings.ground(place[:1], place[1:2])[0][0]
            assert floor == pytest.approx(step.position[2], abs=1e-9)
    # Hips rise and sink evenly: under half of gravity, as on level ground.
    push = np.diff(motion.position[:, 2], 2) / motion.time[1] ** 2
    assert np.abs(push[24:-24]).max() < 0.5 * G
    # Soles never below the ground by more than the foot is laid over an edge.
    for i, leg in enumerate(motion.creature.legs):
        up = ~motion.contact[:, i]
        place, turn = motion.foot_position[up, i], motion.foot_orientation[up, i]
        for arm in ([0.0, leg.heel, 0.0], [0.0, -leg.toe, 0.0]):
            end = place + rotate(turn, np.array(arm))
            floor = settings.ground(end[:, 0], end[:, 1])[0]
            assert np.all(end[:, 2] > floor - 0.03)


def _house_stairs(sign):
    """14 stairs of 0.18 by 0.27 m, after 1.5 m."""
    def ground(x, y):
        count = np.clip(np.floor((-np.asarray(y, dtype=float) - 1.5) / 0.27) + 1.0, 0.0, 14.0)
        return sign * 0.18 * count, np.tile([0.0, 0.0, 1.0], (len(count), 1)), count >= 0.0
    return ground


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["up", "down"])
@pytest.mark.parametrize("speed", [0.6, 0.9, 1.35])
def test_person_sets_a_foot_on_every_stair(sign, speed):
    """Cadences on stairs are 95 to 110 steps a minute, speeds along them 0.5 to 0.7 m/s (Riener
    et al. 2002; Protopapadaki et al. 2007); the gait's own stride would take four at once."""
    person = creature_of(FIGURES["BIPED"]())
    settings = GaitSettings(creature=person, sequence=(GaitItem("WALK_BIPED"),), speed=speed,
                            n_frames=289, ground=_house_stairs(sign))
    motion = solve_gait(settings)
    assert _check_planted(motion) < 1e-9 and motion.success
    assert motion.contact.sum(axis=1).min() >= 1
    steps = sorted((p for p in motion.footprints if p.on > 0.0), key=lambda p: p.on)
    stair = [round(sign * p.position[2] / 0.18) for p in steps]
    first, last = stair.index(1) - 1, stair.index(14) + 1
    assert stair[first:last] == list(range(15))
    assert all(a.leg != b.leg for a, b in zip(steps, steps[1:], strict=False))
    on = np.array([p.on for p in steps[first + 2 : last - 1]])
    cadence = 60.0 / np.diff(on)
    assert cadence.min() > 90.0 and cadence.max() < 115.0
    pace = np.hypot(0.27, 0.18) * cadence / 60.0
    assert 0.45 < pace.mean() < 0.7
    told = {p.code: p for p in motion.problems}
    assert not set(told) & {"STEP_HIGH", "STEP_SHORTENED", "STEP_LEFT_OUT", "NO_GROUND"}
    assert told["STRIDES_SHORTENED"].message.count("stairs") == 1
    # At the bottom and at the top it goes as it was asked to.
    assert np.linalg.norm(motion.velocity[2, :2]) == pytest.approx(speed, rel=0.1)
    assert np.linalg.norm(motion.velocity[-1, :2]) == pytest.approx(speed, rel=0.1)
    if speed == 1.35:
        off = solve_gait(replace(settings, stairs=False))
        own = [round(sign * p.position[2] / 0.18) for p in off.footprints if p.leg == "leg.L"]
        assert np.diff(own).max() > 2


@pytest.mark.parametrize(("sign", "rise", "tread", "most"), [
    (1.0, 0.18, 0.27, 0.0), (1.0, 0.16, 0.32, 0.0), (1.0, 0.2, 0.25, 0.05),
    (-1.0, 0.16, 0.32, 0.0), (-1.0, 0.18, 0.27, 0.09)])
def test_feet_come_down_where_treads_carry_them_by_themselves(sign, rise, tread, most):
    """Wherever the flight begins: strides ahead of it are up to 25 % shorter or 15 % longer. Soles
    are 0.25 m long, and heels keep a tenth of that from the riser behind them going down."""
    person = creature_of(FIGURES["BIPED"]())
    for begin in np.linspace(1.8, 1.8 + tread, 5):
        def ground(x, y, begin=begin):
            way = -np.asarray(y, dtype=float) - begin
            count = np.clip(np.floor(way / tread) + 1.0, 0.0, 10.0)
            return sign * rise * count, np.tile([0.0, 0.0, 1.0], (len(count), 1)), count >= 0.0

        motion = solve_gait(GaitSettings(creature=person, sequence=(GaitItem("WALK_BIPED"),),
                                         speed=1.1, n_frames=193, ground=ground))
        assert motion.success and motion.contact.sum(axis=1).min() >= 1
        moved = [p.amount for p in motion.problems if p.code == "FOOTHOLD_MOVED"]
        assert max(moved, default=0.0) <= most, begin


@pytest.mark.parametrize(("sign", "rise", "tread"), [
    (1.0, 0.17, 0.25), (1.0, 0.2, 0.27), (-1.0, 0.18, 0.27), (-1.0, 0.2, 0.29)])
@pytest.mark.parametrize("speed", [0.9, 1.35])
def test_who_takes_stairs_as_they_come_has_a_foot_on_the_ground(sign, rise, tread, speed):
    """With Match Stairs off feet go over several stairs at once, up to Step Height."""
    def ground(x, y):
        count = np.clip(np.floor((-np.asarray(y, dtype=float) - 1.5) / tread) + 1.0, 0.0, 12.0)
        return sign * rise * count, np.tile([0.0, 0.0, 1.0], (len(count), 1)), count >= 0.0

    motion = solve_gait(GaitSettings(
        creature=creature_of(FIGURES["BIPED"]()), sequence=(GaitItem("WALK_BIPED"),), speed=speed,
        n_frames=193, ground=ground, stairs=False))
    assert motion.success and motion.contact.sum(axis=1).min() >= 1
    assert _check_planted(motion) < 1e-9


@pytest.mark.parametrize("creature", [HORSE, DOG], ids=["horse", "dog"])
def test_legs_of_animals_take_two_stairs_or_one_in_a_stride(creature):
    motion = solve_gait(GaitSettings(creature=creature, sequence=(GaitItem("WALK"),), speed=1.0,
                                     n_frames=289, ground=_house_stairs(1.0)))
    assert _check_planted(motion) < 1e-9 and motion.success
    assert "STEP_HIGH" not in {p.code for p in motion.problems}
    for leg in creature.legs:
        stair = np.array([round(p.position[2] / 0.18) for p in motion.footprints
                          if p.leg == leg.name])
        assert np.diff(stair).max() <= (3 if creature is HORSE else 2)


def test_slopes_hills_and_single_steps_are_no_stairs():
    def steps(x, y):
        z = 0.2 * (np.asarray(y) < -4.0)
        return z, np.tile([0.0, 0.0, 1.0], (len(z), 1)), np.ones(len(z), dtype=bool)

    def slope(x, y):
        return _hills(x, y)[0] - 0.6 * np.asarray(y), *_hills(x, y)[1:]

    way = Path(None, False, Placement())
    for ground in (steps, slope, _hills):
        assert not find_flights(ground, way, 20.0, 0.9)
    up, down = find_flights(_stairs, way, 20.0, 0.9)
    assert (up.start, up.tread, up.rise) == pytest.approx((2.0, 0.29, 0.17), abs=0.01)
    assert up.end == pytest.approx(2.0 + 9 * 0.29, abs=0.01)
    assert down.start == pytest.approx(7.9, abs=0.01)


def test_body_leans_with_slopes_and_feet_lie_on_them():
    def slope(x, y):
        normal = np.tile(np.array([0.0, 0.3, 1.0]) / math.hypot(0.3, 1.0), (len(x), 1))
        return -0.3 * np.asarray(y), normal, np.ones(len(x), dtype=bool)

    motion = solve_gait(GaitSettings(sequence=(GaitItem("WALK"),), speed=1.2, ground=slope))
    assert np.abs(motion.pitch - math.atan(0.3))[48:].max() < 0.06
    flat = (motion.foot_pitch == 0.0) & motion.contact
    up = rotate(motion.foot_orientation[flat], np.array([0.0, 0.0, 1.0]))
    assert np.allclose(up, np.array([0.0, 0.3, 1.0]) / math.hypot(0.3, 1.0), atol=1e-9)
    one = solve_gait(GaitSettings(creature=INSECT, sequence=(GaitItem("TRIPOD"),), speed=0.5,
                                  ground=slope))
    assert np.abs(one.pitch - math.atan(0.3))[96:-48].max() < 0.05


@pytest.mark.parametrize("kind", ["HORSE", "DOG"])
@pytest.mark.parametrize("degrees", [8.5, -8.5])
def test_trunks_pitch_with_slopes_and_no_further(kind, degrees):
    """In the mean within 1.6 degrees of the slope; +-2 degrees in a walk, +-1 in a trot."""
    rise = math.tan(math.radians(degrees))

    def slope(x, y):
        normal = np.tile(np.array([0.0, rise, 1.0]) / math.hypot(rise, 1.0), (len(x), 1))
        return -rise * np.asarray(y), normal, np.ones(len(x), dtype=bool)

    creature = creature_of(FIGURES[kind]())
    tempo = math.sqrt(G * creature.hip_height())
    for gait, speed, sway in (("WALK", 0.4, 3.0), ("TROT", 0.9, 1.0)):
        motion = solve_gait(GaitSettings(
            creature=creature, sequence=(GaitItem(gait),), speed=speed * tempo, n_frames=145,
            ground=slope))
        pitch = np.degrees(motion.pitch)[96:-48]
        assert abs(pitch.mean() - degrees) < 1.6
        assert np.abs(pitch - pitch.mean()).max() < sway


@pytest.mark.parametrize("kind", ["HORSE", "DOG"])
@pytest.mark.parametrize("degrees", [30.0, 38.0, -30.0, -38.0])
def test_trunks_are_parallel_to_steep_stairs(kind, degrees):
    """A rigid trunk of length l is l cos(p) long in plan: feet l apart there would tip it by
    asin(tan(p)), 51 degrees on a slope of 38."""
    creature = creature_of(FIGURES[kind]())
    hip = creature.hip_height()
    rise = math.copysign(0.12 * hip, degrees)
    tread = abs(rise) / math.tan(math.radians(abs(degrees)))

    def ground(x, y):
        count = np.maximum(np.floor((-np.asarray(y, dtype=float) - 1.5 * hip) / tread) + 1.0, 0.0)
        return rise * count, np.tile([0.0, 0.0, 1.0], (len(count), 1)), count >= 0.0

    motion = solve_gait(GaitSettings(
        creature=creature, sequence=(GaitItem("WALK"),), speed=0.4 * math.sqrt(G * hip),
        n_frames=289, ground=ground))
    pitch = np.degrees(motion.pitch)[motion.time > 6.0]
    assert abs(pitch.mean() - degrees) < 6.0
    assert np.abs(pitch).max() < 55.0


def _least_on_the_ground(gait):
    """By the gait's own diagram."""
    share = np.linspace(0.0, 1.0, 2000, endpoint=False)
    on = np.mod(share[:, None] - np.array(gait.phase), 1.0) < np.array(gait.duty)
    return int(on.sum(axis=1).min())


@pytest.mark.parametrize("kind", ["HORSE", "DOG", "BIPED"])
@pytest.mark.parametrize("degrees", [0.0, 20.0, 27.0, 35.0, 40.0])
def test_walkers_do_not_float_on_slopes(kind, degrees):
    """Strokes that are shorter make supports and periods shorter (Girard 1986, section 3.3)."""
    creature = creature_of(FIGURES[kind]())
    rise = math.tan(math.radians(degrees))
    gait = PRESETS["WALK_BIPED" if kind == "BIPED" else "WALK"]
    speed = 0.43 * math.sqrt(G * creature.hip_height())
    usual = 1.0 / float(gait.rates(speed, creature.hip_height(), G))
    least = _least_on_the_ground(gait)
    for x, y in ((0.0, rise), (0.0, -rise), (rise, 0.0)):
        normal = np.array([-x, y, 1.0]) / math.hypot(rise, 1.0)

        def slope(u, v, x=x, y=y, normal=normal):
            z = x * np.asarray(u) - y * np.asarray(v)
            return z, np.tile(normal, (len(z), 1)), np.ones(len(z), dtype=bool)

        motion = solve_gait(GaitSettings(
            creature=creature, sequence=(GaitItem(gait),), speed=speed, n_frames=121,
            ground=slope))
        assert motion.contact.sum(axis=1).min() >= least
        assert _check_planted(motion) < 1e-9 and motion.success
        told = {p.code: p for p in motion.problems}
        assert "STEP_SHORTENED" not in told and "STEP_LEFT_OUT" not in told
        pace = np.linalg.norm(motion.velocity[:, :2], axis=1)[24:-24]
        quicker = []
        for i, leg in enumerate(creature.legs):
            steps = [p for p in motion.footprints if p.leg == leg.name and p.on > 0.0]
            period = np.diff([p.on for p in steps])
            support = np.array([p.off - p.on for p in steps[:-1]])
            # Of who slows down as the slope begins, or at the start, not to rounding.
            assert np.allclose(support / period, gait.duty[i], atol=0.05)
            quicker += (usual / period).tolist()
        assert max(quicker) < 1.25
        # Slower than wanted, or of quicker strides, only where it is told.
        share = told["STRIDES_SHORTENED"].amount if "STRIDES_SHORTENED" in told else 1.0
        assert share > 0.1 and (share == 1.0 or degrees >= 20.0)
        assert pace.min() > 0.9 * min(1.0, 1.2 * share) * speed


@pytest.mark.parametrize("gait, speed", [("WALK_BIPED", 1.3), ("JOG", 2.7), ("RUN", 4.0)])
@pytest.mark.parametrize("degrees", [-23.0, -12.0, 12.0, 23.0])
def test_swinging_feet_follow_slopes(gait, speed, degrees):
    """Ground without edges is cleared as level ground is, which is a slope of 0."""
    creature = creature_of(FIGURES["BIPED"]())
    high = []
    for rise in (0.0, math.tan(math.radians(degrees))):
        normal = np.array([0.0, rise, 1.0]) / math.hypot(rise, 1.0)

        def slope(x, y, rise=rise, normal=normal):
            z = -rise * np.asarray(y)
            return z, np.tile(normal, (len(z), 1)), np.ones(len(z), dtype=bool)

        motion = solve_gait(GaitSettings(
            creature=creature, sequence=(GaitItem(gait),), speed=speed, n_frames=121,
            ground=slope))
        over = motion.foot_position[..., 2] + rise * motion.foot_position[..., 1]
        high.append(over.max())
    assert high[1] < 1.65 * high[0]


def test_same_settings_give_the_same_motion_to_the_last_bit():
    settings, motion = _solved("changes")
    again = solve_gait(settings)
    for name in ("position", "orientation", "foot_position", "foot_orientation", "hip"):
        assert np.array_equal(getattr(motion, name), getattr(again, name))


def test_motion_per_second_is_the_same_at_any_frame_rate():
    _, at24 = _solved("bend")
    _, at60 = _solved("bend", 60.0)
    common = np.arange(0, 121)  # twelfths of a second
    a, b = at24.position[common * 4], at60.position[common * 5]
    assert np.abs(a - b).max() < 0.01
    assert [s.index for s in at24.footprints] == [s.index for s in at60.footprints]
    on = np.array([(s.on, s.off) for s in at24.footprints])
    assert np.allclose(on, [(s.on, s.off) for s in at60.footprints], atol=1e-6)


def test_rounding_puts_contacts_on_frames():
    settings, _ = _solved("GALLOP_LEFT")
    motion = solve_gait(replace(settings, round_to_frames=True))
    times = np.array([(s.on, s.off) for s in motion.footprints]) * 24.0
    assert np.allclose(times, np.round(times), atol=1e-6)
    assert _check_planted(motion) < 1e-9


@pytest.mark.parametrize("ground", [None, _hills], ids=["level", "hills"])
def test_moved_footprint_changes_nothing_more_than_a_stride_away(ground):
    settings, motion = _solved("WALK")
    if ground:
        settings = replace(settings, ground=ground)
        motion = solve_gait(settings)
    print_ = next(s for s in motion.footprints if s.leg == "fore.L" and s.on > 4.0)
    place = print_.position + [0.1, -0.1, 0.05]
    edit = FootprintEdit("fore.L", print_.index, place, print_.yaw + 0.2)
    moved = solve_gait(replace(settings, edits=(edit,)))
    stride = 1.25
    away = (motion.time < print_.on - stride) | (motion.time > print_.off + stride)
    for name in ("position", "orientation", "foot_position", "foot_orientation"):
        assert np.array_equal(getattr(moved, name)[away], getattr(motion, name)[away]), name
    new = next(s for s in moved.footprints if (s.leg, s.index) == ("fore.L", print_.index))
    assert np.array_equal(new.position, edit.position) and new.yaw == edit.yaw
    assert _check_planted(moved) < 1e-9


def test_edits_of_time_keep_their_order_and_lost_ones_are_told_of():
    settings, motion = _solved("WALK")
    print_ = next(s for s in motion.footprints if s.leg == "hind.R" and s.on > 4.0)
    later = FootprintEdit("hind.R", print_.index, on=print_.on + 0.1)
    moved = solve_gait(replace(settings, edits=(later,)))
    new = next(s for s in moved.footprints if (s.leg, s.index) == ("hind.R", print_.index))
    assert new.on == print_.on + 0.1 and new.off == print_.off
    wild = (
        FootprintEdit("hind.R", print_.index, on=0.5),
        FootprintEdit("hind.R", 999),
        FootprintEdit("wing", 0),
        FootprintEdit("fore.L", 3, position=np.array([50.0, 0.0, 0.0])),
    )
    bad = solve_gait(replace(settings, edits=wild))
    codes = [p.code for p in bad.problems]
    assert codes.count("EDIT_LOST") == 2 and "EDIT_TIME" in codes and "OUT_OF_REACH" in codes
    assert not bad.success
    told = next(p for p in bad.problems if p.code == "OUT_OF_REACH")
    assert "Step 3 of the left fore at " in told.message or "Step 2 of the left" in told.message


@pytest.mark.parametrize("name", ["WALK", "stairs too quickly"])
def test_solving_tells_how_far_it_is_and_can_be_stopped(name):
    settings, motion = _solved(name)
    told = []
    again = solve_gait(settings, told.append)
    assert told == sorted(told) and told[-1] == 1.0 and len(told) > 8
    assert np.array_equal(again.foot_position, motion.foot_position)

    def stop(fraction):
        if fraction >= told[len(told) // 2]:
            raise Cancelled

    with pytest.raises(Cancelled):
        solve_gait(settings, stop)


# --- what may be asked for and cannot be had -------------------------------------------


def _codes(**changes):
    motion = solve_gait(GaitSettings(**changes))
    assert np.isfinite(motion.foot_position).all() and np.isfinite(motion.orientation).all()
    assert _check_planted(motion) < 1e-9
    return {problem.code: problem for problem in motion.problems}


def test_standing_still_is_a_motion():
    motion = solve_gait(GaitSettings(speed=0.0))
    assert motion.contact.all() and np.ptp(motion.position, axis=0).max() < 1e-9
    assert not motion.problems and len(motion.footprints) == 4


def test_far_too_fast_takes_quicker_steps_and_says_so():
    found = _codes(sequence=(GaitItem("WALK"),), speed=12.0)
    assert "for the left hind from 0.00 s" in found["STROKE_LIMITED"].message
    assert "TRANSFER_SHORT" in found


def test_stroke_longer_than_reach_is_shortened():
    gait = replace(PRESETS["WALK"], stroke=5.0)
    motion = solve_gait(GaitSettings(sequence=(GaitItem(gait),), speed=2.0))
    found = {p.code: p for p in motion.problems}
    assert "stroke of 5.00 m" in found["STROKE_LIMITED"].message
    assert motion.success and _check_planted(motion) < 1e-9


def test_gait_that_would_have_to_jump_high_is_told_of():
    found = _codes(sequence=(GaitItem("PRONK"),), speed=0.4)
    # V_up = g t / 2, and the height V_up^2 / (2 g).
    told = found["JUMP_HIGH"]
    aloft = told.end_time - told.time
    assert told.amount == pytest.approx(G * aloft**2 / 8.0, abs=0.05)


def test_least_transfer_longer_than_the_transfer_is_told_of():
    gait = replace(PRESETS["TROT"], least_transfer=5.0)
    found = _codes(sequence=(GaitItem("WALK"), GaitItem(gait, 3.0)), speed=3.0)
    message = found["TRANSFER_SHORT"].message
    assert message.startswith("Step ") and " at " in message and " s " in message
    assert any(spoken_leg(leg.name) in message for leg in HORSE.legs)


def test_path_that_is_too_sharp_is_left_and_told_of():
    corner = np.array([[0.0, 0.0], [0.0, -20.0], [0.4, -20.0], [0.4, 0.0]])
    gallop = {"sequence": (GaitItem("GALLOP_LEFT"),), "speed": 10.0, "path": corner}
    found = _codes(**gallop)
    assert 1.5 < found["PATH_LEFT"].time < 3.0 and found["PATH_LEFT"].amount > 2.0
    # Legs of any strength would do it, lying down.
    found = _codes(**gallop, impulse=1000.0)
    assert "PATH_LEFT" not in found and 1.5 < found["BEND_SHARP"].time < 3.0
    assert "degrees" in found["BEND_SHARP"].message


def test_path_that_ends_goes_straight_on():
    path = np.array([[0.0, 0.0], [3.0, 0.0], [6.0, 0.0]])
    motion = solve_gait(GaitSettings(sequence=(GaitItem("WALK"),), speed=1.5, path=path))
    (problem,) = motion.problems
    assert problem.code == "PATH_ENDS" and problem.time == pytest.approx(4.0, abs=0.05)
    assert np.allclose(motion.position[-1, :2], [1.5 * motion.time[-1], 0.0], atol=1e-3)


def test_speed_that_changes_too_quickly_is_told_of():
    speed = np.where(sample_times(250, 24.0) < 1.0, 0.5, 12.0)
    found = _codes(sequence=(GaitItem("GALLOP_LEFT"),), speed=speed, impulse=1.0)
    assert found["SPEED_MISSED"].amount > 5.0


def test_no_ground_under_a_foot_names_leg_step_and_time():
    def island(x, y):
        z, normal, hit = _hills(x, y)
        return z, normal, np.asarray(y) > -6.0

    found = _codes(sequence=(GaitItem("WALK"),), speed=1.6, ground=island)
    message = found["NO_GROUND"].message
    assert message.startswith("Step ") and " fore at " in message and found["NO_GROUND"].time > 2.0


@pytest.mark.parametrize("n", [1, 3, 5, 7])
def test_any_number_of_legs_walks(n):
    names = [f"leg{i}.{'LR'[i % 2]}" for i in range(n)]
    legs = tuple(
        Leg(name, np.array([0.2 * (1 - 2 * (i % 2)) * (n > 1), 0.3 * (i // 2), 0.8]),
            np.array([0.3 * (1 - 2 * (i % 2)) * (n > 1), 0.3 * (i // 2), 0.0]), 0.95)
        for i, name in enumerate(names)
    )
    creature = Creature("ODD", legs, np.array([0.0, 0.1, 0.8]))
    gait = metachronal(names)
    found = _codes(creature=creature, sequence=(GaitItem(gait),), speed=0.8)
    assert not {"OUT_OF_REACH", "NO_GROUND"} & set(found)


def test_legs_of_very_different_length_walk():
    legs = list(PERSON.legs)
    legs[1] = replace(legs[1], hip=np.array([-0.085, 0.0, 0.5]), length=0.5)
    found = _codes(creature=Creature("ODD", tuple(legs), PERSON.centre),
                   sequence=(GaitItem("WALK_BIPED"),), speed=1.0)
    assert "OUT_OF_REACH" not in found


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"speed": -1.0}, "Speed at 0.000 s is -1.0"),
        ({"speed": math.nan}, "Speed at 0.000 s is nan"),
        ({"speed": np.ones(3)}, "Speed is an array of shape"),
        ({"speed": "fast"}, "Speed is fast"),
        ({"sequence": (GaitItem("FLY"),)}, "'FLY'"),
        ({"sequence": (GaitItem("RUN"),)}, "2 legs"),
        ({"creature": replace(HORSE, legs=())}, "Number of Legs is 0"),
        ({"creature": replace(HORSE, legs=HORSE.legs[:3])}, "Sequence of gaits"),
        ({"creature": replace(HORSE, legs=HORSE.legs[:1] * 2)}, "Name of a leg"),
        (
            {"creature": replace(HORSE, legs=(replace(HORSE.legs[0], length=0.5),))},
            "Length of the left hind is 0.500 m",
        ),
        ({"creature": replace(HORSE, centre=np.zeros(2))}, "Centre"),
        (
            {"sequence": (GaitItem(replace(PRESETS["WALK"], stroke=1e-4)),), "speed": 3.0},
            "Stride of gait WALK is so short",
        ),
        ({"start_phase": 1.5}, "Start Phase is 1.5"),
        ({"n_frames": 0}, "Number of Frames"),
        ({"fps": 0.0}, "Frame Rate"),
        ({"gravity": 0.0}, "Gravity"),
        ({"path": np.zeros((5, 2))}, "Path is 1 different points"),
        ({"path": np.full((5, 2), np.nan)}, "Path"),
        ({"placement": Placement(np.array([0.0, np.inf, 0.0]))}, "Placement"),
    ],
)
def test_bad_settings_are_one_sentence(changes, words):
    with pytest.raises(SettingError, match="must be") as caught:
        solve_gait(GaitSettings(**changes))
    assert words in str(caught.value)


def test_random_motions_are_motions_or_sentences():
    random = np.random.default_rng(7)
    solved = 0
    for _ in range(60):
        creature = [HORSE, DOG, PERSON, INSECT, insect(0.2, 1.5, 4)][random.integers(5)]
        names = [leg.name for leg in creature.legs]
        pool = [g for g in PRESETS.values() if len(g.legs) == len(names)]
        pool += [metachronal(names, random.uniform(0.05, 0.97), random.uniform(-1.0, 1.0) % 1.0)]
        items = tuple(
            GaitItem(replace(pool[random.integers(len(pool))],
                             phase=tuple(random.uniform(0.0, 1.0, len(names)))
                             if random.random() < 0.3 else pool[0].phase),
                     random.uniform(0.0, 3.0))
            for _ in range(random.integers(1, 4))
        )
        n = int(random.integers(1, 100))
        speed = random.uniform(-0.5, 3.0) * np.sqrt(G * creature.hip_height())
        if random.random() < 0.5:
            speed = np.abs(speed) * random.uniform(0.0, 1.0, len(sample_times(n, 24.0)))
        points = np.cumsum(random.normal(0.0, 1.0, (12, 2)), axis=0)
        path = points if random.random() < 0.5 else None
        ground = _hills if random.random() < 0.4 else None
        impulse = random.uniform(0.0, 10.0)
        try:
            motion = solve_gait(GaitSettings(
                creature, items, random.uniform(), n, 24.0, speed, path, ground=ground,
                impulse=impulse,
            ))
        except SettingError as error:
            assert "must be" in str(error)
            continue
        solved += 1
        for array in (motion.position, motion.orientation, motion.foot_position,
                      motion.foot_orientation, motion.velocity):
            assert np.isfinite(array).all()
        assert _check_planted(motion) < 1e-9
        far = np.linalg.norm(motion.hip - _ankles(motion), axis=2)
        lengths = np.broadcast_to([leg.length for leg in creature.legs], far.shape)
        if motion.success:
            assert np.all(far[motion.contact] <= lengths[motion.contact] * (1.0 + 1e-9))
            assert np.all(far <= lengths * 1.0021)
        assert motion.success or any(p.code == "OUT_OF_REACH" for p in motion.problems)
    assert solved > 30


@pytest.mark.parametrize(
    ("creature", "gait", "speed", "told"),
    [
        (HORSE, "WALK", 1.6, None), (HORSE, "WALK", 3.6, "3.6 m/s"), (HORSE, "TROT", 4.0, None),
        (HORSE, "GALLOP_LEFT", 2.5, "2.5 m/s"), (DOG, "WALK", 3.0, "3.0 m/s"),
        (PERSON, "WALK_BIPED", 1.4, None), (PERSON, "WALK_BIPED", 2.9, "2.9 m/s"),
    ],
)
def test_a_gait_at_a_speed_of_another_is_told(creature, gait, speed, told):
    """Animals of any size walk up to Fr = v^2 / (g h) of 0.5 (Alexander 1989)."""
    settings = GaitSettings(creature=creature, sequence=(GaitItem(gait),), speed=speed, n_frames=49)
    found = [p for p in solve_gait(settings).problems if p.code == "GAIT_SPEED"]
    assert len(found) == (told is not None)
    if told:
        low, high = PRESETS[gait].usual_speeds(creature.hip_height(), G)
        assert told in found[0].message and f"{low:.1f} to {high:.1f} m/s" in found[0].message
        assert found[0].severity == "INFO" and not low / 2.0 <= speed <= 1.2 * high


def test_speeds_that_are_passed_through_are_not_told():
    """A canter begins and ends with a stand."""
    n = 97
    speed = _speed(lambda t: np.interp(t, (0.0, 1.5, 2.5, 4.0), (0.0, 6.0, 6.0, 0.0)), n)
    settings = GaitSettings(
        creature=HORSE, sequence=(GaitItem("CANTER_LEFT"),), speed=speed, n_frames=n
    )
    assert "GAIT_SPEED" not in {p.code for p in solve_gait(settings).problems}
