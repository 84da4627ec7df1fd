# SPDX-License-Identifier: GPL-3.0-or-later
"""What free-form motion could not have as it was asked for."""

from __future__ import annotations

import numpy as np

from .. import rotations
from ..motion import Problem, told_apart
from .body import Body, Limb, Posture, length
from .flight import LANDED, Flight
from .timeline import Timeline

UNREACHED = 1e-4  # m, from which on a target counts as out of reach
ADRIFT = np.radians(1.0)  # by which postures in the air may be turned otherwise, untold

# sqrt(g / leg) per which joints that fold as a limb lands do so untold. Knees of people fold at
# some 3 of these, 600 degrees a second; small bodies land faster, as all that they do is.
FOLDS = 10.0


def flight_problems(
    body: Body, flight: Flight, line: Timeline, postures: list[Posture], first: int, last: int
) -> list[Problem]:
    """Flights that are too long for legs, and postures that they do not meet.

    Args:
        body: who flies.
        flight: the flight.
        line: visits of the motion.
        postures: of the sequence.
        first: visit at which it lifts.
        last: visit at which it lands.

    Returns:
        The problems.
    """
    out, where = [], f"posture {int(line.postures[first]) + 1}"
    start, end = float(flight.start), float(flight.end)
    rise = max(float(flight.velocity[2]), 0.0) ** 2 / (2.0 * float(flight.gravity))
    leg = max((length(body, h.limb) for h in line.standing[first]), default=0.0)
    if 0.0 < leg < rise:  # who was thrown needs no legs
        rises, legs = told_apart(rise, leg, 2, " m")
        out.append(
            Problem(
                "TOO_HIGH",
                f"The flight of {end - start:.2f} s from {where} rises by "
                f"{rises}, higher than legs of {legs} can jump",
                time=start, end_time=end, amount=rise,
                remedy="Let it land sooner, or lower",
            )
        )
    missed = float(flight.aim.missed)
    if missed > 100.0 * LANDED:
        out.append(
            Problem(
                "LANDS_TURNED",
                f"The flight from {where} lands turned by {np.degrees(missed):.1f} degrees "
                "from its posture",
                time=start, end_time=end, amount=missed,
                remedy="Add a posture in the air that shows how it turns",
            )
        )
    inner = np.arange(first + 1, last)
    inner = inner[line.postures[inner] >= 0]
    if not len(inner):
        return out
    given = np.stack([postures[k].turn for k in line.postures[inner]])
    apart = rotations.multiply(rotations.conjugate(given), flight.turn(line.visits[inner]))
    angles = np.linalg.norm(rotations.to_rotation_vector(apart), axis=1)
    for visit, angle in zip(inner.tolist(), angles.tolist(), strict=True):
        if angle > ADRIFT:
            out.append(
                Problem(
                    "TURNED_IN_AIR",
                    f"Posture {int(line.postures[visit]) + 1} is turned by "
                    f"{np.degrees(angle):.0f} degrees from what is given: in the air, momentum "
                    "turns the body",
                    severity="INFO", time=float(line.visits[visit]), amount=angle,
                )
            )
    return out


def stretched_problems(line: Timeline, found: list[tuple[int, str]]) -> list[Problem]:
    """Limbs that are too straight to leave the ground, or come to it, at rest.

    Args:
        line: visits of the motion.
        found: visits, and the limbs' names.

    Returns:
        The problems.
    """
    return [
        Problem(
            "STRETCHED",
            f"{name} is so straight in posture {int(line.postures[visit]) + 1} that its end "
            "is not at rest on the ground there: velocities jump a little",
            severity="INFO", time=float(line.visits[visit]), bone=name,
            remedy="Bend it more there, by some 20 degrees",
        )
        for visit, name in found
    ]


def folding_problems(
    body: Body, line: Timeline, found: dict[tuple[int, str], float], gravity: float
) -> list[Problem]:
    """Limbs that fold, as they land, faster than anyone would show it.

    Args:
        body: the body.
        line: visits of the motion.
        found: (visit, limb's name) -> rate of its middle joint at the touchdown, rad/s.
        gravity: m/s^2.

    Returns:
        The problems.
    """
    out = []
    for (visit, name), rate in sorted(found.items()):
        limb = next(m for m in body.limbs if m.name == name)
        if rate > FOLDS * np.sqrt(gravity / length(body, limb)):
            out.append(
                Problem(
                    "FOLDS_FAST",
                    f"{name} folds by {np.degrees(rate):.0f} degrees a second as it lands in "
                    f"posture {int(line.postures[visit]) + 1}",
                    severity="INFO", time=float(line.visits[visit]), bone=name, amount=rate,
                    remedy="Bend it more there, or land from less high",
                )
            )
    return out


def unreached(limb: Limb, times: np.ndarray, missing: np.ndarray) -> tuple[Problem, ...]:
    """Spans of time in which a limb's end does not reach its place.

    Args:
        limb: the limb.
        times: (t,) s.
        missing: (t,) m.

    Returns:
        One problem for each span.
    """
    far = np.concatenate([[False], missing > UNREACHED, [False]])
    edges = np.flatnonzero(far[1:] != far[:-1])
    out = []
    for a, b in edges.reshape(-1, 2):
        most = float(missing[a:b].max())
        out.append(
            Problem(
                "OUT_OF_REACH",
                f"{limb.name} ends {100.0 * most:.2g} cm short of its place: it is out of reach",
                time=float(times[a]),
                end_time=float(times[b - 1]),
                bone=limb.name,
                amount=most,
                remedy="Bring the body nearer in the postures around it",
            )
        )
    return tuple(out)
