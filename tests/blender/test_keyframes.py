# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays to F-curves: what is written, how exact it is, what stays untouched."""

import sys
import tracemalloc
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Euler, Quaternion

sys.path.insert(0, str(Path(__file__).parent))

from bake_rigs import quaternion  # noqa: E402
from poise.addon import compat, keyframes  # noqa: E402
from poise.addon.bake import sparse  # noqa: E402
from poise.addon.keyframes import Channel  # noqa: E402
from poise.addon.rigs.pose import rotation_modes  # noqa: E402
from poise.solvers import rotations  # noqa: E402


@pytest.fixture
def bag(scene):
    action = bpy.data.actions.new("Keys")
    return compat.ensure_channelbag(action, compat.new_slot(action, "Rig"))


def evaluated(curve, frames):
    return np.array([curve.evaluate(frame) for frame in frames.tolist()], dtype=float)


def test_dense_keys_carry_everything_the_animator_sees(bag):
    frames = np.arange(-10.0, 30.0)
    values = np.sin(0.3 * frames)
    [curve] = keyframes.write_channels(
        bag, [Channel('pose.bones["hip"].location', 2, "hip", frames, values)]
    )
    assert (curve.data_path, curve.array_index) == ('pose.bones["hip"].location', 2)
    assert curve.group.name == "hip"
    assert {key.type for key in curve.keyframe_points} == {"GENERATED"}
    assert {key.interpolation for key in curve.keyframe_points} == {"LINEAR"}
    assert [key.co.x for key in curve.keyframe_points] == frames.tolist()
    assert np.abs(evaluated(curve, frames) - values).max() < 1e-7
    halves = frames[:-1] + 0.5
    middle = 0.5 * (values[1:] + values[:-1])
    assert np.abs(evaluated(curve, halves) - middle).max() < 1e-6
    # The animator who switches to Bezier gets the same curve, with handles to pull.
    for key in curve.keyframe_points:
        key.interpolation = "BEZIER"
    curve.update()
    assert np.abs(evaluated(curve, halves) - middle).max() < 1e-5


def test_slopes_make_the_cubic_hermite_spline(bag):
    frames = np.array([-3.0, 1.0, 2.0, 6.0, 6.25, 9.0])
    rng = np.random.default_rng(4)
    values, left, right = rng.standard_normal((3, 6))
    [curve] = keyframes.write_channels(bag, [Channel("x", 0, "", frames, values, left, right)])
    assert {key.interpolation for key in curve.keyframe_points} == {"BEZIER"}
    assert {key.handle_left_type for key in curve.keyframe_points} == {"FREE"}
    for i in range(5):
        length = frames[i + 1] - frames[i]
        t = np.linspace(0.0, 1.0, 9)
        wanted = (
            (2 * t**3 - 3 * t**2 + 1) * values[i]
            + (t**3 - 2 * t**2 + t) * length * right[i]
            + (3 * t**2 - 2 * t**3) * values[i + 1]
            + (t**3 - t**2) * length * left[i + 1]
        )
        assert np.abs(evaluated(curve, frames[i] + t * length) - wanted).max() < 2e-5


def test_rewriting_replaces_keys_and_nothing_else(bag):
    frames = np.arange(5.0)
    keyframes.write_channels(bag, [Channel("a", 0, "g", frames, frames)])
    other = bag.fcurves.new("mine", index=1)
    other.keyframe_points.insert(3.0, 7.0)
    [curve] = keyframes.write_channels(bag, [Channel("a", 0, "g", frames[:2] + 9.0, frames[:2])])
    assert len(bag.fcurves) == 2 and len(bag.groups) == 1
    assert [key.co.x for key in curve.keyframe_points] == [9.0, 10.0]
    assert bag.fcurves.find("mine", index=1).evaluate(3.0) == 7.0


def test_from_slopes_to_straight_lines_and_back(bag):
    frames, values = np.arange(4.0), np.array([0.0, 2.0, -1.0, 3.0])
    slopes = np.ones(4)
    keyframes.write_channels(bag, [Channel("a", 0, "", frames, values, slopes, slopes)])
    [curve] = keyframes.write_channels(bag, [Channel("a", 0, "", frames, values)])
    assert {key.handle_left_type for key in curve.keyframe_points} == {"VECTOR"}
    assert curve.evaluate(0.25) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e39])
def test_no_key_is_ever_without_a_number(bag, bad):
    with pytest.raises(ValueError, match="not finite"):
        keyframes.write_channels(bag, [Channel("a", 0, "", np.arange(2.0), np.array([0.0, bad]))])
    assert not len(bag.fcurves)


