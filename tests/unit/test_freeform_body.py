# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies through postures: flights that conserve, supports that hold, heights that meet."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from freeform_cases import (
    ABSORB,
    BODY,
    CROUCH,
    PUSH,
    SEQUENCES,
    STAND,
    jump,
    planted,
    pose,
    squat,
)
from poise.solvers import rotations
from poise.solvers.errors import SettingError
from poise.solvers.freeform import Body, FreeformPlan, Pace, PostureSequence, solve
from poise.solvers.freeform.body import Tie, inside, links
from poise.solvers.freeform.choose import Clip, choose_frames
from poise.solvers.freeform.flight import ORDER, rise_speed, shoot
from poise.solvers.freeform.heights import HARDEST, Piece, exponent
from poise.solvers.freeform.holds import Hold, ends_of, keep, linked
from poise.solvers.freeform.motion import Moving
from poise.solvers.freeform.terrain import stood
from scipy.integrate import solve_ivp

G = 9.81
FLYING = ("jump", "leap", "somersault", "dance")
MASSES = BODY.figure.masses


@cache
def _plan(name):
    return FreeformPlan(BODY, SEQUENCES[name]())


def _links(motion, body=BODY):
    joints = motion.joints.copy()
    joints[:, 0] = motion.turn
    return links(body, motion.place, joints)


def _ends(motion, limb):
    found = _links(motion)
    last = limb.links[-1]
    return found.joints[:, last] + rotations.rotate(found.turns[:, last], limb.tip)


def _angle(first, second):
    apart = rotations.multiply(rotations.conjugate(first), second)
    return np.linalg.norm(rotations.to_rotation_vector(apart), axis=-1)


# Flights


@pytest.mark.parametrize("name", FLYING)
def test_the_centre_of_mass_is_a_projectile(name):
    plan = _plan(name)
    (start, end), = plan.sample(np.zeros(1)).flights
    t = np.linspace(start, end, 97)
    c = plan.sample(t).centre
    s = (t - start)[:, None] / (end - start)
    # The parabola through both ends: c_0 + (c_1 - c_0) s + g T^2 s (1 - s) / 2.
    closed = c[0] + (c[-1] - c[0]) * s
    closed[:, 2:] += 0.5 * G * (end - start) ** 2 * s * (1.0 - s)
    np.testing.assert_allclose(c, closed, atol=1e-9)


def test_liftoff_speed_follows_from_time_and_heights():
    # Girard 1986, section 5.2; 0.6 s, landing 0.2 m higher: 9.81 * 0.3 + 0.2 / 0.6.
    assert rise_speed(0.6, -0.2, G) == pytest.approx(3.2763333333, abs=1e-9)
    # A long way down in a short time: it is thrown downwards.
    assert rise_speed(0.2, 1.0, G) == pytest.approx(0.981 - 5.0)
    plan = _plan("jump")
    (start, end), = plan.sample(np.zeros(1)).flights
    h = 1e-4
    c = plan.sample(np.array([start, start + h, start + 2 * h, end])).centre[:, 2]
    speed = (-3.0 * c[0] + 4.0 * c[1] - c[2]) / (2 * h)
    assert speed == pytest.approx(rise_speed(end - start, c[0] - c[3], G), abs=1e-7)


def _momentum(plan, times, h):
    """(t, 3) about the centre of mass, by differences of fifth order of places and turns."""
    # Of f(-2h) .. f(2h).
    weights = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12.0 * h)
    steps = h * np.arange(-2, 3)
    found = _links(plan.sample((times[:, None] + steps).ravel()), plan.body)
    masses = plan.body.figure.masses
    shape = (len(times), 5, len(masses))
    centres = found.centres.reshape(*shape, 3)
    turns = found.turns.reshape(*shape, 4)
    velocity = np.einsum("tsnk,s->tnk", centres, weights)
    step = rotations.multiply(turns, rotations.conjugate(turns[:, 2:3]))
    spin = np.einsum("tsnk,s->tnk", rotations.to_rotation_vector(step), weights)
    share = masses / masses.sum()
    c, v = (np.einsum("n,tnk->tk", share, x) for x in (centres[:, 2], velocity))
    matrices = rotations.to_matrix(turns[:, 2])
    inertia = matrices @ plan.body.figure.inertias @ np.swapaxes(matrices, -1, -2)
    own = np.einsum("tnij,tnj->ti", inertia, spin)
    arms, drift = centres[:, 2] - c[:, None], velocity - v[:, None]
    return own + np.einsum("n,tnk->tk", masses, rotations.cross(arms, drift))


@pytest.mark.parametrize("name", FLYING)
def test_angular_momentum_stays(name):
    plan = _plan(name)
    motion = plan.sample(np.zeros(1))
    (start, end), = motion.flights
    t = np.linspace(start, end, 42)[1:-1]
    # Differences do not reach over the ends of kicks, where rates have corners; within
    # kicks, which last for hundredths of a second, they are less exact.
    corners = plan.course.breaks(start, end)
    t = t[np.abs(t[:, None] - corners).min(axis=1) > 1e-3]
    quiet = (t > start + 0.06) & (t < end - 0.11)
    assert np.count_nonzero(quiet) > 20
    for here, h, close in ((quiet, 1e-4, 1e-9), (~quiet, 2e-5, 1e-8)):
        off = np.linalg.norm(_momentum(plan, t[here], h) - motion.momenta[0], axis=1)
        assert off.max() < close * max(np.linalg.norm(motion.momenta[0]), 1.0)


