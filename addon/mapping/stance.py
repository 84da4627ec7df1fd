# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs of a skier: two skis on the snow, boots that hold the shins, a spring.

Ground space as in `trunk`; here x is across the *skis*, which may be turned
against the direction of travel by the skid angle.

A boot lets the shin lean forward but not sideways: the knee lies in the plane
that its ski's length and its ski's normal span. What is left is where the feet
are fore and aft of the pelvis. With fixed heels (`Boots`) there is one place
for each ski at which the shin has the boot's own forward lean: the more a leg
is bent, the further its ski is ahead. That is where the lead of the inside ski
comes from. With free heels (`Stride`) the skis are as far apart as the style
says, and the pelvis finds its place between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .signals import Amount, limited
from .tracks import SIDES, Figure

# How far the pelvis may give way to the bend of the rear knee, metres, and the
# distance between the feet (m) below which it stays over its support.
YIELD, TOGETHER = 0.12, 0.12

# Masses as shares of the body, and centres as shares of the segment from its
# upper joint: Winter, Biomechanics and Motor Control of Human Movement, ch. 4.
UPPER_BODY, UPPER_BODY_CENTRE = 0.678, 0.626  # head, arms, trunk; hips to shoulders
THIGH, SHANK = 0.100, 0.061  # one side; the foot counts with the shank
THIGH_CENTRE, SHANK_CENTRE = 0.433, 0.606

REACH = 0.995  # largest share of a leg's length in use
ROOM = 0.955 # share from which the leg resists stretching further
FOLDED, FOLDING = 0.42, 0.60  # share of length below which a leg resists folding
MOST_TAKEN = 0.15  # metres of terrain that legs take up

# Search for the pelvis: steps, steps between fresh slopes, metres of error, longest step.
ITERATIONS, FRESH, TOLERANCE, LONGEST = 40, 4, 1e-12, 0.12
_DELTA = 1e-7


@dataclass(frozen=True)
class Skis:
    """Both skis, edges set, before they are placed fore and aft. Index 0 is L, 1 is R.

    Attributes:
        edge: (2, n) edge angles in radians, + tilts the ski to the left.
        base: (2, n, 2) x and z of the running surface under the flat foot's ankle.
        ankle: (2, n, 2) x and z of the ankle.
        along: (2, n) y of the ankle against that of the base: 0 for a flat
            foot, below 0 for one that stands on its ball.
    """

    edge: np.ndarray
    base: np.ndarray
    ankle: np.ndarray
    along: np.ndarray


@dataclass(frozen=True)
class Boots:
    """Feet placed by stiff boots with fixed heels.

    Attributes:
        lean: forward lean of the shin that the boot holds, radians.
        lead: share of the lead that keeps both shins at the boot's lean.
        lead_limit: largest lead, metres.
    """

    lean: Amount
    lead: Amount
    lead_limit: Amount


@dataclass(frozen=True)
class Stride:
    """Feet placed by a wanted distance between the skis, heels free.

    Attributes:
        lead: (n,) how far the left ski is ahead of the right one, metres.
        support: (n,) y of the point that the mass is to be over, against the
            mid-point between the skis; forward is negative.
        bend: (n,) wanted (left length^2 - right length^2) of the legs, m^2,
            hip to ankle. Where the skis are apart the pelvis goes fore or aft
            to have it.
        hold: (n,) how far the pelvis does so, 0 to 1; 0 where the feet pass
            each other.
    """

    lead: np.ndarray
    support: np.ndarray
    bend: np.ndarray
    hold: np.ndarray


