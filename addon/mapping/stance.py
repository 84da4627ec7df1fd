# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs of a skier: two skis on the snow, boots that hold the shins, a spring.

Ground space as in `trunk`; here x is across the *skis*, which may be turned
against the direction of travel by the skid angle.

A boot lets the shin lean forward but not sideways: the knee lies in the plane
that its ski's length and its ski's normal span. From the edge angles and the
pelvis this leaves one fore-and-aft place for each ski at which the shin has
the boot's own forward lean: the more a leg is bent, the further its ski is
ahead. That is where the lead of the inside ski comes from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .signals import Amount, limited
from .tracks import SIDES, Figure

# Masses as shares of the body, and centres as shares of the segment from its
# upper joint: Winter, Biomechanics and Motor Control of Human Movement, ch. 4.
UPPER_BODY, UPPER_BODY_CENTRE = 0.678, 0.626  # head, arms, trunk; hips to shoulders
THIGH, SHANK = 0.100, 0.061  # one side; the foot counts with the shank
THIGH_CENTRE, SHANK_CENTRE = 0.433, 0.606

REACH = 0.995  # largest share of a leg's length in use
ROOM = 0.97  # share from which the leg resists stretching further
FOLDED, FOLDING = 0.42, 0.56  # share of length below which a leg resists folding
ITERATIONS = 14


@dataclass(frozen=True)
class Skis:
    """Both skis, edges set, before they are placed fore and aft. Index 0 is L, 1 is R.

    Attributes:
        edge: (2, n) edge angles in radians, + tilts the ski to the left.
        base: (2, n, 2) x and z of the running surface under the ankle.
        ankle: (2, n, 2) x and z of the ankle.
    """

    edge: np.ndarray
    base: np.ndarray
    ankle: np.ndarray


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
    return Skis(edge, base, base + sole * np.stack((sin, cos), axis=-1))