@pytest.mark.parametrize("name", FLYING)
def test_the_landing_posture_is_met(name):
    plan, sequence = _plan(name), SEQUENCES[name]()
    motion = plan.sample(sequence.times)
    (start, end), = motion.flights
    k = int(np.searchsorted(sequence.times, end))
    landing = sequence.postures[k]
    assert _angle(motion.turn[k], landing.turn) < 1e-9
    np.testing.assert_allclose(motion.place[k], landing.place, atol=1e-9)
    # From just before, too: nothing jumps.
    before = plan.sample(np.array([end - 1e-9]))
    np.testing.assert_allclose(before.place[0], motion.place[k], atol=1e-7)
    assert _angle(before.turn[0], motion.turn[k]) < 1e-7


def _pitch(plan):
    """Forward turn over the first flight, rad."""
    (start, end), = plan.sample(np.zeros(1)).flights
    q = plan.sample(np.linspace(start, end, 400)).turn
    step = rotations.multiply(q[1:], rotations.conjugate(q[:-1]))
    return rotations.to_rotation_vector(step)[:, 0].sum()


def test_a_somersault_turns_once():
    # From 15 degrees forward to 12 back: the whole turn less 27 degrees.
    assert _pitch(_plan("somersault")) == pytest.approx(np.radians(360.0 - 27.0), abs=1e-3)


@pytest.mark.parametrize("turns", [-1, 2])
def test_whole_turns_may_be_given(turns):
    sequence = SEQUENCES["somersault"]()
    # Tucked, but turned as at liftoff: only the number says what is meant.
    postures = list(sequence.postures)
    for k in (3, 4):
        postures[k] = replace(postures[k], turn=postures[2].turn)
    postures[4] = replace(postures[4], whole_turns=np.array([float(turns), 0.0, 0.0]))
    plan = FreeformPlan(BODY, replace(sequence, postures=postures))
    assert _pitch(plan) == pytest.approx(np.radians(360.0 * turns - 27.0), abs=2e-3)
    assert np.sign(plan.flights[0].aim.momentum[0]) == np.sign(turns)


def _still(joints):
    def course(times):
        shape = (len(times), *joints.shape)
        return np.broadcast_to(joints, shape), np.zeros((*shape[:2], 3))

    return course


def test_a_stiff_body_spins_about_its_long_axis_by_the_closed_form():
    course = _still(pose().joints)
    # Symmetric to both sides, stretched: but for the feet's depth Z is a principal axis.
    found = inside(BODY, *course(np.zeros(1)))
    moment = found.inertia[0]
    assert abs(moment[0, 2]) < 1e-12
    angle, duration = np.radians(360.0 + 90.0), 0.7

    def guide(t):
        rate = angle / duration
        spins = np.tile([0.0, 0.0, rate], (len(t), 1))
        return rotations.about_z(rate * t), spins

    aim = shoot(BODY, course, guide, [np.array([0.0, duration])], None).of(0)
    momentum = aim.momentum
    assert aim.missed < 1e-10
    axis = np.array([0.0, 0.0, 1.0])
    tilt = moment @ axis * (angle / duration)
    if np.abs(moment[1, 2]) < 1e-12:
        np.testing.assert_allclose(momentum, tilt, atol=1e-8)
    assert momentum[2] == pytest.approx(tilt[2], rel=1e-2)


def test_a_stiff_body_keeps_its_energy_while_it_tumbles():
    joints = pose(hips=(70, 10), arms=(120, 20), sides=(60, 0), knees=(10, 80)).joints
    course = _still(joints)
    end = rotations.normalise(np.array([0.3, 0.7, -0.5, 0.4]))
    axis = rotations.to_rotation_vector(end) / 0.8

    def guide(t):
        turns = rotations.from_rotation_vector(axis * t[:, None])
        return turns, np.tile(axis, (len(t), 1))

    aim = shoot(BODY, course, guide, [np.array([0.0, 0.8])], None).of(0)
    assert aim.missed < 1e-10
    assert _angle(aim.turns[-1], end) < 1e-10
    own = rotations.rotate(rotations.conjugate(aim.turns), aim.momentum)
    inverse = np.linalg.inv(inside(BODY, *course(np.zeros(1))).inertia[0])
    energy = 0.5 * np.einsum("ti,ij,tj->t", own, inverse, own)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)


def test_turns_in_the_air_converge_with_the_nodes():
    course = _still(pose(hips=(70, 10), arms=(120, 20), sides=(60, 0), knees=(10, 80)).joints)
    inverse = np.linalg.inv(inside(BODY, *course(np.zeros(1))).inertia[0])
    axis = np.array([2.0, 3.0, -2.0])

    def guide(t):
        return rotations.from_rotation_vector(axis * t[:, None]), np.tile(axis, (len(t), 1))

    t, off = np.linspace(0.0, 0.8, 97), []
    for order in (3, 5, 7, ORDER):
        aim = shoot(BODY, course, guide, [np.array([0.0, 0.8])], None, order, 0.1).of(0)

        def spinning(_time, q, momentum=aim.momentum):
            own = rotations.rotate(rotations.conjugate(q), momentum)
            return 0.5 * rotations.multiply(q, np.append(0.0, inverse @ own))

        exact = solve_ivp(spinning, (0.0, 0.8), aim.turns[0], "DOP853", t, rtol=1e-13, atol=1e-14)
        off.append(_angle(rotations.normalise(exact.y.T), rotations.normalise(aim.along(t))).max())
        assert aim.missed < 1e-10
    # Each two nodes more gain two digits, until no more are to be had.
    assert off[1] < 1e-2 * off[0] and off[2] < 1e-2 * off[1]
    assert off[3] < 1e-10