@dataclass(frozen=True)
class Stance:
    """A solved stance. Index 0 is L, 1 is R; ground space (x across travel).

    Attributes:
        pelvis: (n, 3) mid-point of the hips.
        hip: (2, n, 3).
        knee: (2, n, 3).
        ankle: (2, n, 3).
        base: (2, n, 3) running surface under the ankle.
        middle: (n, 3) mid-way between the feet on the snow.
        flexion: (2, n) knee flexion, radians.
        length: (2, n) hip to ankle, metres.
        boot: (2, n) forward lean of the shin in the boot, radians.
        use: (2, n) share of the leg's reach in use.
        spring: (n,) length of the spring: both legs weighted by their load.
        centre: (n, 3) centre of mass.
    """

    pelvis: np.ndarray
    hip: np.ndarray
    knee: np.ndarray
    ankle: np.ndarray
    base: np.ndarray
    middle: np.ndarray
    flexion: np.ndarray
    length: np.ndarray
    boot: np.ndarray
    use: np.ndarray
    spring: np.ndarray
    centre: np.ndarray


def leg_lengths(figure: Figure) -> tuple[np.ndarray, np.ndarray]:
    """Thighs (2, 1) and shins (2, 1) in metres.

    Args:
        figure: the figure.
    """
    thigh, shin = np.array([figure.leg(side) for side in SIDES]).T[:, :, None]
    return thigh, shin


def bent_leg(figure: Figure, flexion: Amount) -> np.ndarray:
    """Hip to ankle (2, 1) or (2, n) of legs bent by an angle, metres, by the law of cosines.

    Args:
        figure: the figure.
        flexion: of the knees, radians.
    """
    thigh, shin = leg_lengths(figure)
    return np.sqrt(thigh**2 + shin**2 + 2.0 * thigh * shin * np.cos(flexion))


def knee_bend(figure: Figure, length: np.ndarray) -> np.ndarray:
    """Flexion of the knees (n,) of legs of a mean length, both bent alike, radians.

    Args:
        figure: the figure.
        length: (n,) mean distance from hip to ankle, metres.
    """
    thigh, shin = (float(np.mean(part)) for part in leg_lengths(figure))
    cosine = (length**2 - thigh**2 - shin**2) / (2.0 * thigh * shin)
    return np.arccos(np.clip(cosine, -1.0, 1.0))


def set_edges(
    edge: np.ndarray, share: np.ndarray, stance: Amount, width: float, sole: float
) -> Skis:
    """Roll both skis about their lower edges, which stay in the snow's surface.

    The mid-point of load is at x = 0: the more a ski carries, the closer it is
    to the pendulum's foot.

    Args:
        edge: (2, n) edge angles, + to the left.
        share: (2, n) share of the force each ski carries, adding up to 1.
        stance: distance between the skis' middles when flat, metres.
        width: width of a ski under the boot, metres.
        sole: ankle above the running surface, metres.
    """
    middle = -0.5 * stance * (share[0] - share[1])
    lane = np.stack((middle + 0.5 * stance, middle - 0.5 * stance))
    cos, sin = np.cos(edge), np.sin(edge)
    base = np.stack(
        (lane + 0.5 * width * np.sign(edge) * (1.0 - cos), 0.5 * width * np.abs(sin)), axis=-1
    )
    ankle = base + sole * np.stack((sin, cos), axis=-1)
    return Skis(edge, base, ankle, np.zeros_like(edge))


def lift_heels(
    skis: Skis, lift: np.ndarray, turn: np.ndarray, ball: tuple[float, float], sole: float
) -> Skis:
    """Turn each ski about its base, and each foot about its ball, whose place on the ski stays.

    Args:
        skis: flat feet on parallel skis.
        lift: (2, n) turn of the foot about the ball, radians, + heel up.
        turn: (2, n) turn of the ski about the snow's normal, radians, + to the left.
        ball: the ball of the foot ahead of the ankle and over the running surface, metres.
        sole: ankle above the running surface, metres.
    """
    ahead, high = ball
    rise = sole - high
    back = ahead * (np.cos(lift) - 1.0) - rise * np.sin(lift)
    up = high + ahead * np.sin(lift) + rise * np.cos(lift)
    across = up * np.sin(skis.edge)
    x = across * np.cos(turn) - back * np.sin(turn)
    along = across * np.sin(turn) + back * np.cos(turn)
    ankle = skis.base + np.stack((x, up * np.cos(skis.edge)), axis=-1)
    return Skis(skis.edge, skis.base, ankle, along)