def barrier(x: np.ndarray, start: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """0 up to `start`, then growing without bound towards `end`; and its slope.

    Beyond 0.98 of the way it goes on as a straight line, so that an iteration
    that overshoots finds its way back.

    Args:
        x: (...) values.
        start: where it begins to grow.
        end: where it is to be kept below.
    """
    t = (x - start) / (end - start)
    u = np.clip(t, 0.0, 0.98)
    rest = 1.0 - u
    value = 0.02 * u**3 / rest
    slope = 0.02 * u * u * (3.0 - 2.0 * u) / rest**2
    value = value + np.maximum(t - 0.98, 0.0) * slope
    return value, np.where(t > 0.0, slope, 0.0) / (end - start)


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
    boot: Amount,
    lead: Amount,
    lead_limit: Amount,
) -> Stance:
    """Find the pelvis: centre of mass over the lean line, legs as long as the spring says.

    Unknown are the pelvis' place along the line, across it, and fore and aft;
    known are both legs' geometry in their boots. Newton's method along the
    line, fixed points for the rest, for all samples at once.

    Args:
        figure: rest pose.
        skis: edged skis.
        lean: (n,) lean of the line from foot to centre of mass, radians.
        share: (2, n) share of the force on each ski.
        spring: (n,) wanted length of the legs, weighted by their load, metres.
        hip: (2, n, 3) hip joints relative to the pelvis, ground space.
        trunk: (n, 3) mid-point of the shoulders relative to the pelvis.
        skid: (n,) turn of the skis against the travel, radians to the left.
        boot: forward lean of the shin that the boot holds, radians.
        lead: share of the lead that keeps both shins at the boot's lean.
        lead_limit: largest lead, metres.
    """
    thigh = figure.length("hip.L", "knee_joint.L")
    shin = figure.length("knee_joint.L", "foot.L")
    cos_b, sin_b = np.cos(skid), np.sin(skid)
    # Everything across and along the skis; y stays to be found.
    hip_x = hip[:, :, 0] * cos_b + hip[:, :, 1] * sin_b
    hip_y = hip[:, :, 1] * cos_b - hip[:, :, 0] * sin_b
    hip_z = hip[:, :, 2]
    cos_e, sin_e = np.cos(skis.edge), np.sin(skis.edge)
    cos_l, sin_l = np.cos(lean), np.sin(lean)
    knee_up, knee_ahead = shin * np.cos(boot), shin * np.sin(boot)
    head_x, head_z = UPPER_BODY_CENTRE * trunk[:, 0], UPPER_BODY_CENTRE * trunk[:, 2]

    distance = spring + 0.1
    slip = np.zeros_like(lean)  # pelvis across the lean line, so that the mass is on it
    pelvis_y = np.zeros_like(lean)  # along the skis
    for _ in range(ITERATIONS):
        x = (distance * sin_l + slip) / cos_b + pelvis_y * np.tan(skid)
        z = distance * cos_l
        dx = x + hip_x - skis.ankle[:, :, 0]
        dz = z + hip_z - skis.ankle[:, :, 1]
        side = dx * cos_e - dz * sin_e
        up = dx * sin_e + dz * cos_e
        rise = sin_l / cos_b
        d_side = rise * cos_e - cos_l * sin_e
        d_up = rise * sin_e + cos_l * cos_e
        # Fore and aft: the thigh's end is as far behind the knee as its length leaves.
        square = thigh**2 - side**2 - (up - knee_up) ** 2
        d_square = -2.0 * (side * d_side + (up - knee_up) * d_up)
        soft = np.hypot(square, _SOFT)
        behind = np.sqrt(0.5 * (square + soft))
        d_behind = 0.25 * (1.0 + square / soft) * d_square / behind
        ahead = knee_ahead - behind
        pelvis_y = -0.5 * np.sum(hip_y + ahead, axis=0)
        ankle_y = _lead(pelvis_y + hip_y + ahead, lead, lead_limit)
        ahead = ankle_y - pelvis_y - hip_y

        in_plane = np.hypot(ahead, up)
        length = np.hypot(in_plane, side)
        d_length = (side * d_side + up * d_up - ahead * d_behind) / length
        upper = np.sqrt(np.maximum(thigh**2 - side**2, (0.2 * thigh) ** 2))
        use = in_plane / (upper + shin)
        d_use = (up * d_up - ahead * d_behind) / (in_plane * (upper + shin))
        stretch, d_stretch = barrier(use, ROOM, REACH)
        share_used = length / (thigh + shin)
        fold, d_fold = barrier(-share_used, -FOLDING, -FOLDED)
        wanted = np.sum(share * length + stretch - fold, axis=0) - spring
        slope = np.sum(
            share * d_length + d_stretch * d_use + d_fold * d_length / (thigh + shin), axis=0
        )
        distance = distance - np.clip(wanted / np.maximum(slope, 0.2), -0.12, 0.12)
        distance = np.clip(distance, 0.15, 2.0 * (thigh + shin))

        # Where the mass is, and how far the pelvis must slip sideways for it.
        knee_x, knee_y, knee_z = _knees(skis, ankle_y, ahead, up, in_plane, upper, shin)[:3]
        pelvis_x = distance * sin_l + slip
        com_x = UPPER_BODY * (pelvis_x + head_x)
        com_z = UPPER_BODY * (z + head_z)
        turned_knee = knee_x * cos_b - knee_y * sin_b
        turned_ankle = skis.ankle[:, :, 0] * cos_b - ankle_y * sin_b
        hips_x = pelvis_x + hip[:, :, 0]
        com_x = com_x + np.sum(
            THIGH * (hips_x + THIGH_CENTRE * (turned_knee - hips_x))
            + SHANK * (turned_knee + SHANK_CENTRE * (turned_ankle - turned_knee)),
            axis=0,
        )
        com_z = com_z + np.sum(
            THIGH * (z + hip_z + THIGH_CENTRE * (knee_z - z - hip_z))
            + SHANK * (knee_z + SHANK_CENTRE * (skis.ankle[:, :, 1] - knee_z)),
            axis=0,
        )
        slip = slip + (com_z * np.tan(lean) - com_x) / 0.85
    return _stance(figure, skis, distance, slip, pelvis_y, lean, skid, hip, share, boot, lead,
                   lead_limit, trunk)


_SOFT = 0.002  # m^2, rounds the corner where a thigh would be too short