def test_postures_in_the_air_guide_and_say_by_how_much_they_are_off():
    plan, sequence = _plan("somersault"), SEQUENCES["somersault"]()
    told = [p for p in plan.problems if p.code == "TURNED_IN_AIR"]
    assert told
    for problem in told:
        k = int(np.searchsorted(sequence.times, problem.time))
        turn = plan.sample(np.array([problem.time])).turn[0]
        assert problem.amount == pytest.approx(_angle(turn, sequence.postures[k].turn), abs=1e-9)
        assert problem.severity == "INFO"


INSTANTS = 1e-6 * np.arange(-3.0, 4.0)  # s around a liftoff or landing


def _both_speeds(x):
    """Velocities before and after, by differences of third order to either side."""
    weights = np.array([-11.0, 18.0, -9.0, 2.0]) / 6e-6
    return -weights @ x[3::-1], weights @ x[3:]


@pytest.mark.parametrize("name", FLYING)
def test_velocity_is_continuous_at_liftoff_and_landing(name):
    plan = _plan(name)
    for t in plan.sample(np.zeros(1)).flights[0]:
        motion = plan.sample(t + INSTANTS)
        feet = [_ends(motion, limb) for limb in BODY.limbs[:2]]
        near = [x for x in feet if abs(x[3, 2]) < 1e-9]
        # What feet are kicked by changes within hundredths of a second.
        for x, close in ((motion.centre, 1e-6), (motion.place, 2e-6), *((y, 1e-4) for y in near)):
            np.testing.assert_allclose(*_both_speeds(x), atol=close)
        assert near


def test_feet_on_one_board_stay_on_it_and_momentum_stays():
    """Postures that bend one leg more than the other tip the board; both feet go along."""
    body = _with_feet()
    apart = np.array([[0.1, 0.0, 0.0], [-0.1, 0.0, 0.0]])
    body = replace(body, ties=(Tie(body.limbs[:2], apart),))
    given = jump()
    postures = [
        replace(p, joints=np.concatenate([p.joints, rotations.identity(2)]))
        for p in given.postures
    ]
    for side, angle in ((7, -35.0), (8, 70.0), (9, -20.0)):
        tip = rotations.about_x(np.radians(angle))
        postures[3].joints[side] = rotations.multiply(postures[3].joints[side], tip)
    plan = FreeformPlan(body, PostureSequence(postures, given.times))
    (start, end), = plan.sample(np.zeros(1)).flights
    t = np.linspace(0.0, plan.duration, 211)
    found = _links(plan.sample(t), body)
    turns, ends = found.turns[:, 11:], found.joints[:, 11:]
    assert _angle(turns[:, 0], turns[:, 1]).max() < 1e-7
    way = rotations.rotate(rotations.conjugate(turns[:, 0]), ends[:, 0] - ends[:, 1])
    np.testing.assert_allclose(way, np.tile(apart[0] - apart[1], (len(t), 1)), atol=1e-9)
    assert np.ptp(_angle(turns[:, 0], turns[:1, 0])) > np.radians(10.0)
    # Lifted at rest, and set down likewise.
    for when, side in ((start, 1.0), (end, -1.0)):
        near = _links(plan.sample(when + side * np.array([0.0, 1e-5, 2e-5])), body).joints[:, 11:]
        speed = np.tensordot((-1.5, 2.0, -0.5), near, 1) / 1e-5
        assert np.abs(speed).max() < 1e-2
    corners = plan.course.breaks(start, end)
    t = np.linspace(start, end, 42)[1:-1]
    t = t[np.abs(t[:, None] - corners).min(axis=1) > 1e-3]
    t = t[(t > start + 0.06) & (t < end - 0.11)]
    first = plan.flights[0].aim.momentum
    off = np.linalg.norm(_momentum(plan, t, 1e-4) - first, axis=1)
    assert off.max() < 1e-7 * max(np.linalg.norm(first), 1.0)


# Landings


@pytest.mark.parametrize("name", FLYING)
def test_landings_absorb_in_a_plausible_time(name):
    """0.1 to 0.3 s until the body sinks no more (people that land from 0.3 m take 0.15 to 0.4 s
    until all is still), at once and not in two, and joints turn by no more than 1100 degrees a
    second."""
    plan = _plan(name)
    end = plan.sample(np.zeros(1)).flights[0, 1]
    h = 1.0 / 240.0
    motion = plan.sample(end + h * np.arange(0.0, 120.0))
    speed = -np.diff(motion.place[:, 2]) / h
    sinks = np.argmax(speed < 0.05 * speed[0])
    assert 0.1 < h * sinks < 0.3
    assert (np.diff(speed[:sinks]) < 0.0).all()
    turned = _angle(motion.joints[:-10, 1:], motion.joints[10:, 1:])  # over 1/24 s
    assert np.degrees(turned).max() < 1100.0 / 24.0
    assert "FOLDS_FAST" not in [p.code for p in plan.problems]