def on_terrain(
    skis: Skis, spring: np.ndarray, share: np.ndarray, over: np.ndarray
) -> tuple[Skis, np.ndarray]:
    """Skis that lie on terrain, and the length of the legs that goes with it.

    The pelvis stays where the evened out ground has it: legs take what is
    shorter, bending over a bump and stretching into a dip, each by its share.

    Args:
        skis: on the ground's plane.
        spring: (n,) length of the legs on it, metres.
        share: (2, n) share of the force on each ski.
        over: (2, n) how far the terrain lies over the plane at each ski, metres.
    """
    up = np.stack((np.zeros_like(over), over), axis=-1)
    taken = np.clip(np.sum(share * over, axis=0), -MOST_TAKEN, MOST_TAKEN)
    return replace(skis, base=skis.base + up, ankle=skis.ankle + up), spring - taken


def barrier(x: np.ndarray, start: float, end: float) -> np.ndarray:
    """0 up to `start`, then growing without bound towards `end`, metres.

    Beyond 0.98 of the way it goes on as a straight line, so that an iteration
    that overshoots finds its way back.

    Args:
        x: (...) values.
        start: where it begins to grow.
        end: where it is to be kept below.
    """
    t = (x - start) / (end - start)
    u = np.minimum(np.maximum(t, 0.0), 0.98)
    rest = 1.0 - u
    square = u * u
    slope = square * (3.0 - 2.0 * u) / (rest * rest)
    return 0.02 * (square * u / rest + np.maximum(t - 0.98, 0.0) * slope)


@dataclass(frozen=True)
class _Pose:
    """Both legs for a given pelvis; coordinates along and across the skis."""

    pelvis_y: np.ndarray
    ankle_y: np.ndarray
    knee: tuple[np.ndarray, np.ndarray, np.ndarray]
    rise: np.ndarray  # of the knee over the ankle, along the ski's normal
    forward: np.ndarray
    length: np.ndarray
    use: np.ndarray


