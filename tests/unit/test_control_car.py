# SPDX-License-Identifier: GPL-3.0-or-later
"""The self-parking car: van de Panne, Fiume and Vranesic (1990), section 6.

Everything here is with the smallest table; tools/lab/parking_table.py runs all sizes from
a thousand starts.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from parking_cases import starts, touched, touches
from poise.solvers.control import pendulum
from poise.solvers.control.car import Trip, ackermann, travel, wheel_speeds
from poise.solvers.control.driving import drive, halted
from poise.solvers.control.looking import Driver
from poise.solvers.control.parking import SIZES, Size
from poise.solvers.control.parking_build import build
from poise.solvers.control.stored import StoredError, digest, pack, unpack
from poise.solvers.control.street import Car, Street, berth, parallel
from poise.solvers.errors import Cancelled, SettingError

CAR = Car()
STREET = parallel(CAR)
COUNT = 24


@pytest.fixture(scope="module")
def parking():
    return build(CAR, STREET, SIZES["small"])


@pytest.fixture(scope="module")
def begins():
    return starts(CAR, STREET, COUNT, seed=77)


@pytest.fixture(scope="module")
def drives(parking, begins):
    return drive(parking, begins)


# How a car rolls.


def test_a_car_with_fixed_steering_goes_around_a_circle():
    angle, speed, seconds = 0.5, 1.7, 4.0
    x, y, heading = travel(CAR, [[angle, speed]], [[angle, speed]], seconds, 64)[0, -1]
    # All axles point at one centre: the front wheels' is L / sin(d) away, to their left.
    radius = CAR.wheelbase / math.sin(angle)
    assert heading == pytest.approx(speed * seconds / radius, abs=1e-9)
    centre = radius * np.array([-math.sin(angle), math.cos(angle)])
    at = centre + radius * np.array([math.sin(heading + angle), -math.cos(heading + angle)])
    np.testing.assert_allclose([x, y], at, atol=1e-7)


def test_moves_follow_the_rolling_wheels():
    # Euler's rule in very small steps, for steering and speed that change.
    begin, end, seconds, n = np.array([-0.6, 2.0]), np.array([0.3, -1.0]), 1.5, 200_000
    share = (np.arange(n) + 0.5) / n
    steering, speed = (begin[i] + share * (end - begin)[i] for i in (0, 1))
    h = seconds / n
    heading = np.cumsum(speed * np.sin(steering) / CAR.wheelbase) * h
    x = (speed * np.cos(heading + steering)).sum() * h
    y = (speed * np.sin(heading + steering)).sum() * h
    moved = travel(CAR, begin[None], end[None], seconds, 96)[0, -1]
    np.testing.assert_allclose(moved, [x, y, heading[-1]], atol=3e-5)


def test_front_wheels_turn_about_the_centre_of_the_rear_ones():
    left, right = ackermann(CAR, np.array([0.6, -0.6, 0.0, 0.2])).T
    # The inner wheel turns more; cot(outer) - cot(inner) = track / L (Ackermann, 1818).
    cot = 1.0 / np.tan([[right[0], left[0]], [right[3], left[3]]])
    np.testing.assert_allclose(cot[:, 0] - cot[:, 1], CAR.track / CAR.wheelbase, atol=1e-12)
    assert left[1] == pytest.approx(-right[0]) and left[2] == right[2] == 0.0


def test_wheels_roll_as_far_as_they_travel():
    angle, seconds = 0.5, 3.0
    knots = np.array([[0.0, 0.0, 0.0, angle, -1.0]] * 2)
    turned = -seconds * math.sin(angle) / CAR.wheelbase
    rolls = Trip(CAR, np.array([0.0, seconds]), knots).wheels(np.array([0.0, seconds]))[1]
    rear = CAR.wheelbase / math.tan(angle)
    radii = np.array(
        [
            math.hypot(rear - 0.5 * CAR.track, CAR.wheelbase),
            math.hypot(rear + 0.5 * CAR.track, CAR.wheelbase),
            rear - 0.5 * CAR.track,
            rear + 0.5 * CAR.track,
        ]
    )
    np.testing.assert_allclose(rolls[1] - rolls[0], turned * radii / CAR.wheel_radius, atol=1e-9)
    assert (wheel_speeds(CAR, knots) < 0.0).all()


# What it must not touch.


def test_cars_are_clear_where_no_point_of_theirs_is_within_anything():
    street = replace(STREET, boxes=np.append(STREET.boxes, [[-2.0, 5.0, 0.7, 1.5, 0.8]], axis=0))
    rng = np.random.default_rng(0)
    poses = rng.uniform([-9.0, 0.0, -1.5], [9.0, 7.0, 1.5], (4000, 3))
    clear = street.clearance(CAR, *CAR.centre(poses).T)
    sure = np.abs(clear) > 1e-3
    hit = touches(CAR, street, poses)
    np.testing.assert_array_equal((clear <= 0.0)[sure], hit[sure])
    assert 500 < hit.sum() < 3500


def test_clearance_is_the_gap_beside_what_is_parallel():
    # Beside the parked car behind, which reaches to x = -3.25 and y = 2.
    assert STREET.clearance(CAR, 0.0, 1.1, 0.0) == pytest.approx(0.2)
    assert STREET.clearance(CAR, -0.5, 2.0, 0.0) == pytest.approx(0.65)
    assert STREET.clearance(CAR, -5.0, 3.5, 0.0) == pytest.approx(0.6)
    assert STREET.clearance(CAR, 0.0, 5.6, 0.5 * math.pi) == pytest.approx(-0.7)


# The table.


def test_smallest_table_is_of_the_papers_size(parking):
    assert 12_000 < parking.free < 14_000  # the paper's has 13,250 states


def test_table_knows_what_collides_and_where_the_end_is(parking):
    table = parking.table
    states = table.grid.states()
    clear = STREET.clearance(CAR, *states[:, 2:].T)
    assert not np.isfinite(table.cost[clear <= 0.0]).any()
    assert np.isfinite(table.cost[clear > 0.04]).all()
    end = (states == [0.0, 0.0, *STREET.destination]).all(axis=1)
    assert end.sum() == 1 and table.cost[end] == 0.0
    assert (table.cost >= 0.0).all() and (table.controls[end] == 0.0).all()
    assert (np.abs(table.controls) <= [CAR.steering_rate + 1e-6, CAR.acceleration]).all()
    assert table.change < 0.02


def test_building_can_be_stopped():
    told = []

    def progress(share):
        told.append(share)
        if share > 0.3:
            raise Cancelled

    with pytest.raises(Cancelled):
        build(CAR, STREET, SIZES["small"], progress)
    assert told == sorted(told) and len(told) > 5


# Parking.


def test_cars_park(drives):
    # 97 % of 250 other starts do with this table.
    parked = [one for one in drives if one.parked is not None]
    assert len(parked) >= 0.9 * COUNT
    for one in parked:
        state = one.trip.knots[-1]
        off = CAR.centre(state[:3]) - STREET.destination
        assert np.hypot(*off[:2]) <= 0.15 and abs(math.degrees(off[2])) <= 3.0
        assert state[3] == 0.0 and state[4] == 0.0
        assert one.parked <= 40.0 and one.said == ""


def test_who_does_not_park_says_how_far_off_it_is(parking, begins):
    for one in drive(parking, begins[:3], longest=3.0):
        # A move of a second may have begun before, and it takes another one to brake.
        assert one.parked is None and one.trip.times[-1] <= 5.0
        off = CAR.centre(one.trip.knots[-1][:3]) - STREET.destination
        assert "did not park within 3 s" in one.said
        assert f"{np.hypot(*off[:2]):.2f} m" in one.said


def test_nothing_is_touched(drives):
    assert not any(touched(STREET, one.trip) for one in drives)


def test_motion_keeps_its_limits_and_rolls(drives):
    for one in drives[:4]:
        rate = 480.0
        times = np.arange(0.0, one.trip.times[-1], 1.0 / rate)
        states = one.trip.states(times)
        assert (np.abs(states[:, 3:]) <= [CAR.steering + 1e-9, CAR.speed]).all()
        change = np.abs(np.diff(states[:, 3:], axis=0)) * rate
        assert (change <= np.array([CAR.steering_rate, CAR.acceleration]) + 1e-6).all()
        # Positions have the speeds that the state says they have.
        middle = 0.5 * (states[1:] + states[:-1])
        way = middle[:, 2] + middle[:, 3]
        along = middle[:, 4, None] * np.stack([np.cos(way), np.sin(way)], axis=1)
        np.testing.assert_allclose(np.diff(states[:, :2], axis=0) * rate, along, atol=2e-3)
        turning = middle[:, 4] * np.sin(middle[:, 3]) / CAR.wheelbase
        np.testing.assert_allclose(np.diff(states[:, 2]) * rate, turning, atol=2e-3)


def test_a_start_leads_to_the_same_motion_alone_and_again(parking, begins, drives):
    for k in (0, 7):
        alone = drive(parking, begins[k])[0]
        np.testing.assert_array_equal(alone.trip.times, drives[k].trip.times)
        np.testing.assert_allclose(alone.trip.knots, drives[k].trip.knots, atol=1e-9)
    again = drive(build(CAR, STREET, SIZES["small"]), begins[:4])
    for one, other in zip(again, drives, strict=False):
        np.testing.assert_allclose(one.trip.knots, other.trip.knots, atol=1e-9)


def test_a_car_that_rolls_at_the_start_parks_too(parking):
    begin = np.array([[-8.0, 4.0, 0.0, 0.1, 1.7], [6.0, 4.0, 0.2, -0.2, -0.6]])
    for one in drive(parking, begin):
        assert one.parked is not None and not touched(STREET, one.trip)


def test_a_car_that_is_called_off_brakes_within_its_limits(parking, begins):
    # Broken off anywhere, or out of time: it ends at rest, and never by more than 2 m/s^2, as
    # clear of everything as moves are.
    trips = [one.trip for one in drive(parking, begins[:6], longest=5.0)]
    whole = drive(parking, begins[:3])
    trips += [halted(parking, one.trip, time) for one in whole for time in (1.7, 3.0, 4.4, 99.0)]
    assert max(np.abs(trip.knots[:, 4]).max() for trip in trips) > 0.9
    for trip in trips:
        assert trip.knots[-1, 4] == 0.0
        times = np.arange(0.0, trip.times[-1] + 1.0, 1.0 / 96.0)
        states = trip.states(times)
        rate = np.abs(np.diff(states[:, 3:], axis=0)) * 96.0
        assert rate[:, 1].max() <= CAR.acceleration + 1e-6
        assert rate[:, 0].max() <= CAR.steering_rate + 1e-6
        # What it moves by is what it rolls at: no jump of its place either.
        moved = np.linalg.norm(np.diff(states[:, :2], axis=0), axis=1) * 96.0
        assert moved.max() <= np.abs(states[:, 4]).max() + 1e-3
        assert not touches(CAR, STREET, states[:, :3]).any()


def test_looking_ahead_is_what_parks_cars(parking, begins):
    near = drive(parking, begins[:12], driver=Driver(parking, (1, 1)))
    assert sum(one.parked is not None for one in near) < 6


# What cannot be.


@pytest.mark.parametrize(
    ("begin", "said"),
    [
        ([5.0, 1.0, 0.0, 0.0, 0.0], "touches something"),
        ([30.0, 4.0, 0.0, 0.0, 0.0], "outside"),
        ([0.0, 4.0, 1.5, 0.0, 0.0], "outside"),
        ([0.0, math.nan, 0.0, 0.0, 0.0], "not a number"),
        ([0.0, 4.0, 0.0, 0.9, 0.0], "steered further"),
        ([0.0, 4.0, 0.0, 0.0, 5.0], "faster"),
    ],
)
def test_starts_that_cannot_be_say_why(parking, begin, said):
    one = drive(parking, np.array(begin))[0]
    assert one.parked is None and said in one.said
    assert len(one.trip.times) == 1 + (begin[4] != 0.0)  # who rolls brakes
    np.testing.assert_array_equal(one.trip.states(np.array([0.0, 1.0])).shape, (2, 5))


def test_a_car_without_room_says_so(parking):
    walls = [[x, 4.0, 0.0, 0.2, 3.0] for x in (-2.25, 2.25)]
    walls += [[0.0, y, 0.0, 5.0, 0.2] for y in (2.95, 5.05)]
    street = replace(STREET, boxes=np.append(STREET.boxes, walls, axis=0))
    one = drive(replace(parking, street=street), np.array([1.25, 4.0, 0.0, 0.0, 0.0]))[0]
    assert one.parked is None and one.said and not touched(street, one.trip)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: parallel(CAR, gap=4.1), "Gap is 4.10 m: it must be longer than the car's 4.20 m"),
        (lambda: parallel(CAR, width=3.0), "Width of the street is 3.00 m"),
        (lambda: parallel(CAR, kerb=0.0), "Distance to the kerb"),
        (lambda: Car(width=0.0), "Width of the car is 0.0: it must be above 0"),
        (lambda: Car(wheelbase=5.0), "Wheelbase is 5.0"),
        (lambda: Street(np.zeros(3), [[0.0, 1.0, 0.0, -1.0, 1.0]]), "Obstacles"),
        (
            lambda: build(CAR, replace(STREET, destination=[4.0, 1.1, 0.0]), SIZES["small"]),
            "Destination is inside or against an obstacle",
        ),
        (
            lambda: build(CAR, replace(STREET, destination=[40.0, 1.1, 0.0]), SIZES["small"]),
            "Destination's x is 40.00 m",
        ),
        (
            lambda: build(CAR, STREET, Size(5, 5, (200, 100, 100))),
            r"Grid is 50,000,000 states, 26\.8 GB: it must be at most [\d,]+ states, 1\.0 GB",
        ),
    ],
)
def test_what_cannot_be_built_is_refused_in_a_sentence(make, said):
    with pytest.raises(SettingError, match=said):
        make()


# Kept in files.


def test_stored_tables_come_back_as_they_were(parking, begins, drives):
    data = pack(parking.table, digest(CAR, STREET, SIZES["small"]))
    assert len(data) < 0.5e6
    table, source = unpack(data)
    assert source == digest(CAR, STREET, SIZES["small"])
    assert source != digest(CAR, parallel(CAR, gap=6.4), SIZES["small"])
    for name in ("cost", "controls", "samples", "weights"):
        np.testing.assert_array_equal(getattr(table, name), getattr(parking.table, name))
    one = drive(replace(parking, table=table), begins[0])[0]
    np.testing.assert_array_equal(one.trip.times, drives[0].trip.times)
    angles = pendulum.table(pendulum.literal_grid(), np.zeros(2), torques=3)
    back = unpack(pack(angles))[0]
    np.testing.assert_array_equal(back.cost, angles.cost)
    assert back.grid.axes[0].period == angles.grid.axes[0].period
    assert back.unknown == angles.unknown and back.sweeps == angles.sweeps


def test_damaged_bytes_are_refused_in_a_sentence(parking):
    data = pack(parking.table)
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(data), 40):
        broken = data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
        with pytest.raises(StoredError, match="build it again"):
            unpack(broken)
    for broken in (b"", data[:20], data[:-1], b"POISECTL" + b"\0" * 64, data + b"x"):
        with pytest.raises(StoredError, match="build it again"):
            unpack(broken)


def test_a_place_is_found_in_the_widest_gap_at_the_kerb():
    clear = replace(STREET, boxes=np.zeros((0, 5)))
    np.testing.assert_allclose(berth(CAR, clear), [0.0, 1.1, 0.0])
    # Between the two, 6.5 m apart; not before or behind both, where there is as much room.
    np.testing.assert_allclose(berth(CAR, STREET), [0.0, 1.1, 0.0], atol=1e-9)
    # A wider one further on, whose cars stand further from the kerb; one in the way counts not.
    boxes = np.array([
        [-8.0, 1.1, 0.0, 4.2, 1.8], [-1.0, 1.3, math.pi, 4.2, 1.8], [8.0, 1.3, 0.0, 4.2, 1.8],
        [3.0, 5.0, 0.0, 2.0, 1.0],
    ])
    np.testing.assert_allclose(
        berth(CAR, replace(STREET, boxes=boxes)), [3.5, 0.4 + 0.9, 0.0], atol=1e-9
    )
    # No gap is long enough.
    tight = np.array([[x, 1.1, 0.0, 4.2, 1.8] for x in (-8.0, -3.4, 1.2, 5.8, 10.0)])
    assert berth(CAR, replace(STREET, boxes=tight)) is None