def _lead(ankle_y: np.ndarray, lead: Amount, limit: Amount) -> np.ndarray:
    """Fore-and-aft places of the ankles about their mid-point, lead scaled and held."""
    half = 0.5 * (ankle_y[0] - ankle_y[1]) * lead
    half = limited(half, 0.5 * np.asarray(limit))
    return np.stack((half, -half))


def _knees(skis, ankle_y, ahead, up, in_plane, upper, shin):
    """Knees in their boots' planes by the law of cosines; and the boots' lean."""
    cosine = (shin**2 + in_plane**2 - upper**2) / (2.0 * shin * in_plane)
    boot = np.arctan2(ahead, up) + np.arccos(np.clip(cosine, -1.0, 1.0))
    forward, rise = shin * np.sin(boot), shin * np.cos(boot)
    knee_x = skis.ankle[:, :, 0] + rise * np.sin(skis.edge)
    knee_z = skis.ankle[:, :, 1] + rise * np.cos(skis.edge)
    return knee_x, ankle_y - forward, knee_z, boot


def _stance(figure, skis, distance, slip, pelvis_y, lean, skid, hip, share, boot, lead,
            lead_limit, trunk) -> Stance:
    """All joints for a solved pelvis."""
    thigh = figure.length("hip.L", "knee_joint.L")
    shin = figure.length("knee_joint.L", "foot.L")
    cos_b, sin_b = np.cos(skid), np.sin(skid)
    x = (distance * np.sin(lean) + slip) / cos_b + pelvis_y * np.tan(skid)
    pelvis = np.stack((x, pelvis_y, distance * np.cos(lean)), axis=-1)
    local_hip = np.stack(
        (
            hip[:, :, 0] * cos_b + hip[:, :, 1] * sin_b,
            hip[:, :, 1] * cos_b - hip[:, :, 0] * sin_b,
            hip[:, :, 2],
        ),
        axis=-1,
    ) + pelvis
    cos_e, sin_e = np.cos(skis.edge), np.sin(skis.edge)
    dx = local_hip[:, :, 0] - skis.ankle[:, :, 0]
    dz = local_hip[:, :, 2] - skis.ankle[:, :, 1]
    side, up = dx * cos_e - dz * sin_e, dx * sin_e + dz * cos_e
    square = thigh**2 - side**2 - (up - shin * np.cos(boot)) ** 2
    behind = np.sqrt(0.5 * (square + np.hypot(square, _SOFT)))
    ankle_y = _lead(local_hip[:, :, 1] + shin * np.sin(boot) - behind, lead, lead_limit)
    ahead = ankle_y - local_hip[:, :, 1]
    in_plane = np.hypot(ahead, up)
    upper = np.sqrt(np.maximum(thigh**2 - side**2, (0.2 * thigh) ** 2))
    knee_x, knee_y, knee_z, in_boot = _knees(skis, ankle_y, ahead, up, in_plane, upper, shin)
    length = np.hypot(in_plane, side)
    cosine = (length**2 - thigh**2 - shin**2) / (2.0 * thigh * shin)

    def turn(points: np.ndarray) -> np.ndarray:
        out = points.copy()
        out[..., 0] = points[..., 0] * cos_b - points[..., 1] * sin_b
        out[..., 1] = points[..., 0] * sin_b + points[..., 1] * cos_b
        return out

    knee = turn(np.stack((knee_x, knee_y, knee_z), axis=-1))
    ankle = turn(np.stack((skis.ankle[:, :, 0], ankle_y, skis.ankle[:, :, 1]), axis=-1))
    base = turn(np.stack((skis.base[:, :, 0], ankle_y, skis.base[:, :, 1]), axis=-1))
    pelvis, hips = turn(pelvis), turn(local_hip)
    middle = 0.5 * (base[0] + base[1])
    middle[:, 2] = 0.0
    return Stance(
        pelvis=pelvis,
        hip=hips,
        knee=knee,
        ankle=ankle,
        base=base,
        middle=middle,
        flexion=np.arccos(np.clip(cosine, -1.0, 1.0)),
        length=length,
        boot=in_boot,
        use=in_plane / (upper + shin),
        spring=np.sum(share * length, axis=0),
        centre=centre_of_mass(pelvis, pelvis + trunk, hips, knee, ankle),
    )


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
