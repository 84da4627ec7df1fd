# SPDX-License-Identifier: GPL-3.0-or-later
"""Body motion: projectile in the air, continuous on the ground, bounded along the path."""

import math

import numpy as np
import pytest
from poise.solvers.legged.body import (
    Line,
    Lines,
    arc_weight,
    bank_angle,
    horizontal_motion,
    merge_midstances,
    rigid_arc,
    trunk_pose,
    turning_motion,
    vertical_motion,
)
from poise.solvers.legged.path import Path
from poise.solvers.legged.support import support_profile
from poise.solvers.motion import Placement
from scipy.interpolate import PchipInterpolator

G = 9.81
LENGTH = 1.0


def _motion(on, off, ground=None, compression=0.1, arc=0.6, speed=3.0, spring=0.0):
    """A girdle over steps at constant speed; heights of its standing line at midstances."""
    on, off = np.asarray(on, dtype=float), np.asarray(off, dtype=float)
    profile = support_profile(on, off)
    middle = merge_midstances(0.5 * (on + off), off - on)
    line = Line(middle, np.ones(len(middle)) if ground is None else ground(middle))
    inside = [middle[(middle >= a) & (middle <= b)] 
              for a, b in zip(profile.start, profile.end, strict=True)]
    ends = speed * np.array([(x[0] - a, b - x[-1]) for x, a, b in
                             zip(inside, profile.start, profile.end, strict=True)])
    first = np.searchsorted(on, profile.start)
    last = np.searchsorted(np.sort(off), profile.end)
    halves = 0.5 * np.stack(((off - on)[first], (np.sort(off) - on)[last]), axis=1)
    m = len(profile.start)
    return vertical_motion(profile, middle, line, speed * np.diff(middle), ends, halves,
                           np.full(m, arc), np.full(m, compression), LENGTH, G,
                           np.full(m, spring))


def _run(duty=0.35, step=0.35, n=12):
    on = np.arange(n) * step
    return on, on + 2.0 * step * duty


SUPPORTS = {
    "run": _run(),
    "walk": _run(0.62),
    "jog": _run(0.48),
    "uneven": (
        np.array([0.0, 0.3, 1.0, 1.25, 2.0, 2.4]),
        np.array([0.2, 0.55, 1.2, 1.5, 2.3, 2.6]),
    ),
    "walk to run": (
        np.concatenate((np.arange(6) * 0.5, 3.0 + np.arange(6) * 0.4)),
        np.concatenate((np.arange(6) * 0.5 + 0.6, 3.0 + np.arange(6) * 0.4 + 0.28)),
    ),
}
HILL = {
    "level": None,
    "hill": lambda t: 1.0 + 0.3 * t,
    "bumps": lambda t: 1.0 + 0.1 * np.sin(4.0 * t),
}


@pytest.mark.parametrize("spring", [0.0, 0.7])
@pytest.mark.parametrize("ground", HILL)
@pytest.mark.parametrize("name", SUPPORTS)
def test_projectile_in_flight_and_continuous_speed_everywhere(name, ground, spring):
    motion = _motion(*SUPPORTS[name], HILL[ground], spring=spring)
    profile = motion.profile
    liftoff, touchdown = profile.flights()
    for a, b in zip(liftoff, touchdown, strict=True):
        t = np.linspace(a, b, 9)
        z, v = motion(t)
        # Constant acceleration -g: speeds are a line, heights their parabola.
        assert np.allclose(v, v[0] - G * (t - a), atol=1e-10)
        assert np.allclose(z, z[0] + v[0] * (t - a) - 0.5 * G * (t - a) ** 2, atol=1e-10)
    events = np.concatenate((liftoff, touchdown, motion.knots))
    before, after = motion(np.nextafter(events, -1.0)), motion(np.nextafter(events, 9.0))
    assert np.allclose(before[0], after[0], atol=1e-12)
    assert np.allclose(before[1], after[1], atol=1e-9)
    # The speed is that of the height, everywhere on the ground.
    t = np.linspace(profile.start[0] + 0.01, profile.end[-1] - 0.01, 3001)
    far = np.min(np.abs(t[:, None] - events), axis=1) > 1e-4
    slope = (motion(t + 1e-6)[0] - motion(t - 1e-6)[0]) / 2e-6
    assert np.allclose(slope[far], motion(t)[1][far], atol=2e-4)