def test_frames_out_of_order_are_refused(bag):
    for frames in ([0.0, 2.0, 1.0], [0.0, 1.0, 1.0]):
        with pytest.raises(ValueError, match="out of order"):
            keyframes.write_channels(bag, [Channel("a", 0, "", np.array(frames), np.zeros(3))])


def test_keys_can_be_taken_out_and_put_back(bag):
    curve = bag.fcurves.new("mine")
    for frame in range(8):
        key = curve.keyframe_points.insert(frame, frame**1.5)
        key.interpolation = "ELASTIC" if frame % 2 else "CONSTANT"
        key.period, key.easing, key.type = 0.5 + frame, "EASE_OUT", "BREAKDOWN"
    curve.keyframe_points[3].handle_left_type = "FREE"
    curve.update()
    before = keyframes.read_keys(curve)
    inside = (before.frames >= 2.0) & (before.frames <= 4.0)
    keyframes.keep_keys(curve, ~inside)
    assert len(curve.keyframe_points) == 5
    keyframes.join_keys(curve, before.where(inside))
    after = keyframes.read_keys(curve)
    for name, values in before.arrays.items():
        assert np.array_equal(values, after.arrays[name]), name


# --- sparse ----------------------------------------------------------------


def _signals(seed):
    """Smooth channels with a corner and a held span: a function of seconds, and its times."""
    rng = np.random.default_rng(seed)
    amplitude = rng.uniform(0.05, 2.0, 6)
    frequency = rng.uniform(0.2, 2.5, (6, 3))
    phase = rng.uniform(0.0, 6.0, (6, 3))
    corner, start = rng.uniform(1.0, 3.0), rng.uniform(4.0, 6.0)
    end = start + rng.uniform(0.1, 0.4)

    def values(t):
        t = np.asarray(t)
        waves = np.sin(2 * np.pi * frequency[:, :, None] * t + phase[:, :, None])
        channels = (amplitude[:, None] * waves.sum(axis=1)).T
        channels[:, 1] += np.abs(t - corner)
        held = np.where(t < start, 3.0 * (t - start), np.where(t > end, (t - end) ** 2, 0.0))
        channels[:, 2] = held
        channels[:, 3] = 0.7
        channels[:, 4] = np.where(t < corner, 0.0, t - corner)
        return channels

    return values, corner, (start, end)


