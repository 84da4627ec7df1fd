# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the eyes look: at the coming path, farther ahead than the head. Numpy only.

A head turns to where it looks only in part, within what a neck can turn and in
the time that it takes. Eyes do the rest. They look at the point straight above
the path, some time ahead, that lies as high as the head looks, so that it is
the head alone that looks up and down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import radians

import numpy as np

from ...solvers import rotations
from . import rows
from .amounts import within_ranges
from .signals import Amount, limited
from .tracks import GAZE, HEAD, ROOT, RoleTracks

# As far as eyes turn in their sockets before a head has to come along.
EYE_LIMIT = radians(35.0)

# A path that goes hardly on is looked along from this far ahead, m.
NEAREST = 1.0


@dataclass(frozen=True)
class EyesStyle:
    """How eyes look ahead; amounts may be sampled."""

    amount: Amount = rows.amount("Eyes Ahead", 0.7, 1.0, (0.0, 1.0),
        "How far the eyes turn to where the way goes; 0 leaves them with the head",
        unit="FACTOR", section="Eyes")
    look_ahead: Amount = rows.amount("Eyes Look Ahead", 1.1, 3.0, (0.0, 5.0),
        "How many seconds ahead the eyes look along the way", unit="TIME_ABSOLUTE")
    limit: Amount = rows.angle("Eyes Limit", 25, (0, 35), (0, 35),
        "Largest turn of the eyes against the head, up to 35 degrees")


def point_ahead(tracks: RoleTracks, ahead: Amount) -> np.ndarray:
    """Points (n, 3) of the world that eyes look at: above where the root will be.

    Past its end the path goes on straight. The point lies in the plane through the
    head's joint that the head holds level: point = p + t u with (point - h) . z = 0,
    where p is on the path, u the root's up, h the head and z its up.

    Args:
        tracks: root and head, with places of both.
        ahead: how long ahead it is, s.
    """
    time, path = tracks.time, tracks.position[ROOT]
    count = len(time)
    forward = rotations.rotate_one(tracks.rotation[ROOT], np.array([0.0, -1.0, 0.0]))
    if count > 1:
        spacing = (time[-1] - time[0]) / (count - 1)
        where = np.arange(count) + np.maximum(ahead, 0.0) / spacing
        low = np.minimum(where.astype(int), count - 2)
        there = path[low] + (where - low)[:, None] * (path[low + 1] - path[low])
    else:
        there = path
    way = there - path
    short = np.maximum(NEAREST - np.linalg.norm(way, axis=1), 0.0)
    there = there + short[:, None] * forward
    up = rotations.rotate_one(tracks.rotation[ROOT], np.array([0.0, 0.0, 1.0]))
    level = rotations.rotate_one(tracks.rotation[HEAD], np.array([0.0, 0.0, 1.0]))
    head = tracks.position[HEAD]
    # A head that lies on its side has no such plane: the height of the head will do.
    upright = np.maximum(np.einsum("ij,ij->i", up, level), 0.3)
    rise = np.einsum("ij,ij->i", head - there, level) / upright
    return there + rise[:, None] * up


def with_gaze(tracks: RoleTracks, eyes: EyesStyle) -> RoleTracks:
    """Tracks with a role for eyes that look ahead; the same where no head is known.

    The gaze turns about the head's own up by the angle to the point ahead, within
    the limit, times the amount.

    Args:
        tracks: tracks of a body.
        eyes: how they look; sampled amounts have one value per sample of the tracks.
    """
    if HEAD not in tracks.rotation or HEAD not in tracks.position or ROOT not in tracks.rotation:
        return tracks
    eyes, problems = within_ranges(eyes)
    head = tracks.rotation[HEAD]
    view = point_ahead(tracks, eyes.look_ahead) - tracks.position[HEAD]
    own = rotations.rotate(rotations.conjugate(head), view)
    yaw = eyes.amount * limited(np.arctan2(own[:, 0], -own[:, 1]), eyes.limit)
    turned = rotations.multiply(head, rotations.about_z(yaw))
    # A fix would name an amount of the body's own style.
    named = tuple(replace(p, fix=()) for p in problems)
    return replace(
        tracks,
        rotation={**tracks.rotation, GAZE: rotations.continuous(turned)},
        problems=tracks.problems + named,
    )