@pytest.mark.parametrize("name", SUPPORTS)
def test_three_constraints_of_the_support(name):
    """Girard 1986, section 4.1."""
    motion = _motion(*SUPPORTS[name], compression=0.03)
    liftoff, touchdown = motion.profile.flights()
    # 1. Speeds at its ends are those of the flights.
    assert np.allclose(motion(liftoff)[1], motion.up, atol=1e-9)
    assert np.allclose(motion(touchdown)[1], motion.up - G * (touchdown - liftoff), atol=1e-9)
    # 2. e >= 1, so that the halves meet at rest without a corner.
    assert np.all(motion.exponent >= 1.0)
    # 3. Not above the height at which it would stand, not deeper than D.
    assert np.all(motion.off_height <= 1.0 + 1e-12)
    assert np.all(np.abs(motion.distance()) <= 0.03 + 1e-12)


def test_upward_speed_is_the_papers():
    """V_up = g (t / 2 - h / (g t)), h = liftoff height - touchdown height; it may be negative."""
    on, off = np.array([0.0, 0.5]), np.array([0.3, 0.8])
    motion = _motion(on, off, lambda t: np.where(t < 0.3, 1.0, 0.2))
    t, h = 0.2, float(motion(np.array([0.3]))[0][0] - motion(np.array([0.5]))[0][0])
    assert h > 0.3
    assert motion.up[0] == pytest.approx(G * (t / 2.0 - h / (G * t)), abs=1e-12)
    assert motion.up[0] < 0.0


def test_uneven_flights_close_over_a_cycle():
    """Each liftoff is at the standing height, though the exponents are held at 1."""
    motion = _motion(*SUPPORTS["uneven"], compression=1.0, arc=0.0)
    assert np.all(motion.exponent[1:-1] == 1.0)
    down = motion.distance()
    assert np.max(np.abs(down[1:-1, 0] - down[1:-1, 1])) > 0.01  # centimetres
    liftoff, touchdown = motion.profile.flights()
    assert np.allclose(motion(liftoff)[0], 1.0, atol=1e-12)
    assert np.allclose(motion(touchdown)[0], 1.0, atol=1e-12)


def test_flights_of_no_time_are_no_jumps():
    """V_up = g t / 2 - h / t grows beyond bounds as t goes to 0: a step of 6 cm in 7 ms."""
    on, off = np.arange(8) * 0.5, np.arange(8) * 0.5 + 0.493
    motion = _motion(on, off, lambda t: 1.0 + 0.06 * (np.arange(len(t)) % 2), speed=1.0)
    assert np.abs(motion.up).max() < 0.7
    time = np.linspace(0.6, 3.4, 5601)
    z, v = motion(time)
    assert 0.85 < z.min() and z.max() < 1.1
    assert np.allclose(np.gradient(z, time)[1:-1], v[1:-1], atol=0.02)


def test_even_run_is_the_papers_curve():
    """A t^e on both sides of midstance, nothing else."""
    motion = _motion(*_run(0.35), compression=0.02, arc=0.6)
    a, b = motion.profile.start[3], motion.profile.end[3]
    half = 0.5 * (b - a)
    v = 0.5 * G * float(motion.profile.start[4] - b)
    e = v * half / 0.02 - 1.0
    assert e > 1.0
    t = np.linspace(0.0, half, 20)
    assert np.allclose(motion(a + half + t)[1], v * (t / half) ** e, atol=1e-12)
    assert np.allclose(motion(a + half - t)[1], -v * (t / half) ** e, atol=1e-12)
    assert float(motion(np.array([a + half]))[0][0]) == pytest.approx(1.0 - 0.02, abs=1e-12)


def test_legs_as_springs_carry_with_half_a_sine():
    """F = pi g T_step / (2 t) sin(pi s): what a run is measured to be (Alexander 1989)."""
    duty, step = 0.35, 0.35
    motion = _motion(*_run(duty, step), compression=0.3, spring=1.0)
    stance = 2.0 * step * duty
    s = np.linspace(0.02, 0.98, 49)
    time = 5 * step + s * stance
    force = (motion(time + 1e-4)[1] - motion(time - 1e-4)[1]) / 2e-4 + G
    assert np.allclose(force, np.pi * G * step / (2.0 * stance) * np.sin(np.pi * s), atol=1e-3 * G)
    # From midstance to liftoff: F (t / pi)^2 - g t^2 / 8; on to the top of the flight.
    rise = G * step * stance / (2.0 * np.pi) - G * stance**2 / 8.0 + G * (step - stance) ** 2 / 8.0
    time = np.linspace(5 * step, 6 * step, 4001)
    assert np.ptp(motion(time)[0]) == pytest.approx(rise, rel=1e-5)
    # No deeper than allowed, whatever the spring would like.
    shallow = _motion(*_run(duty, step), compression=0.06, spring=1.0)
    assert shallow(time)[0].min() > 1.0 - 0.06 - 1e-9


