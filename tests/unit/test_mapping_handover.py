# SPDX-License-Identifier: GPL-3.0-or-later
"""What one family of motions hands to the next: place, velocity, turn and spin go on."""

import numpy as np
import pytest
from poise.addon.mapping.handover import Handover, decay, hand_over, taken_over
from poise.addon.mapping.tracks import Contact, JointTracks, RoleTracks
from poise.solvers import rotations
from poise.solvers.clock import Clock

STEP = 1.0 / 48.0
TIME = np.arange(97) * STEP


def _cubic(rng):
    part = rng.normal(0.0, 1.0, (3, 3))
    return lambda t: part[0] + t[:, None] * part[1] + 0.5 * t[:, None] ** 2 * part[2]


def _steady(rng):
    """A turn at a steady angular velocity: its vector is exact."""
    start, spin = rotations.from_rotation_vector(rng.normal(0.0, 1.0, 3)), rng.normal(0.0, 2.0, 3)

    def turn(t):
        return rotations.multiply(rotations.from_rotation_vector(t[:, None] * spin), start)

    return turn, spin


def test_a_difference_decays_with_its_rate_and_without_acceleration_at_the_ends():
    off, rate, lasts = np.array([0.3]), np.array([-2.0]), 0.7
    h = 1e-4

    def at(t):
        return decay(np.atleast_1d(t), off, rate, lasts)[0, 0]

    assert at(0.0) == 0.3
    assert (at(h) - at(0.0)) / h == pytest.approx(-2.0, abs=1e-3)
    assert (at(2 * h) - 2 * at(h) + at(0.0)) / h**2 == pytest.approx(0.0, abs=0.1)
    assert at(lasts) == pytest.approx(0.0, abs=1e-15)
    assert (at(lasts) - at(lasts - h)) / h == pytest.approx(0.0, abs=1e-6)
    assert at(5.0) == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_what_is_handed_over_is_exact_for_parabolas_and_steady_turns(seed):
    rng = np.random.default_rng(seed)
    place, (turn, spin) = _cubic(rng), _steady(rng)
    found = hand_over(RoleTracks(Clock.even(TIME, 2), {"root": place(TIME)}, {"root": turn(TIME)}))
    end, h = TIME[-1:], 1e-4
    assert np.abs(found.place["root"] - place(end)[0]).max() < 1e-12
    slope = (place(end + h) - place(end - h))[0] / (2.0 * h)
    assert np.abs(found.velocity["root"] - slope).max() < 1e-8
    assert np.abs(found.spinning["root"] - spin).max() < 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_place_and_velocity_turn_and_spin_go_on(seed):
    rng = np.random.default_rng(seed)
    (turn, spin), (later, _) = _steady(rng), _steady(rng)
    one, other = _cubic(rng), _cubic(rng)
    missed = []
    for time in (np.arange(401) / 400.0, np.arange(1601) / 1600.0):
        clock = Clock.even(time, 2)
        before = hand_over(RoleTracks(clock, {"root": one(time)}, {"root": turn(time)}))
        second = RoleTracks(clock, {"root": other(time)}, {"root": later(time)})
        joined = taken_over(second, before)
        back = slice(2, None, -1)  # read backwards, its first rates are the last
        begins = hand_over(
            RoleTracks(
                Clock.even(time[:3], 2), {"root": joined.position["root"][back]},
                {"root": joined.rotation["root"][back]},
            )
        )
        assert np.abs(begins.place["root"] - before.place["root"]).max() < 1e-12
        assert abs(float(np.dot(begins.turn["root"], before.turn["root"]))) > 1.0 - 1e-12
        missed.append((
            np.abs(begins.velocity["root"] + before.velocity["root"]).max(),
            np.abs(begins.spinning["root"] + spin).max(),
        ))
        late = time > 0.5
        assert np.abs((joined.position["root"] - second.position["root"])[late]).max() < 1e-12
        same = rotations.dot(joined.rotation["root"], second.rotation["root"])
        assert np.abs(same[late]).min() > 1.0 - 1e-12
    # Three samples tell a rate but for the square of their spacing, which was quartered.
    coarse, fine = np.array(missed)
    assert (fine < 1e-2).all() and (fine < coarse / 12.0).all()


