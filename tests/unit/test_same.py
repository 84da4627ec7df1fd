# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of bakes that are not as they were recorded; bakes themselves need a Blender."""

import math

import numpy as np
import pytest
import same


def record(times=range(1, 41), bones=("hip", "toe")):
    """A record of one curve, value 0.1 at every time, and of bones at the origin."""
    times = np.asarray(times, np.float32)
    keys = np.zeros((len(times), 11), np.float32)
    keys[:, 0], keys[:, 1] = times, 0.1
    return {
        "names": same.as_bytes([["Turns", "OBSkier", "location", 0]]),
        "counts": np.array([len(keys)]),
        "keys": keys,
        "bones": same.as_bytes([["Skier", bone] for bone in bones]),
        "instants": np.array([1.0, 2.375]),
        "places": np.broadcast_to(np.eye(4, dtype=np.float32)[:3], (2, len(bones), 3, 4)).copy(),
        "lines": same.as_bytes(["Skier plays Turns"]),
    }


def test_records_are_kept_and_the_same(tmp_path):
    file = tmp_path / "folder" / "same.npz"
    records = {"turns SKIER": record(), "own rig: bones": record(range(1, 9))}
    same.write(file, records)
    kept = same.read(file)
    assert list(kept) == list(records)
    for name, old in kept.items():
        assert same.compared(old, records[name]) == (True, ["the same bit for bit"])
    digests = {same.digest(r) for r in (*records.values(), *kept.values())}
    assert len(digests) == 2


def test_keys_are_told_apart():
    old, new = record(), record([*range(1, 30), *np.arange(30, 40) + 0.25, 60, 70])
    new["keys"][3, 1] = 0.35
    new["keys"][4, 2] = 7.0
    change = same.changed_keys(old, new)
    # Frame 40 is gone; 10 keys stand a quarter of a frame later, 60 and 70 are new.
    assert (change.before, change.after) == (40, 41)
    assert (change.moved, change.removed, change.added) == (10, 1, 2)
    assert change.value == pytest.approx(0.25) and change.other == 1
    fine, texts = same.compared(old, new)
    assert fine and texts[0] == "of 40 keys 2 added, 1 removed, 10 moved, 1 other"


@pytest.mark.parametrize(("keys", "fine"), [(42, True), (43, False)])
def test_a_twentieth_more_keys_are_too_many(keys, fine):
    """However many there are in actions that are as they were."""
    old, new = record(), record(range(1, keys + 1))
    for one in (old, new):
        one["names"] = same.as_bytes([["Turns", "OBSkier", "location", 0], ["Clip", "", "x", 0]])
        one["counts"] = np.array([len(one["keys"]), 400])
        one["keys"] = np.concatenate((one["keys"], np.zeros((400, 11), np.float32)))
    assert same.compared(old, new)[0] is fine


@pytest.mark.parametrize(("metres", "fine"), [(9e-5, True), (1.1e-4, False)])
def test_bones_may_be_off_by_a_tenth_of_a_millimetre(metres, fine):
    new = record()
    new["places"][1, 1, 2, 3] = metres
    assert same.apart(record()["places"], new["places"]) == pytest.approx((1e3 * metres, 0.0))
    assert same.compared(record(), new)[0] is fine


@pytest.mark.parametrize(("degrees", "fine"), [(0.009, True), (0.011, False), (180.0, False)])
def test_bones_may_be_turned_by_a_hundredth_of_a_degree(degrees, fine):
    old, new = record(), record()
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    for one, turn in ((old, np.eye(3)), (new, about_x)):
        one["places"][1, 0, :, :3] = 2.0 * turn  # a bone of twice its size
    assert same.apart(old["places"], new["places"]) == pytest.approx((0.0, degrees), rel=1e-3)
    assert same.compared(old, new)[0] is fine


def test_what_else_differs_is_over():
    old = record()
    assert same.compared(old, None) == (False, ["missing"])
    for part, value in (
        ("lines", same.as_bytes(["Skier plays None"])),
        ("instants", np.array([1.0, 3.0])),
        ("bones", same.as_bytes([["Skier", "hip"], ["Skier", "heel"]])),
    ):
        assert not same.compared(old, {**record(), part: value})[0], part