def test_walk_is_highest_and_run_lowest_at_midstance():
    walk, run = _motion(*SUPPORTS["walk"], speed=1.4), _motion(*SUPPORTS["run"])
    for name, motion, sign in (("walk", walk, 1.0), ("run", run, -1.0)):
        middle = 0.5 * sum(SUPPORTS[name])[3:-3]
        t = middle[:, None] + np.linspace(-0.17, 0.17, 35)
        z = motion(t.ravel())[0].reshape(t.shape)
        assert len(middle) > 3
        assert np.all(sign * z[:, 17:18] >= sign * z - 1e-12)
        assert np.ptp(z) > 0.01


def test_arc_fades_with_the_ratio_of_flight_to_support():
    assert arc_weight(np.array([0.0]))[0] == 1.0
    assert arc_weight(np.array([0.15, 0.5, 3.0])).tolist() == [0.0, 0.0, 0.0]
    assert 0.49 < arc_weight(np.array([0.075]))[0] < 0.51
    # l - sqrt(l^2 - (d / 2)^2) of a person: 7.5 cm for l 0.9 m and steps of 0.72 m.
    assert rigid_arc(np.array([0.36]), 0.9)[0] == pytest.approx(0.0751, abs=1e-4)


def test_midstances_of_legs_that_stand_together_are_one():
    middle = np.array([1.0, 0.2, 0.21, 1.01, 0.6])
    assert np.allclose(merge_midstances(middle, np.full(5, 0.4)), [0.205, 0.6, 1.005])


# --- along the path ---------------------------------------------------------------


class _Circle:
    def __init__(self, radius):
        self.radius = radius

    def at(self, way):
        angle = way / self.radius
        unit = np.stack((np.cos(angle), np.sin(angle)), axis=1)
        return self.radius * unit, np.stack((-unit[:, 1], unit[:, 0]), axis=1)


def _follow(course, speed, limit, n=600):
    time = np.arange(n) / 48.0
    limit = np.broadcast_to(limit, n - 1)
    return horizontal_motion(time, course, 0.0, np.full(n, speed), limit, 0.1, 0.01)


def test_acceleration_never_exceeds_what_the_legs_on_the_ground_give():
    random = np.random.default_rng(1)
    limit = random.choice([0.0, 3.0, 6.0], 599)
    motion, _, _ = _follow(_Circle(6.0), 5.0, limit)
    push = np.linalg.norm(np.diff(motion.velocity, axis=0), axis=1) * 48.0
    assert np.all(push <= limit + 1e-9) and np.any(push > limit - 1e-9)
    flying = limit == 0.0
    assert np.all(motion.velocity[1:][flying] == motion.velocity[:-1][flying])


def test_braking_is_limited_too():
    time = np.arange(200) / 48.0
    line = Path(None, False, Placement())
    speed = np.where(time < 1.0, 6.0, 0.0)
    motion, along, _ = horizontal_motion(time, line, 0.0, speed, np.full(199, 2.0), 0.1, 0.01)
    push = np.diff(motion.velocity[:, 1]) * 48.0
    assert push.max() == pytest.approx(2.0)
    # v^2 / (2 a) = 9 m to stop, and 3 s.
    assert along[-1] == pytest.approx(6.0 + 9.0, abs=0.3)


def test_path_is_followed_where_the_legs_are_strong_and_left_where_they_are_not():
    _, along, off = _follow(_Circle(10.0), 5.0, 30.0)
    assert off.max() < 0.02
    assert along[-1] == pytest.approx(5.0 * 599 / 48.0, rel=2e-3)
    # v^2 / R = 2.5 m/s^2 is more than 1: the animal runs wide.
    _, _, off = _follow(_Circle(10.0), 5.0, 1.0)
    assert off.max() > 5.0