def _dive():
    """From both feet onto both hands."""
    down = dict(arms=(170, 170), elbows=(45, 45), hips=(20, 20), knees=(20, 20))
    hands = dict(hand_L=(0.2, -1.35, 0.0), hand_R=(-0.2, -1.35, 0.0))
    postures = [
        pose(**STAND), pose(**CROUCH), pose(pitch=20, **PUSH),
        planted(pose(place=(0, -1.0, 1.0), pitch=150, **down), **hands),
        planted(pose(place=(0, -1.1, 0.93), pitch=165, **down), **hands),
    ]
    return PostureSequence(postures, np.array([0.0, 0.5, 0.8, 1.3, 1.55]))


def test_what_lands_on_its_hands_is_caught_at_the_shoulders():
    plan = FreeformPlan(BODY, _dive())
    assert not [p for p in plan.problems if p.code == "STRETCHED"]

    def shoulders(times):
        return _links(plan.sample(times)).joints[:, [3, 5], 2].mean(axis=1)

    t = np.linspace(1.3, 1.55, 60)
    z = shoulders(t)
    down, up = _both_speeds(shoulders(1.3 + INSTANTS)[:, None])
    assert up[0] == pytest.approx(down[0], abs=1e-5)
    law = Piece(1.3, 1.55, z[0], z[-1], -down[0], 0.0, 0.6)
    np.testing.assert_allclose(z, law(t), atol=1e-5)
    centre = plan.sample(1.3 + INSTANTS).centre
    np.testing.assert_allclose(*_both_speeds(centre), atol=1e-6)


def test_a_leg_that_lands_too_straight_says_how_fast_it_folds():
    sequence = SEQUENCES["jump"]()
    postures = list(sequence.postures)
    postures[4] = pose(at=(0, -0.5, 0), **{"arms": (70, 70), "hips": (8, 8), "knees": (12, 12)})
    plan = FreeformPlan(BODY, replace(sequence, postures=postures))
    told = [p for p in plan.problems if p.code == "FOLDS_FAST"]
    assert [p.bone for p in told] == ["foot.L", "foot.R"]
    t = 1.3 + 1e-5 * np.arange(2.0)
    motion = plan.sample(t)
    rate = _angle(motion.joints[0, 8], motion.joints[1, 8]) / 1e-5
    assert told[0].amount == pytest.approx(rate, rel=1e-2)
    assert told[0].amount > 10.0 * np.sqrt(G / 0.86)
    assert f"{np.degrees(told[0].amount):.0f} degrees a second" in told[0].message


def test_flights_may_be_broken_off():
    heard = []

    def enough(share):
        heard.append(share)
        if len(heard) == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        FreeformPlan(BODY, SEQUENCES["jump"](), progress=enough)
    assert len(heard) == 3 and 0.0 <= heard[0] < heard[1] < heard[2] < 1.0


# Supports


@pytest.mark.parametrize("name", SEQUENCES)
def test_supports_do_not_slide(name):
    plan = _plan(name)
    motion = plan.sample(np.linspace(0.0, plan.duration, 241))
    assert not [p for p in motion.problems if p.code == "OUT_OF_REACH"]
    assert motion.contacts
    for contact in motion.contacts:
        limb = next(m for m in BODY.limbs if m.name == contact.limb)
        times = np.linspace(contact.start, contact.end, 50)
        ends = _ends(plan.sample(times), limb)
        np.testing.assert_allclose(ends, np.tile(contact.place, (50, 1)), atol=1e-9)


@pytest.mark.parametrize("name", SEQUENCES)
def test_joints_and_transitions_follow_the_postures(name):
    sequence, plan = SEQUENCES[name](), _plan(name)
    motion = plan.sample(sequence.times)
    told = [p for p in plan.problems if p.code == "SUPPORT_SLIDES"]
    assert not told
    flights = motion.flights
    for k, posture in enumerate(sequence.postures):
        off = _angle(motion.joints[k, 1:], rotations.normalise(posture.joints)[1:])
        assert off.max() < 1e-7, k
        if posture.supports:
            np.testing.assert_allclose(motion.place[k], posture.place, atol=1e-9)
            assert _angle(motion.turn[k], posture.turn) < 1e-9
    for start, end in flights:
        assert start in sequence.times and end in sequence.times


def test_contacts_have_the_exact_times_of_their_postures():
    found = _plan("dance").sample(np.zeros(1)).contacts
    assert [(c.limb, c.start, c.end) for c in found] == [
        ("foot.R", 0.0, 0.75),
        ("foot.L", 1.28, 2.2),
    ]


def test_a_squat_stays_on_the_ground():
    motion = solve(BODY, squat(), np.linspace(0.0, 1.3, 60))
    assert motion.momenta.shape == (0, 3) and motion.flights.shape == (0, 2)
    assert motion.problems == ()
    np.testing.assert_allclose(motion.place[[0, -1]], [p.place for p in squat().postures[::2]])
    # At rest at both ends: it moves a thousandth of its way in the first fortieth.
    assert abs(motion.place[1, 2] - motion.place[0, 2]) < 0.01