@pytest.mark.parametrize("per_frame", [1, 2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_sparse_is_nearer_to_the_motion_than_dense_on_every_channel(bag, seed, per_frame):
    fps, frames = 24.0, 200
    values, corner, held = _signals(seed)
    t = np.arange((frames - 1) * per_frame + 1) / (per_frame * fps)
    samples = values(t)
    grid = sparse.key_grid(len(t), per_frame, [corner * fps, held[0] * fps, held[1] * fps])
    keys = sparse.sparse_keys(grid, samples, 4, [(held[0] * fps, held[1] * fps)])
    assert np.diff(keys.frames).max() <= 4.0
    assert len(keys.frames) < frames
    subframes = np.linspace(0.0, frames - 1.0, 8 * (frames - 1) + 1)
    truth = values(subframes / fps)
    whole = np.arange(float(frames))
    for c in range(samples.shape[1]):
        few, many = keyframes.write_channels(
            bag,
            [
                Channel(
                    "sparse", c, "", keys.frames, keys.values[:, c], keys.slopes_left[:, c],
                    keys.slopes_right[:, c], keys.straight[:, c],
                ),
                Channel("dense", c, "", whole, samples[::per_frame, c]),
            ],
        )
        error = np.abs(evaluated(few, subframes) - truth[:, c])
        rival = np.abs(evaluated(many, subframes) - truth[:, c])
        # A key's value has 24 bits, and so has its time.
        digit = 2e-6 * (1.0 + np.abs(truth[:, c]).max())
        assert error.max() <= rival.max() + digit
        assert np.sqrt((error**2).mean()) <= np.sqrt((rival**2).mean()) + digit


def test_contacts_are_held_exactly_and_corners_keyed_where_they_are():
    fps, per_frame = 24.0, 4
    values, corner, held = _signals(7)
    t = np.arange(600) / (per_frame * fps)
    samples = values(t)[:, [1, 2]]
    grid = sparse.key_grid(600, per_frame, [corner * fps, held[0] * fps, held[1] * fps])
    keys = sparse.sparse_keys(grid, samples, 4, [(held[0] * fps, held[1] * fps)])
    for time in (corner, *held):
        i = int(np.argmin(np.abs(keys.frames - time * fps)))
        assert keys.frames[i] == pytest.approx(time * fps, abs=1e-9)
        if time == corner:
            jump = keys.slopes_right[i, 0] - keys.slopes_left[i, 0]
            assert jump * fps == pytest.approx(2.0, rel=0.02)  # |t - corner|
    inside = (keys.frames >= held[0] * fps - 1e-6) & (keys.frames <= held[1] * fps + 1e-6)
    assert np.abs(keys.values[inside, 1]).max() < 1e-12
    first, last = np.flatnonzero(inside)[[0, -1]]
    assert keys.slopes_right[first, 1] == pytest.approx(0.0, abs=1e-12)
    assert keys.slopes_left[last, 1] == pytest.approx(0.0, abs=1e-12)
    assert keys.slopes_left[first, 1] * fps == pytest.approx(3.0, rel=1e-6)


def test_slopes_are_those_of_the_motion():
    # Fourth order: halving the step divides the error by about sixteen.
    errors = []
    for per_frame in (1, 2):
        x = np.arange(100 * per_frame + 1) / per_frame
        grid = sparse.key_grid(len(x), per_frame, [])
        slopes = grid.inner.slopes(np.sin(0.4 * x)[:, None])[:, 0]
        errors.append(np.abs(slopes - 0.4 * np.cos(0.4 * x)).max())
    assert errors[0] < 3e-3
    assert errors[0] / errors[1] > 12.0


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_very_short_motions_have_keys(count):
    grid = sparse.key_grid(count, 1, [0.5, 1.5])
    keys = sparse.sparse_keys(grid, np.arange(float(count))[:, None], 4)
    assert keys.frames[0] == 0.0 and keys.frames[-1] == count - 1.0
    assert np.isfinite(keys.slopes_left).all() and np.isfinite(keys.slopes_right).all()
    assert keys.values[-1, 0] == count - 1.0


def test_kinks_outside_twice_or_crowded_do_no_harm():
    x = np.arange(81) / 2.0
    samples = np.abs(x - 10.3)[:, None]
    kinks = [-5.0, 0.0, 20.00001, 30.5, 10.3, 10.3, 10.3004, 10.45, 10.46, 40.0, 99.0, 12.0]
    keys = sparse.sparse_keys(sparse.key_grid(81, 2, kinks), samples, 4)
    assert (np.diff(keys.frames) > 0.0).all()
    assert np.isfinite(keys.slopes_left).all() and np.isfinite(keys.slopes_right).all()
    assert np.abs(keys.values[:, 0] - np.abs(keys.frames - 10.3)).max() < 1e-9


@pytest.mark.parametrize("start", [0, 100_000, -1_000_000, 1_048_000])
@pytest.mark.parametrize("seed", range(5))
def test_kinks_anywhere_keep_keys_in_order(bag, start, seed):
    rng = np.random.default_rng(seed)
    kinks = np.concatenate((rng.uniform(0, 60, 40), np.round(rng.uniform(0, 60, 20))))
    kinks = np.concatenate((kinks, kinks + rng.normal(0.0, 1e-3, 60)))
    samples = rng.standard_normal((121, 3)).cumsum(axis=0)
    grid = sparse.key_grid(121, 2, kinks, abs(start) + 60)
    keys = sparse.sparse_keys(grid, samples, 4)
    [curve] = keyframes.write_channels(
        bag,
        [Channel("x", 0, "", start + keys.frames, keys.values[:, 0], keys.slopes_left[:, 0],
                 keys.slopes_right[:, 0], keys.straight[:, 0])],
    )
    assert len(curve.keyframe_points) == len(keys.frames)


def test_a_kink_at_a_sample_beside_a_corner_is_one_key():
    # Of the corners of all legs this channel has one only, and much to follow beside it.
    x = np.arange(121) / 2.0
    samples = (10.0 * np.abs(x - 30.6) + np.sin(x))[:, None]
    grid = sparse.key_grid(121, 2, [30.6, 31.5])
    keys = sparse.sparse_keys(grid, samples, 4, limits=np.array([5e-4]))
    assert 31.5 in keys.frames
    assert np.diff(keys.frames).min() > sparse.SPACING


def test_a_single_sample_between_two_corners_of_others_tells_of_none():
    # Liftoff and touchdown of two legs; the root goes on at one speed.
    x = np.arange(121) / 2.0
    samples = (0.2 * x)[:, None]
    grid = sparse.key_grid(121, 2, [29.8, 30.1, 40.7, 40.9])
    assert np.abs(grid.inner.slopes(samples) - 0.2).max() < 1e-12
    for found, true in zip(
        sparse.at_kinks(grid, samples, *np.zeros((2, len(grid.kinks)), bool)),
        (0.2 * grid.kinks[:, None], 0.2, 0.2), strict=True,
    ):
        assert np.abs(found - true).max() < 1e-12


def test_times_that_are_passed_smoothly_get_a_key_and_no_corner():
    x = np.arange(121) / 2.0
    grid = sparse.key_grid(121, 2, [20.2], passed=[20.21, 33.3, 47.8])
    keys = sparse.sparse_keys(grid, np.sin(0.5 * x)[:, None], 4)
    assert 20.21 not in keys.frames  # as near to a corner as keys cannot be
    for time in (33.3, 47.8):
        (i,) = np.flatnonzero(keys.frames == time)
        assert keys.values[i] == pytest.approx(np.sin(0.5 * time), abs=1e-4)
        assert keys.slopes_left[i] == pytest.approx(0.5 * np.cos(0.5 * time), abs=1e-3)
        assert keys.slopes_right[i] == keys.slopes_left[i]


@pytest.mark.parametrize(("rate", "between"), [(2.2, True), (0.3, False)])
def test_keys_stand_between_frames_only_where_those_on_frames_do_not_do(rate, between):
    # Three frames to a swing, and twenty.
    x = np.arange(241) / 4.0
    samples, limit = np.sin(rate * x)[:, None], 1e-3
    keys = sparse.sparse_keys(
        sparse.key_grid(241, 4, []), samples, 4, limits=np.array([limit]),
        visible=np.array([limit]),
    )
    error, _ = sparse._hermite_error(
        keys.frames, keys.values, keys.slopes_left, keys.slopes_right, x, samples
    )
    assert error.max() < limit
    assert bool((keys.frames % 1.0).any()) == between


# --- rotation modes ---------------------------------------------------------

MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")


def _tumbling(n=400):
    t = np.linspace(0.0, 8.0, n)
    q = quaternion((0, 0, 1), 2.0 * t)
    for axis, angle in (((1, 0, 0), np.sin(3.0 * t)), ((0, 1, 0), 1.4 * np.sin(1.3 * t + 1.0))):
        q = rotations.multiply(q, quaternion(axis, angle))
    return q


@pytest.mark.parametrize("mode", MODES)
def test_a_bone_turns_the_same_in_every_rotation_mode(mode):
    q = _tumbling()
    values = rotation_modes.to_mode(q, mode)
    for i in range(0, len(q), 7):
        if mode == "QUATERNION":
            read = Quaternion(values[i])
        elif mode == "AXIS_ANGLE":
            read = Quaternion(values[i, 1:], values[i, 0])
        else:
            read = Euler(values[i], mode).to_quaternion()
        assert abs(np.dot(read, q[i])) == pytest.approx(1.0, abs=1e-6)
    assert np.abs((rotation_modes.from_mode(values, mode) * q).sum(axis=1)).min() > 1.0 - 1e-12


@pytest.mark.parametrize("mode", MODES)
def test_rotations_do_not_jump(mode):
    values = rotation_modes.to_mode(_tumbling(1600), mode)
    if mode == "QUATERNION":
        assert (values[1:] * values[:-1]).sum(axis=1).min() > 0.99
    else:
        assert np.abs(np.diff(values, axis=0)).max() < 0.5


@pytest.mark.parametrize("mode", [m for m in MODES if m != "QUATERNION"])
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_spinning_counts_on(mode, axis, sign):
    angle = sign * np.linspace(0.0, 25.0 * 2.0 * np.pi, 25 * 8 + 1)
    values = rotation_modes.to_mode(quaternion(np.eye(3)[axis], angle), mode)
    if mode == "AXIS_ANGLE":
        turned = (values[-1, 0] - values[0, 0]) * values[-1, 1 + axis]
    else:
        turned = values[-1, axis] - values[0, axis]
        others = [i for i in range(3) if i != axis]
        assert np.abs(values[:, others]).max() < 1e-6
    assert turned == pytest.approx(angle[-1], abs=1e-6)


def test_memory_for_keys_grows_with_the_duration_not_with_its_square():
    """Feet touch down and leave, by themselves and in passing, as often as a quick animal's do."""
    peaks = []
    for frames in (2000, 4000):
        at = np.arange(1.0, frames)
        kinks = np.sort(np.concatenate((at + 0.31, at + 0.63)))
        samples = np.sin(np.arange(2 * frames + 1) / 9.0)[:, None]
        tracemalloc.start()
        grid = sparse.key_grid(len(samples), 2, kinks.tolist(), passed=(at + 0.15).tolist())
        held = list(zip(kinks[::2].tolist(), kinks[1::2].tolist(), strict=True))
        sparse.sparse_keys(grid, samples, 4, held)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2.3 * peaks[0], [round(peak / 1e6) for peak in peaks]