def test_body_that_ran_wide_comes_back_to_the_path_and_does_not_hurry():
    limit = np.full(1200, 12.0)
    limit[100:160] = 0.0  # no foot on the ground for a while
    time = np.arange(1201) / 48.0
    motion, _, off = horizontal_motion(
        time, _Circle(10.0), 0.0, np.full(1201, 5.0), limit, 0.1, 0.01
    )
    assert off[155:170].max() > 1.0 and off[-1] < 0.02
    assert np.linalg.norm(motion.velocity, axis=1).max() < 7.0


def test_places_between_samples_are_on_their_parabolas():
    motion, _, _ = _follow(_Circle(10.0), 5.0, 30.0, 50)
    time = motion.time
    assert np.allclose(motion(time), motion.position, atol=1e-12)
    middle = motion(0.5 * (time[1:] + time[:-1]))
    expected = 0.5 * (motion.position[1:] + motion.position[:-1])
    expected -= np.diff(motion.velocity, axis=0) / 48.0 / 8.0
    assert np.allclose(middle, expected, atol=1e-12)
    ahead = motion(np.array([time[-1] + 1.0]))[0]
    assert np.allclose(ahead, motion.position[-1] + motion.velocity[-1], atol=1e-12)


def test_path_is_measured_by_its_arc_length():
    """Girard 1986, section 2.3: equal increments of s are equal lengths of the curve."""
    angle = np.sort(np.random.default_rng(3).uniform(0.0, 4.0, 300))  # unevenly spaced
    angle[[0, -1]] = 0.0, 4.0
    path = Path(5.0 * np.stack((np.cos(angle), np.sin(angle)), axis=1), False, Placement())
    assert path.length == pytest.approx(20.0, rel=1e-4)
    place, tangent = path.at(np.linspace(0.0, path.length, 500))
    step = np.linalg.norm(np.diff(place, axis=0), axis=1)
    assert np.ptp(step) < 2e-3 * step.mean()
    assert np.allclose(np.linalg.norm(tangent, axis=1), 1.0)
    beyond, _ = path.at(np.array([path.length + 2.0, -2.0]))
    assert np.linalg.norm(beyond[0] - place[-1]) == pytest.approx(2.0)
    assert np.linalg.norm(beyond[1] - place[0]) == pytest.approx(2.0)


@pytest.mark.parametrize("closed", [False, True])
def test_a_path_of_few_points_is_gone_along_at_a_constant_speed(closed):
    path = Path([[0.0, 0.0], [5.0, 0.0], [5.0, -6.0], [9.0, -8.0]], closed, Placement())
    h = 1e-5 * path.length
    way = np.linspace(h, path.length - h, 3000)
    step = np.linalg.norm(path.at(way + h)[0] - path.at(way - h)[0], axis=1)
    assert np.allclose(step, 2.0 * h, rtol=1e-3)


def test_closed_path_goes_around_without_a_corner():
    angle = np.linspace(0.0, 2.0 * math.pi, 60, endpoint=False)
    path = Path(5.0 * np.stack((np.cos(angle), np.sin(angle)), axis=1), True, Placement())
    way = np.array([-0.1, 0.1])
    once, again = path.at(way), path.at(way + path.length)
    assert np.allclose(once[0], again[0], atol=1e-9)
    assert once[1][0] @ once[1][1] > math.cos(0.06)


def test_corner_of_a_path_is_rounded_nearby():
    corner = np.array([[0.0, 0.0], [20.0, 0.0], [20.0, 20.0]])
    path = Path(corner, False, Placement())
    place, _ = path.at(np.linspace(0.0, path.length, 400))
    off = np.minimum(np.abs(place[:, 1]), np.abs(place[:, 0] - 20.0))
    assert off.max() < 0.5 and place[:, 0].max() < 20.5


# --- turning and leaning -------------------------------------------------------------


@pytest.mark.parametrize("flight", [0.0, 0.05, 0.2])
def test_yaw_error_is_gone_after_two_supports(flight):
    start = np.arange(20) * 0.4
    wanted = np.full(20, 0.5)
    rate = np.zeros(20)
    wanted[0], rate[0] = 0.2, 0.9  # off in angle and rate
    turning = turning_motion(start, np.full(19, flight), wanted, rate)
    assert np.allclose(turning.yaw[3:], 0.5, atol=1e-12)
    assert np.allclose(turning.rate[3:], 0.0, atol=1e-12)