def _with_feet():
    """The body with feet, whose turn is kept while they stand."""
    f = BODY.figure
    ankle, toe = np.array([0.0, 0.0, -0.44]), np.array([[0.0, -0.1, -0.02]] * 2)
    grown = replace(
        f, parents=np.append(f.parents, [8, 10]), places=np.concatenate([f.places, [ankle] * 2]),
        rests=np.concatenate([f.rests, f.rests[:2]]), axes=np.concatenate([f.axes, f.axes[1:3]]),
        masses=np.append(f.masses, [1.0, 1.0]), centres=np.concatenate([f.centres, toe]),
        inertias=np.concatenate([f.inertias, f.inertias[4:6]]),
    )
    legs = [replace(limb, end=11 + i) for i, limb in enumerate(BODY.limbs[:2])]
    return Body(grown, (*legs, *BODY.limbs[2:]))


def test_feet_keep_their_turn_while_they_bear():
    body = _with_feet()
    postures = [
        replace(p, joints=np.concatenate([p.joints, rotations.identity(2)]))
        for p in squat().postures
    ]
    # Flat on the ground to begin with.
    flat = rotations.about_x(np.radians(-8.0))
    postures[0].joints[11:] = flat
    motion = solve(body, PostureSequence(postures, squat().times), np.linspace(0.0, 1.3, 27))
    joints = motion.joints.copy()
    joints[:, 0] = motion.turn
    turns = links(body, motion.place, joints).turns[:, 11:]
    assert _angle(turns, rotations.identity(1)).max() < 1e-9
    assert _angle(motion.joints[:, 11], flat).max() > 0.3  # ankles bend for it


def test_exponents_close_the_way_between_their_bounds():
    assert exponent(3.0, 0.3, 0.3, 0.9) == pytest.approx(2.0)  # 3 * 0.3 / 0.3 - 1
    assert exponent(1.0, 0.3, 0.3, 0.9) == 1.0
    assert exponent(3.0, 0.2, 0.05, 0.9) == HARDEST == exponent(3.0, 0.2, -0.2, 0.9)


def test_a_long_wait_before_a_jump_is_no_long_way():
    """Two seconds on the ground, then off at 3 m/s: at e = 3 it would sink by 1.5 m first."""
    piece = Piece(0.0, 2.0, 0.9, 0.95, 0.0, 3.0, 0.9)
    t = np.linspace(0.0, 2.0, 4001)
    z = piece(t)
    # 0.05 m of room and 0.2 of the legs.
    assert 0.9 - z.min() == pytest.approx(0.2 * 0.9, abs=0.02)
    assert (z[-1] - z[-2]) / t[1] == pytest.approx(3.0, abs=0.03)
    landing = replace(piece, low=0.95, high=0.9, landing=3.0, liftoff=0.0)
    np.testing.assert_allclose(landing(t), piece(2.0 - t), atol=1e-12)


@pytest.mark.parametrize("speed, way", [(3.0, 0.3), (1.0, 0.3), (3.0, 0.02), (3.0, -0.1)])
def test_landings_sink_at_their_speed_and_meet_the_next_posture(speed, way):
    piece = Piece(1.0, 1.3, 0.9, 0.9 - way, speed, 0.0, 0.86)
    h = 1e-7
    z = piece(np.array([1.0, 1.0 + h]))
    assert z[0] == pytest.approx(0.9, abs=1e-12)
    assert (z[1] - z[0]) / h == pytest.approx(-speed, rel=1e-4)
    assert piece(np.array([1.3]))[0] == pytest.approx(0.9 - way, abs=1e-12)
    # Liftoffs are the same, run backwards.
    off = Piece(1.0, 1.3, 0.9 - way, 0.9, 0.0, speed, 0.86)
    t = np.linspace(1.0, 1.3, 20)
    np.testing.assert_allclose(off(t), piece(2.3 - t), atol=1e-12)
    # The posture there is passed at its own speed; run backwards, that is the other way.
    passed = replace(piece, passes=-0.4), replace(off, passes=0.4)
    z = passed[0](np.array([1.3 - h, 1.3]))
    assert (z[1] - z[0]) / h == pytest.approx(-0.4, abs=1e-4)
    np.testing.assert_allclose(passed[1](t), passed[0](2.3 - t), atol=1e-12)


def test_a_landing_by_the_paper_is_a_t_to_the_e():
    # e = 2 closes by itself: z = 0.9 - V t / 3 (1 - (1 - s)^3).
    piece = Piece(0.0, 0.3, 0.9, 0.6, 3.0, 0.0, 0.86)
    t = np.linspace(0.0, 0.3, 31)
    closed = 0.9 - 0.3 * (1.0 - (1.0 - t / 0.3) ** 3)
    np.testing.assert_allclose(piece(t), closed, atol=1e-12)


def test_between_two_flights_without_a_posture_the_body_gives_way():
    piece = Piece(0.0, 0.4, 0.9, 0.95, 2.0, 2.5, 0.86)
    t = np.linspace(0.0, 0.4, 4001)
    z = piece(t)
    speed = np.gradient(z, t)
    assert speed[1] == pytest.approx(-2.0, abs=0.02) and speed[-2] == pytest.approx(2.5, abs=0.02)
    assert z[0] == pytest.approx(0.9) and z[-1] == pytest.approx(0.95)
    # Half of 0.4 s at half of 2 m/s: 0.2 m, and the difference of the ways made up for.
    assert 0.6 < z.min() < 0.75


