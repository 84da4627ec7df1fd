"""Frames, rates and rows of uneven times, against their closed forms."""

import numpy as np
import pytest
from poise.solvers.clock import USUAL, Clock

NTSC = 24000.0 / 1001.0  # 23.976 frames a second


def uneven():
    """Rows at 0, 0.1, 1, 2, 2.25, 2.5, 3 frames of 23.976 a second, from half a second on."""
    frames = np.array([0.0, 0.1, 1.0, 2.0, 2.25, 2.5, 3.0])
    return frames, Clock(0.5 + frames / NTSC, np.array([0, 2, 3, 6]), np.array([0.5 + 1.7 / NTSC]))


@pytest.mark.parametrize("fps", [0.0, NTSC])
def test_uneven_rows_at_23_976_frames_a_second(fps):
    frames, clock = uneven()
    clock = Clock(clock.time, clock.whole, clock.corners, fps)
    assert clock.count == 4 and clock.per_frame == 1
    assert clock.rate == pytest.approx(NTSC, rel=1e-14)
    assert clock.frames == pytest.approx(frames, abs=1e-9)
    assert clock.frames[clock.whole].tolist() == [0.0, 1.0, 2.0, 3.0]  # without rounding
    assert float(clock.frame_of(0.5 + 2.4 / NTSC)) == pytest.approx(2.4, abs=1e-12)
    assert clock.frame_of(clock.corners) == pytest.approx([1.7], abs=1e-12)
    assert clock.row_of(np.arange(4)).tolist() == clock.whole.tolist()
    assert clock.row_of(np.array([-3.0, 0.2, 2.3, 2.4, 99.0])).tolist() == [0, 1, 4, 5, 6]


def test_as_many_rows_to_each_frame():
    fps = 30000.0 / 1001.0
    time = np.arange(9) / (4.0 * fps)
    even, running = Clock.even(time, 4, [0.01]), Clock.running(3, fps, 4)
    assert even.corners.tolist() == [0.01]
    assert even.every == slice(None, None, 4) and uneven()[1].every.tolist() == [0, 2, 3, 6]
    for clock in (even, running):
        assert clock.time == pytest.approx(time, abs=1e-15)
        assert (clock.count, clock.per_frame) == (3, 4)
        assert clock.rate == pytest.approx(fps, rel=1e-14)
        assert clock.frames.tolist() == (np.arange(9) / 4.0).tolist()
    # Rows after the last whole frame are none of it.
    assert Clock.even(time[:8], 4).count == 2


def test_one_frame():
    one = Clock.running(1, 25.0)
    assert (one.count, one.per_frame, one.rate, one.frames.tolist()) == (1, 1, 25.0, [0.0])
    assert Clock.even(np.zeros(1), 2).rate == USUAL
    # Rows of which none is another frame: the rate alone tells where they are.
    assert Clock(np.array([1.0, 1.02]), np.array([0]), fps=25.0).frames.tolist() == [0.0, 0.5]
    assert uneven()[1].first().time.tolist() == [0.5]
    assert Clock.even(np.zeros(0), 2).count == 0


def test_rows_come_and_go():
    frames, clock = uneven()
    whole = clock.at_frames()
    assert whole.frames.tolist() == [0.0, 1.0, 2.0, 3.0] and whole.whole.tolist() == [0, 1, 2, 3]
    assert whole.corners is clock.corners
    more = clock.with_rows(np.array([clock.time[4], 0.5 + 0.7 / NTSC, 0.5 + 2.9 / NTSC]))
    assert more.frames == pytest.approx(np.sort([*frames, 0.7, 2.9]), abs=1e-9)
    assert more.frames[more.whole].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert more.at_frames().time.tolist() == whole.time.tolist()
    assert clock.with_rows(np.zeros(0)).time.tolist() == clock.time.tolist()


@pytest.mark.parametrize(
    ("time", "whole", "cause"),
    [
        ([0.0, 0.2, 0.1], [0, 1, 2], "increase"),
        ([0.0, 0.0], [0], "increase"),
        ([0.0, 0.1], [1], "first row"),
        ([0.0, 0.1], [], "first row"),
        ([0.0, 0.1], [0, 2], "some of the 2 rows"),
        ([0.0, 0.1, 0.2], [0, 2, 1], "in order"),
    ],
)
def test_times_that_are_none_are_refused(time, whole, cause):
    with pytest.raises(ValueError, match=cause):
        Clock(np.array(time), np.array(whole, dtype=int))
