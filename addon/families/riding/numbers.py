# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panel says about a ride."""

from __future__ import annotations

from dataclasses import dataclass
from math import degrees, isfinite

from ....solvers.motion import TurningMotion
from ....solvers.path import PathMotion
from ....solvers.turning.summary import TurnSummary, summarise


@dataclass(frozen=True)
class RideNumbers:
    """What the panel says about a ride.

    Attributes:
        turn: what its turns are like.
        half_turns: how many of its half turns are whole.
        end_time: seconds until it falls or stops, or None.
        end: "FALL", "STOP" or "".
        distance: length of the track in metres.
        path: how well it follows its path, or None for turns.
        weight: of the figure, N.
    """

    turn: TurnSummary
    half_turns: int
    end_time: float | None
    end: str
    distance: float
    path: PathMotion | None = None
    weight: float = 1.0

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Lines for the panel: (what, how much)."""
        return _turn_lines(self) if self.path is None else _path_lines(self, self.path)


def numbers_of(motion: TurningMotion, path: PathMotion | None = None) -> RideNumbers:
    """Sum a motion up in a few numbers.

    Args:
        motion: a solved motion.
        path: how well it follows its path, or None for turns.
    """
    end = next((event for event in motion.events if event.kind in ("FALL", "STOP")), None)
    return RideNumbers(
        turn=summarise(motion),
        half_turns=sum(turn.complete for turn in motion.half_turns),
        end_time=None if end is None else end.time,
        end="" if end is None else end.kind,
        distance=float(motion.distance[-1]),
        path=path,
        weight=motion.mass * motion.gravity,
    )


def _path_lines(numbers: RideNumbers, path: PathMotion) -> tuple[tuple[str, str], ...]:
    lines = [
        ("Track", f"{numbers.distance:.1f} m"),
        ("Time", f"{path.motion.time[-1]:.2f} s"),
        ("Mean Distance", f"{path.mean_distance:.2f} m"),
        ("Largest Distance", f"{path.max_distance:.2f} m"),
    ]
    if isfinite(path.min_clearance):
        lines.append(("Smallest Clearance", f"{path.min_clearance:.2f} m"))
    lines += [
        ("Largest Lean", f"{degrees(path.max_lean):.1f}°"),
        ("Peak Force", f"{path.peak_force / numbers.weight:.2f} g"),
    ]
    if path.gate_times:
        passed = sum(isfinite(time) for time in path.gate_times)
        lines.append(("Gates", f"{passed} of {len(path.gate_times)}"))
    if not path.finished:
        lines.append(("Stops", f"after {path.motion.time[-1]:.2f} s"))
    return tuple(lines)


def _turn_lines(numbers: RideNumbers) -> tuple[tuple[str, str], ...]:
    turn = numbers.turn
    half_turn = f"{degrees(turn.half_turn):.1f}°" + (" (a loop)" if turn.loop else "")
    straight = turn.min_radius > 1e4
    lines = [
        ("Half Turn", half_turn if numbers.half_turns else "none is whole"),
        ("Minimum Radius", "straight" if straight else f"{turn.min_radius:.1f} m"),
        ("Peak Force", f"{turn.peak_force:.2f} g"),
        ("Track", f"{numbers.distance:.1f} m"),
    ]
    if turn.clipped > 0.0:
        lines.append(("Clipped", f"{max(100.0 * turn.clipped, 0.1):.1f} %"))
    if numbers.end_time is not None:
        lines.append(("Falls" if numbers.end == "FALL" else "Stops",
                      f"after {numbers.end_time:.2f} s"))
    return tuple(lines)