def test_two_leaps_from_one_touch():
    # Up, one short support of two postures, up again: heights and velocities meet twice.
    touch = dict(hips=(25, 25), knees=(40, 40), arms=(20, 20))
    air = dict(hips=(30, 30), knees=(60, 60), place=(0, 0, 1.2))
    postures = [
        pose(**CROUCH), pose(**PUSH), pose((), **air), pose(at=(0, -0.2, 0), **touch),
        pose(at=(0, -0.2, 0), **PUSH), pose((), **air), pose(at=(0, -0.4, 0), **touch),
        pose(at=(0, -0.4, 0), **ABSORB),
    ]
    times = np.array([0.0, 0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.6])
    plan = FreeformPlan(BODY, PostureSequence(postures, times))
    for t in np.ravel(plan.sample(np.zeros(1)).flights):
        np.testing.assert_allclose(*_both_speeds(plan.sample(t + INSTANTS).centre), atol=1e-6)


# Pace


def test_a_jump_runs_backwards_where_its_distance_does():
    sequence = SEQUENCES["jump"]()
    pace = Pace.of([0.0, 1.0, 1.2, 2.2], [0.0, 1.0, 1.0, 0.0])
    plan = FreeformPlan(BODY, replace(sequence, times=None, pace=pace, duration=4.4))
    motion = plan.sample(np.zeros(1))
    assert len(motion.flights) == 2
    (a, b), (c, d) = motion.flights
    np.testing.assert_allclose([d, c], 4.4 - np.array([a, b]), atol=1e-6)
    t = np.linspace(0.0, 4.4, 89)
    there, back = plan.sample(t), plan.sample(4.4 - t)
    # The joints come back the same way; both flights are true, so the pelvis does, too.
    np.testing.assert_allclose(there.centre, back.centre, atol=1e-5)
    assert [x.limb for x in motion.contacts] == ["foot.L", "foot.R"] * 3


def test_a_flat_distance_curve_holds_a_posture():
    pace = Pace.of([0.0, 1.0, 2.0, 3.0], [0.0, 0.5, 0.5, 1.0])
    sequence = replace(squat(), times=None, pace=pace, duration=3.0, shares=np.array([0, 0.5, 1]))
    motion = solve(BODY, sequence, np.linspace(1.05, 1.95, 10))
    np.testing.assert_allclose(motion.place, np.tile(squat().postures[1].place, (10, 1)))
    assert motion.contacts[0].end == 3.0


def test_a_body_may_turn_whole_on_its_feet():
    turned = replace(pose(), whole_turns=np.array([0.0, 0.0, 1.0]), supports=())
    foot = replace(turned, supports=("foot.L",))
    start = replace(pose(), supports=("foot.L",))
    plan = FreeformPlan(BODY, PostureSequence([start, foot], np.array([0.0, 1.0])))
    yaw = np.unwrap(2 * np.arctan2(*plan.sample(np.linspace(0, 1, 90)).turn[:, [3, 0]].T),
                    period=2 * np.pi)
    assert yaw[-1] - yaw[0] == pytest.approx(2 * np.pi, abs=1e-9)


# Bad input


def test_flights_that_no_leg_could_give_say_what_height_they_need():
    sequence = SEQUENCES["jump"]()
    times = sequence.times + np.array([0, 0, 0, 0.5, 1.0, 1.0, 1.0])  # 1.5 s in the air
    motion = solve(BODY, replace(sequence, times=times), np.zeros(1))
    told = next(p for p in motion.problems if p.code == "TOO_HIGH")
    (start, end), = motion.flights
    assert end - start == pytest.approx(1.5)
    # About g T^2 / 8 = 2.76 m, as it lands a little lower than it lifts.
    assert told.amount == pytest.approx(2.76, abs=0.15)
    assert "0.86 m" in told.message


def test_feet_out_of_reach_say_by_how_much():
    postures = [pose(**STAND), replace(pose(**STAND), place=np.array([0, 0, 1.11])), pose(**STAND)]
    sequence = PostureSequence(postures, np.array([0.0, 1.0, 2.0]))
    motion = solve(BODY, sequence, np.linspace(0.0, 2.0, 81))
    told = [p for p in motion.problems if p.code == "OUT_OF_REACH"]
    # Hips at 1.06 m, legs of 0.86 m: 0.2 m short.
    assert [p.bone for p in told] == ["foot.L", "foot.R"]
    assert told[0].amount == pytest.approx(0.2, abs=1e-3)
    assert told[0].time > 0.0 and told[0].time + told[0].end_time == pytest.approx(2.0)


def test_legs_too_straight_to_jump_say_so_and_do_not_jerk_the_body():
    sequence = SEQUENCES["jump"]()
    postures = list(sequence.postures)
    postures[2] = pose(**{**PUSH, "hips": (2, 2), "knees": (2, 2)})
    plan = FreeformPlan(BODY, replace(sequence, postures=postures))
    told = [p for p in plan.problems if p.code == "STRETCHED"]
    assert [(p.bone, p.time) for p in told] == [("foot.L", 0.8), ("foot.R", 0.8)]
    # The postures lead the pelvis from 15 to 0 degrees of pitch, and 15 cm ahead.
    motion = plan.sample(np.linspace(0.5, 0.9, 81))
    assert np.degrees(_angle(motion.turn, rotations.identity(1))).max() < 25.0
    assert np.abs(motion.place[:, 1]).max() < 0.2
    assert "STRETCHED" not in [p.code for p in _plan("jump").problems]