def test_steady_turn_is_met_exactly_and_beyond_a_half_turn():
    start = np.arange(40) * 0.4
    turning = turning_motion(start, np.full(39, 0.1), 0.7 * start, np.full(40, 0.7))
    assert np.allclose(turning.yaw, 0.7 * start, atol=1e-12)
    assert turning.yaw[-1] > 3.0 * math.pi  # not wrapped
    time = np.linspace(0.0, 15.9, 999)
    assert np.allclose(turning(time)[0], 0.7 * time, atol=1e-12)


def test_yaw_rate_is_continuous_and_constant_in_the_air():
    random = np.random.default_rng(2)
    start = np.cumsum(random.uniform(0.3, 0.5, 30))
    flight = random.uniform(0.0, 0.15, 29)
    wanted = np.cumsum(random.normal(0.0, 0.1, 30))
    turning = turning_motion(start, flight, wanted, np.gradient(wanted, start))
    edges = start[1:-1]
    before, after = turning(np.nextafter(edges, 0.0)), turning(edges)
    assert np.allclose(before[0], after[0], atol=1e-9)
    assert np.allclose(before[1], after[1], atol=1e-9)
    for i in range(29):
        _, rate = turning(np.linspace(start[i + 1] - flight[i], start[i + 1] - 1e-9, 5))
        assert np.ptp(rate) < 1e-9


def test_bank_is_the_papers_to_the_inside():
    bank = bank_angle(np.array([6.0, 6.0, 0.0]), np.array([0.1, -0.1, 0.1]), G, 1.0)
    assert bank[0] == pytest.approx(math.atan(36.0 * 0.1 / G), abs=1e-15)
    assert bank[1] == -bank[0] and bank[2] == 0.0
    assert bank_angle(np.array([50.0]), np.array([1.0]), G, 0.8)[0] == 0.8


def test_trunk_meets_the_heights_of_both_girdles():
    ahead, above = np.array([-0.6, 0.6]), np.array([0.1, 0.2])
    heights = np.array([[1.4, 1.5], [1.3, 1.35], [1.5, 1.2]])
    roll = np.array([0.0, 0.3, -0.2])
    pitch, z = trunk_pose(ahead, above, heights, roll, np.zeros(3))
    for g in range(2):
        found = z + ahead[g] * np.sin(pitch) + above[g] * np.cos(pitch) * np.cos(roll)
        assert np.allclose(found, heights[:, g], atol=1e-12)
    assert pitch[1] < pitch[0]


def test_trunk_with_one_girdle_pitches_as_told_and_with_three_as_they_fit():
    told = np.array([0.1, 0.0])
    pitch, z = trunk_pose(np.zeros(1), np.zeros(1), np.ones((2, 1)), np.zeros(2), told)
    assert pitch.tolist() == [0.1, 0.0] and np.allclose(z, 1.0)
    three = np.array([[1.0, 1.1, 1.2]])
    pitch, z = trunk_pose(np.array([-1.0, 0.0, 1.0]), np.zeros(3), three, np.zeros(1), np.zeros(1))
    assert pitch[0] == pytest.approx(math.asin(0.1)) and z[0] == pytest.approx(1.1)


def test_lines_are_monotone_cubics_each_as_if_it_were_alone():
    """Against scipy's interpolation of Fritsch and Butland, of values that stay beyond the ends."""
    rng = np.random.default_rng(3)
    counts, times, values, asked = [7, 1, 2, 30, 5], [], [], []
    for count in counts:
        times.append(np.cumsum(rng.uniform(0.05, 1.0, count)))
        values.append(np.round(rng.normal(0.0, 1.0, count), 1))
        asked.append(rng.uniform(-3.0, times[-1][-1] + 3.0, rng.integers(0, 50)))
    values[4][:] = 0.3
    lines = Lines(np.concatenate(times), np.concatenate(values), np.array(counts))
    found = lines(np.concatenate(asked), [len(time) for time in asked])
    for time, value, at in zip(times, values, asked, strict=True):
        alone, (here, found) = Line(time, value), np.split(found, [len(at)])
        assert np.array_equal(alone(at), here)
        around = np.concatenate(([time[0] - 1.0], time, [time[-1] + 1.0]))
        curve = PchipInterpolator(around, np.concatenate((value[:1], value, value[-1:])))
        inner = np.clip(at, around[0], around[-1])
        assert np.allclose(here, curve(inner), rtol=0.0, atol=1e-13)
        assert np.allclose(alone.rate(at), curve.derivative()(inner), rtol=0.0, atol=1e-12)