def test_a_foot_that_stands_stays_until_it_has_been_in_the_air():
    still = np.tile((0.2, 0.0, 0.0), (97, 1))
    still[TIME > 1.0] += (0.0, -0.6, 0.0)
    contacts = (
        Contact("foot.L", 0.0, 0.8, still[0], limb=("foot.L",)),
        Contact("foot.L", 1.1, 2.0, still[-1], limb=("foot.L",)),
    )
    tracks = RoleTracks(
        Clock.even(TIME, 2), {"foot.L": still}, {"foot.L": rotations.identity(97)},
        contacts=contacts,
    )
    there = np.array((0.25, 0.1, 0.0))
    before = Handover(
        place={"foot.L": there}, velocity={"foot.L": np.zeros(3)},
        turn={"foot.L": rotations.about_z(0.2)}, spinning={"foot.L": np.zeros(3)},
        standing=frozenset({"foot.L"}),
    )
    joined = taken_over(tracks, before)
    place = joined.position["foot.L"]
    standing = TIME <= 0.8
    assert np.abs(place[standing] - there).max() < 1e-12
    assert np.abs(joined.contacts[0].position - there).max() < 1e-12
    down = TIME >= 1.1
    assert np.abs(place[down] - still[down]).max() < 1e-12
    # Of a foot in the air when the motion begins, the contact begins when it has come down.
    landing = taken_over(tracks, Handover(
        before.body, before.place, before.velocity, before.turn, before.spinning
    ))
    assert landing.contacts[0].start == pytest.approx(0.5)
    assert np.abs(landing.position["foot.L"][0] - there).max() < 1e-12


def test_a_foot_that_is_to_come_down_elsewhere_has_time_for_it():
    """Down after a tenth of a second, 0.3 m away: it takes a quarter, and stands still then."""
    place = np.tile((0.0, -0.3, 0.0), (97, 1))
    contacts = (Contact("foot.L", 0.1, 1.0, place[0], limb=("foot.L", "knee.L")),)
    tracks = RoleTracks(
        Clock.even(TIME, 2), {"foot.L": place, "knee.L": place}, {}, contacts=contacts
    )
    nothing = np.zeros(3)
    before = Handover(
        place={"foot.L": nothing, "knee.L": nothing},
        velocity={"foot.L": nothing, "knee.L": nothing}, standing=frozenset({"foot.L"}),
    )
    joined = taken_over(tracks, before)
    assert joined.contacts[0].start == pytest.approx(0.25)
    for role in ("foot.L", "knee.L"):
        found = joined.position[role]
        assert np.abs(found[0]).max() < 1e-12
        assert np.abs((found - place)[TIME >= 0.25]).max() < 1e-12
        # The steepest of e is 15/8 of its mean.
        assert np.abs(np.diff(found[:, 1])).max() < 1.876 * 0.3 / 0.25 * STEP


def test_what_moves_of_a_limb_that_stands_goes_on_moving():
    """A knee that comes ahead over a foot that stands: its speed goes on, the foot has none."""
    still = np.zeros((97, 3))
    contacts = (Contact("foot.L", 0.0, 2.0, still[0], limb=("foot.L", "knee.L")),)
    clock = Clock.even(TIME, 2)
    tracks = RoleTracks(clock, {"foot.L": still, "knee.L": still}, {}, contacts=contacts)
    ahead = TIME[:, None] * np.array((0.0, -0.8, 0.0))
    before = hand_over(
        RoleTracks(clock, {"foot.L": still, "knee.L": ahead}, {}, contacts=contacts)
    )
    joined = taken_over(tracks, before)
    assert np.abs(joined.position["foot.L"]).max() < 1e-12
    # The three samples of a difference that begins with 36 v / T^2 in its third derivative.
    rate = np.diff(joined.position["knee.L"][:2, 1]) / STEP
    assert rate == pytest.approx(-0.8, abs=36 * 0.8 / 0.25 * STEP**2 / 2)


def test_joints_go_on_as_roles_do():
    rng = np.random.default_rng(3)
    place, later, (turn, spin), (other, _) = _cubic(rng), _cubic(rng), _steady(rng), _steady(rng)
    time = np.arange(1601) / 1600.0
    clock = Clock.even(time, 2)
    roles = [RoleTracks(clock, {"b": p(time)}, {"b": q(time)})
             for p, q in ((place, turn), (later, other))]
    joints = [JointTracks(clock, {"b": q(time)}, {"b": p(time)})
              for p, q in ((place, turn), (later, other))]
    before = hand_over(joints[0])
    assert np.abs(before.spinning["b"] - spin).max() < 1e-9
    joined, same = taken_over(joints[1], before), taken_over(roles[1], hand_over(roles[0]))
    assert np.array_equal(joined.place["b"], same.position["b"])
    assert np.array_equal(joined.turn["b"], same.rotation["b"])