def test_supports_that_are_elsewhere_stay_where_they_stood():
    postures = [pose(**STAND), pose(at=(0, -0.1, 0), **STAND)]
    motion = solve(BODY, PostureSequence(postures, np.array([0.0, 1.0])), np.array([0.0, 1.0]))
    told = [p for p in motion.problems if p.code == "SUPPORT_SLIDES"]
    assert len(told) == 2 and told[0].amount == pytest.approx(0.1)
    np.testing.assert_allclose(_ends(motion, BODY.limbs[0])[1], [0.1, 0, 0], atol=1e-9)


@pytest.mark.parametrize(
    "change, words",
    [
        (dict(postures=[pose()], times=np.zeros(1)), "Postures is 1"),
        (dict(times=np.array([0.0, 0.5, 0.5])), "Step from posture 2 to 3 is 0 s"),
        (dict(times=np.array([0.0, -0.5, 1.0])), "Step from posture 1 to 2 is -0.5 s"),
        (dict(times=np.array([0.0, np.nan, 1.0])), "Times of the postures"),
        (dict(times=None), "or a pace with a duration"),
        (dict(times=None, pace=Pace.of([0, 1], [0, 1]), duration=0.0), "Duration is 0"),
        (dict(postures=[pose(()), pose(), pose()]), "Posture 1 is in the air"),
        (dict(postures=[pose(), pose(), pose(())]), "Posture 3 is in the air"),
        (dict(postures=[pose(), replace(pose(), supports=("tail",)), pose()]), "tail"),
        (dict(postures=[pose(), replace(pose(), joints=np.zeros((3, 4))), pose()]), "3 joints"),
        (
            dict(postures=[pose(), pose((), place=(0, 0, 1)), pose(), pose((), place=(0, 0, 1)),
                           pose()], times=np.arange(5.0)),
            "Posture 3 is the only one between two flights",
        ),
        (
            dict(times=None, pace=Pace.of([0, 1], [0, 1]), duration=1.0,
                 postures=[pose(), pose(), pose()]),
            "Distance from posture 1 to 2 is 0",
        ),
    ],
)
def test_bad_sequences_say_what_is_wrong(change, words):
    with pytest.raises(SettingError, match=words):
        FreeformPlan(BODY, replace(squat(), **change))


def test_a_pace_that_ends_in_the_air_says_so():
    pace = Pace.of([0.0, 1.0], [0.0, 0.5])
    sequence = replace(SEQUENCES["jump"](), times=None, pace=pace, duration=1.0,
                       shares=np.linspace(0, 1, 7))
    with pytest.raises(SettingError, match="ends in the air"):
        FreeformPlan(BODY, sequence)


def test_identical_postures_stand_still():
    motion = solve(BODY, PostureSequence([pose(), pose()], np.array([0.0, 1.0])), np.arange(3) / 2)
    np.testing.assert_allclose(motion.place, np.tile(motion.place[0], (3, 1)), atol=1e-12)
    assert motion.problems == ()


# Steps, rolling feet, and motions that go on


def test_a_foot_that_bears_elsewhere_steps_there():
    """Both feet bear in both postures, the right one 0.3 m ahead in the second: it steps."""
    stand = planted(pose(**STAND), foot_L=(0.1, 0, 0), foot_R=(-0.1, 0, 0))
    ahead = replace(pose(**STAND), place=stand.place + (0.0, -0.12, -0.04))
    stride = planted(ahead, foot_L=(0.1, 0, 0), foot_R=(-0.1, -0.3, 0))
    plan = FreeformPlan(BODY, PostureSequence([stand, stride], np.array([0.0, 0.8])))
    assert not plan.problems
    t = np.linspace(0.0, 0.8, 161)
    motion = plan.sample(t)
    left, right = (_ends(motion, limb) for limb in BODY.limbs[:2])
    np.testing.assert_allclose(left, np.tile(left[0], (161, 1)), atol=1e-9)
    np.testing.assert_allclose(right[[0, -1]], [[-0.1, 0, 0], [-0.1, -0.3, 0]], atol=1e-9)
    # By minimum jerk, and lifted: 16 s^2 (1 - s)^2 of 0.015 leg lengths and 0.15 of the way.
    s = t / 0.8
    np.testing.assert_allclose(right[:, 1], -0.3 * (10 * s**3 - 15 * s**4 + 6 * s**5), atol=1e-9)
    assert right[80, 2] == pytest.approx(0.015 * 0.86 + 0.15 * 0.3, abs=1e-9)
    assert right[:, 2].min() > -1e-9
    assert [(c.limb, c.start, c.end) for c in motion.contacts] == [("foot.L", 0.0, 0.8)]


def _with_toes():
    """The body with feet that roll over toes."""
    body = _with_feet()
    f = body.figure
    toe = np.array([[0.0, -0.14, -0.06]] * 2)
    grown = replace(
        f, parents=np.append(f.parents, [11, 12]), places=np.concatenate([f.places, toe]),
        rests=np.concatenate([f.rests, f.rests[:2]]), axes=np.concatenate([f.axes, f.axes[1:3]]),
        masses=np.append(f.masses, [0.2, 0.2]), centres=np.concatenate([f.centres, 0.3 * toe]),
        inertias=np.concatenate([f.inertias, 0.1 * f.inertias[4:6]]),
    )
    legs = [replace(m, end=13 + i, rolls=(11 + i,)) for i, m in enumerate(body.limbs[:2])]
    return Body(grown, (*legs, *body.limbs[2:]))