class _Problem:
    """What stays the same while the pelvis is looked for."""

    def __init__(self, figure, skis, lean, share, spring, hip, trunk, skid,
                 feet: Boots | Stride) -> None:
        self.thigh, self.shin = leg_lengths(figure)
        self.skis, self.share, self.spring = skis, share, spring
        self.feet = feet
        self.cos_b, self.sin_b = np.cos(skid), np.sin(skid)
        self.tan_l = np.tan(lean)
        self.hip = np.stack(
            (
                hip[:, :, 0] * self.cos_b + hip[:, :, 1] * self.sin_b,
                hip[:, :, 1] * self.cos_b - hip[:, :, 0] * self.sin_b,
                hip[:, :, 2],
            )
        )
        self.shoulders_x = UPPER_BODY_CENTRE * trunk[:, 0]
        self.shoulders_z = UPPER_BODY_CENTRE * trunk[:, 2]
        self.cos_e, self.sin_e = np.cos(skis.edge), np.sin(skis.edge)
        if isinstance(feet, Boots):
            self.knee_up = self.shin * np.cos(feet.lean)
            self.knee_ahead = self.shin * np.sin(feet.lean)
        else:
            # Thighs and shins are about as far ahead of the hips as the trunk's centre.
            self.centre_ahead = UPPER_BODY * UPPER_BODY_CENTRE * (
                trunk[:, 1] * self.cos_b - trunk[:, 0] * self.sin_b
            ) - _LEGS_AHEAD * np.mean(self.thigh + self.shin)

    def pose(self, x: np.ndarray, z: np.ndarray) -> _Pose:
        """Legs for a pelvis at x across the skis and z over the snow."""
        thigh, shin, ankle = self.thigh, self.shin, self.skis.ankle
        hip_x, hip_y, hip_z = self.hip
        dx = x + hip_x - ankle[:, :, 0]
        dz = z + hip_z - ankle[:, :, 1]
        side = dx * self.cos_e - dz * self.sin_e
        up = dx * self.sin_e + dz * self.cos_e
        pelvis_y, ankle_y = self._fore_and_aft(hip_y, side, up)
        ahead = ankle_y - pelvis_y - hip_y
        # In the boot's plane the thigh is as long as it looks from the side.
        square = ahead * ahead + up * up
        in_plane = np.sqrt(square)
        upper = np.sqrt(np.maximum(thigh**2 - side**2, (0.2 * thigh) ** 2))
        # The shin stands at an angle of this cosine to the line from ankle to hip, which leans
        # by atan(ahead / up): cosine and sine of their sum, without the angles.
        cosine = np.clip((shin**2 + square - upper**2) / (2.0 * shin * in_plane), -1.0, 1.0)
        sine = np.sqrt(1.0 - cosine * cosine)
        rise = shin * (up * cosine - ahead * sine) / in_plane
        forward = shin * (ahead * cosine + up * sine) / in_plane
        knee = (
            ankle[:, :, 0] + rise * self.sin_e,
            ankle_y - forward,
            ankle[:, :, 1] + rise * self.cos_e,
        )
        length = np.sqrt(square + side * side)
        return _Pose(
            pelvis_y, ankle_y, knee, rise, forward, length, in_plane / (upper + shin)
        )

    def _fore_and_aft(self, hip_y, side, up) -> tuple[np.ndarray, np.ndarray]:
        """Pelvis (n,) and ankles (2, n) along the skis, forward negative."""
        feet, along = self.feet, self.skis.along
        if isinstance(feet, Boots):
            # The hip is as far behind the knee as the thigh's length leaves.
            square = self.thigh**2 - side**2 - (up - self.knee_up) ** 2
            behind = np.sqrt(0.5 * (square + np.sqrt(square * square + _SOFT**2)))
            relative = hip_y + self.knee_ahead - behind  # of the ankles to the pelvis
            half = 0.5 * (relative[0] - relative[1]) * feet.lead
            half = limited(half, 0.5 * np.asarray(feet.lead_limit))
            return -0.5 * (relative[0] + relative[1]), np.stack((half, -half))
        ankle_y = np.stack((-0.5 * feet.lead, 0.5 * feet.lead)) + along
        balanced = feet.support - self.centre_ahead
        # length^2 = (pelvis + q)^2 + side^2 + up^2 of each leg: their difference is linear in
        # the pelvis' place. Damped, since legs side by side leave it open.
        q = hip_y - ankle_y
        apart = 2.0 * (q[0] - q[1])
        square = q * q + side * side + up * up
        missing = feet.bend - (square[0] - square[1]) - apart * balanced
        shift = apart * missing / (apart * apart + (2.0 * TOGETHER) ** 2)
        return balanced + feet.hold * limited(shift, YIELD), ankle_y

    def errors(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """(2, n): legs too long for the spring; mass off the lean line. Metres."""
        pose, share = self.pose(x, z), self.share
        part = pose.length / (self.thigh + self.shin)
        stretch = barrier(pose.use, ROOM, REACH) + barrier(part, ROOM, REACH)
        fold = barrier(-part, -FOLDING, -FOLDED)
        legs = np.sum(share * pose.length + stretch - fold, axis=0) - self.spring
        hip_x, hip_y, hip_z = self.hip
        knee_x, knee_y, knee_z = pose.knee
        ankle_x, ankle_z = self.skis.ankle[:, :, 0], self.skis.ankle[:, :, 1]

        def legs_centre(hip, knee, ankle):
            return np.sum(
                THIGH * (hip + THIGH_CENTRE * (knee - hip))
                + SHANK * (knee + SHANK_CENTRE * (ankle - knee)),
                axis=0,
            )

        # Across the travel, not across the skis: there the lean is measured.
        centre_x = UPPER_BODY * (x * self.cos_b - pose.pelvis_y * self.sin_b + self.shoulders_x)
        centre_x += legs_centre(x + hip_x, knee_x, ankle_x) * self.cos_b
        centre_x -= legs_centre(pose.pelvis_y + hip_y, knee_y, pose.ankle_y) * self.sin_b
        centre_z = UPPER_BODY * (z + self.shoulders_z) + legs_centre(z + hip_z, knee_z, ankle_z)
        return np.stack((legs, centre_x - centre_z * self.tan_l))


def stand(
    figure: Figure,
    skis: Skis,
    *,
    lean: np.ndarray,
    share: np.ndarray,
    spring: np.ndarray,
    hip: np.ndarray,
    trunk: np.ndarray,
    skid: np.ndarray,
    feet: Boots | Stride,
) -> Stance:
    """Find the pelvis: centre of mass over the lean line, legs as long as the spring says.

    Two unknowns, the pelvis across the skis and over the snow, two conditions:
    Newton's method for all samples at once. Where the spring asks for more (or
    less) than a leg has, the legs resist and the spring yields.

    Args:
        figure: rest pose.
        skis: edged skis.
        lean: (n,) lean of the line from foot to centre of mass, radians.
        share: (2, n) share of the force on each ski.
        spring: (n,) wanted length of the legs, weighted by their load, metres.
        hip: (2, n, 3) hip joints relative to the pelvis, ground space.
        trunk: (n, 3) mid-point of the shoulders relative to the pelvis.
        skid: (n,) turn of the skis against the travel, radians to the left.
        feet: what places the feet fore and aft.
    """
    problem = _Problem(figure, skis, lean, share, spring, hip, trunk, skid, feet)
    reach = 0.9 * spring + 0.1  # bent rather than stretched: the search is calmer there
    x, z = reach * np.sin(lean), reach * np.cos(lean)
    x, z = newton(problem.errors, x, z)
    return _stance(problem, x, z, hip, trunk)


_LEGS_AHEAD = 0.055  # centre of both legs ahead of the hips, in leg lengths, times their mass
_SOFT = 0.002  # m^2, rounds the corner where a thigh would be too short


def _stance(problem: _Problem, x, z, hip, trunk) -> Stance:
    """All joints in ground space for a solved pelvis."""
    pose, skis = problem.pose(x, z), problem.skis
    cos_b, sin_b = problem.cos_b, problem.sin_b

    def turned(x_, y_, z_) -> np.ndarray:
        return np.stack((x_ * cos_b - y_ * sin_b, x_ * sin_b + y_ * cos_b, z_), axis=-1)

    pelvis = turned(x, pose.pelvis_y, z)
    knee = turned(*pose.knee)
    ankle = turned(skis.ankle[:, :, 0], pose.ankle_y, skis.ankle[:, :, 1])
    base = turned(skis.base[:, :, 0], pose.ankle_y - skis.along, skis.base[:, :, 1])
    middle = 0.5 * (base[0] + base[1])
    middle[:, 2] = 0.0
    thigh, shin = problem.thigh, problem.shin
    cosine = (pose.length**2 - thigh**2 - shin**2) / (2.0 * thigh * shin)
    return Stance(
        pelvis=pelvis,
        hip=pelvis + hip,
        knee=knee,
        ankle=ankle,
        base=base,
        middle=middle,
        flexion=np.arccos(np.clip(cosine, -1.0, 1.0)),
        length=pose.length,
        boot=np.arctan2(pose.forward, pose.rise),
        use=pose.use,
        spring=np.sum(problem.share * pose.length, axis=0),
        centre=centre_of_mass(pelvis, pelvis + trunk, pelvis + hip, knee, ankle),
    )


def newton(
    errors: Callable[[np.ndarray, np.ndarray], np.ndarray], x: np.ndarray, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Roots of two equations in two unknowns, for every sample by itself.

    Newton's method; between fresh slopes they are kept up to date by Broyden's
    rank-one correction, which costs one evaluation a step instead of three.

    Args:
        errors: (x, z) -> (2, n) errors in metres.
        x: (n,) first unknown, where to start, metres.
        z: (n,) second unknown, metres; kept above 0.1.

    Returns:
        x and z.
    """
    error = errors(x, z)
    size = np.hypot(*error)
    scale, fresh = np.ones_like(x), 0
    for _ in range(ITERATIONS):
        if size.max() < TOLERANCE:
            break
        if fresh == 0:
            by_x = (errors(x + _DELTA, z) - error) / _DELTA
            by_z = (errors(x, z + _DELTA) - error) / _DELTA
            fresh = FRESH
        fresh -= 1
        det = by_x[0] * by_z[1] - by_z[0] * by_x[1]
        det = np.where(np.abs(det) < 0.05, np.copysign(0.05, det), det)
        step_x = (error[1] * by_z[0] - error[0] * by_z[1]) / det
        step_z = (error[0] * by_x[1] - error[1] * by_x[0]) / det
        shrink = scale * np.minimum(1.0, LONGEST / np.maximum(np.hypot(step_x, step_z), 1e-12))
        step_x, step_z = shrink * step_x, np.maximum(shrink * step_z, 0.1 - z)
        new = errors(x + step_x, z + step_z)
        new_size = np.hypot(*new)
        miss = (new - error - by_x * step_x - by_z * step_z) / np.maximum(
            step_x * step_x + step_z * step_z, 1e-26
        )
        by_x, by_z = by_x + miss * step_x, by_z + miss * step_z
        # A step that made things worse is not taken; a shorter one with fresh
        # slopes follows. At the limit of precision nothing gets better any more.
        worse = (new_size > size) & (new_size > 10.0 * TOLERANCE)
        if np.any(worse):
            fresh = 0
            step_x, step_z = np.where(worse, 0.0, step_x), np.where(worse, 0.0, step_z)
            new, new_size = np.where(worse, error, new), np.where(worse, size, new_size)
        scale = np.where(worse, 0.35 * scale, np.minimum(1.0, 2.0 * scale))
        x, z, error, size = x + step_x, z + step_z, new, new_size
    return x, z


def centre_of_mass(
    pelvis: np.ndarray, shoulders: np.ndarray, hip: np.ndarray, knee: np.ndarray,
    ankle: np.ndarray,
) -> np.ndarray:
    """Centre of mass (n, 3) of upper body, thighs and shanks with feet (Winter's shares).

    Args:
        pelvis: (n, 3) mid-point of the hips.
        shoulders: (n, 3) mid-point of the shoulder joints.
        hip: (2, n, 3).
        knee: (2, n, 3).
        ankle: (2, n, 3).
    """
    upper_body = pelvis + UPPER_BODY_CENTRE * (shoulders - pelvis)
    legs = THIGH * (hip + THIGH_CENTRE * (knee - hip)) + SHANK * (
        knee + SHANK_CENTRE * (ankle - knee)
    )
    return UPPER_BODY * upper_body + legs.sum(axis=0)


def knee_pole(stance: Stance, index: int, distance: float) -> np.ndarray:
    """Points (n, 3) that the knees bend towards, in the plane of hip, knee and ankle.

    Args:
        stance: solved stance.
        index: 0 for L, 1 for R.
        distance: metres from the knee.
    """
    hip, knee, ankle = stance.hip[index], stance.knee[index], stance.ankle[index]
    line = ankle - hip
    off = knee - hip
    along = np.einsum("ij,ij->i", off, line) / np.einsum("ij,ij->i", line, line)
    off = off - along[:, None] * line
    return knee + distance * off / np.linalg.norm(off, axis=1)[:, None]


def side_index(side: str) -> int:
    """Place of a side in the arrays of this module.

    Args:
        side: "L" or "R".
    """
    return SIDES.index(side)