def test_a_heel_comes_up_over_toes_that_stay():
    body = _with_toes()
    postures = []
    for low, heel in ((0.0, 0.0), (0.12, 0.0), (-0.02, 40.0)):
        bare = pose(**STAND)
        joints = np.concatenate([bare.joints, rotations.identity(4)])
        place = bare.place - (0.0, 0.0, low)
        for leg in body.limbs[:2]:
            turns = np.stack([rotations.about_x(np.radians(heel)), rotations.identity(1)[0]])
            at = np.array([0.1 if leg.name == "foot.L" else -0.1, -0.14, 0.0])
            hold = Hold(leg, 0, 0, at, turns[1])
            held = joints[None].copy()
            held[0, 0] = bare.turn
            held, missing = keep(body, hold, place[None], held, turns[None, :1])
            assert missing[0] < 1e-9
            joints = held[0]
        postures.append(replace(bare, joints=joints, place=place))
    plan = FreeformPlan(body, PostureSequence(postures, np.array([0.0, 0.4, 0.7])))
    assert not plan.problems
    motion = plan.sample(np.linspace(0.0, 0.7, 71))
    joints = motion.joints.copy()
    joints[:, 0] = motion.turn
    found = links(body, motion.place, joints)
    for foot, toes in ((11, 13), (12, 14)):
        assert np.ptp(found.joints[:, toes], axis=0).max() < 1e-9
        assert _angle(found.turns[:, toes], rotations.identity(1)).max() < 1e-9
        pitch = np.degrees(_angle(found.turns[:, foot], rotations.identity(1)))
        assert pitch[:41].max() < 1e-6  # flat between two flat postures
        assert pitch[-1] == pytest.approx(40.0) and (np.diff(pitch[41:]) > 0.0).all()


def test_postures_stand_on_the_ground_that_is_under_them():
    slope = np.array((0.2, -0.1))

    def ground(x, y):
        normal = rotations.normalise(np.array((*-slope, 1.0)))
        return slope[0] * x + slope[1] * y + 0.3, np.tile(normal, (len(x), 1)), x < 2.0

    level = [pose(**STAND), pose((), (0.4, -0.5, 0.5)), pose(at=(0.8, -1.0, 0), **STAND),
             pose(at=(2.8, -1.0, 0), **STAND)]
    found = stood(BODY, level, 0.0, ground)
    for before, after in zip(level[:3:2], found[:3:2], strict=True):
        for limb in BODY.limbs[:2]:
            foot, tip = ends_of(linked(BODY, [before, after]), limb)[0]
            up = slope @ foot[:2] + 0.3
            np.testing.assert_allclose(tip, foot + (0.0, 0.0, up), atol=1e-6)
        # Up with the ground, and no lower than the legs need: 16 degrees of knees are 1 cm.
        rise = after.place[2] - before.place[2] - (slope @ before.place[:2] + 0.3)
        assert -0.03 < rise < 1e-9
    half = 0.5 * (found[0].place[2] - level[0].place[2] + found[2].place[2] - level[2].place[2])
    assert found[1].place[2] - level[1].place[2] == pytest.approx(half, abs=0.02)
    # Where there is no ground, it is level.
    np.testing.assert_allclose(found[3].place, level[3].place, atol=1e-9)


def test_a_motion_goes_on_as_another_one_ends():
    velocity, spins = np.array([0.2, -1.3, 0.1]), np.zeros((11, 3))
    spins[0], spins[3] = (0.0, 0.0, 0.8), (-2.0, 0.0, 0.0)
    sequence = replace(
        squat(), start=Moving(velocity, spins), end_velocity=np.array([0.0, -0.9, 0.0])
    )
    plan = FreeformPlan(BODY, sequence)
    h, end = 1e-6, plan.duration
    motion = plan.sample(np.array([0.0, h, end - h, end]))
    np.testing.assert_allclose((motion.place[1] - motion.place[0]) / h, velocity, atol=1e-4)
    np.testing.assert_allclose((motion.place[3] - motion.place[2]) / h, (0, -0.9, 0), atol=1e-4)
    for turns, spin in ((motion.turn, spins[0]), (motion.joints[:, 3], spins[3])):
        step = rotations.multiply(rotations.conjugate(turns[0]), turns[1])
        np.testing.assert_allclose(rotations.to_rotation_vector(step) / h, spin, atol=1e-4)


def test_the_frames_that_rebuild_a_motion_are_found():
    """Of a squat of three postures, sampled by frames, these three; others are worse."""
    times = np.arange(0.0, 1.31, 1.0 / 24.0)
    sequence = squat()
    knots = np.array([0, 14, len(times) - 1])
    plan = FreeformPlan(BODY, replace(sequence, times=times[knots]))
    motion = plan.sample(times)
    joints = motion.joints.copy()
    joints[:, 0] = motion.turn
    clip = Clip(BODY, times, motion.place, joints)
    found = choose_frames(clip, 3)
    assert abs(found[1] - 14) <= 2
    off = [np.sqrt((clip.led(choose_frames(clip, n)) ** 2).mean()) for n in (2, 3, 5, 8)]
    assert all(a > b for a, b in zip(off[:-1], off[1:], strict=True)) and off[-1] < 0.02 * off[0]
    assert choose_frames(clip, 4, required=[5]).count(5) == 1
    with pytest.raises(SettingError, match="from 2 to the 32 frames"):
        choose_frames(clip, 1)
