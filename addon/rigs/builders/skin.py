# SPDX-License-Identifier: GPL-3.0-or-later
"""Skin weights for a mesh that has none. Numpy only."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def segment_distance(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Distance of points to a line segment.

    Args:
        points: (n, 3).
        start: (3,).
        end: (3,).

    Returns:
        (n,) distances.
    """
    along = end - start
    share = np.clip((points - start) @ along / max(float(along @ along), 1e-18), 0.0, 1.0)
    return np.linalg.norm(points - start - share[:, None] * along, axis=1)


def distance_weights(
    points: np.ndarray,
    segments: Mapping[str, tuple[np.ndarray, np.ndarray]],
    softness: float,
    left: np.ndarray | None = None,
    middle: np.ndarray | None = None,
) -> np.ndarray:
    """Smooth weights by distance to bones.

    w_i ~ exp(-((d_i - d_min) / softness)^2), normalised: half and half on the
    plane between two bones, all of one beyond about twice the softness. A leg
    does not pull at the other: bones of one side (names ending in .L or .R)
    fade out within the softness beyond the middle plane.

    Args:
        points: (n, 3).
        segments: bone -> start and end, (3,) each.
        softness: metres.
        left: (3,) unit vector to the character's left, for the middle plane;
            None leaves the sides alone.
        middle: (3,) a point of the middle plane.

    Returns:
        (n, len(segments)) weights in the order of `segments`; rows sum to 1.
    """
    distances = np.stack([segment_distance(points, *ends) for ends in segments.values()], axis=1)
    nearest = distances.min(axis=1, keepdims=True)
    weights = np.exp(-(((distances - nearest) / softness) ** 2))
    if left is not None and middle is not None:
        across = np.clip((points - middle) @ left / softness, -1.0, 1.0)
        share = {".L": 0.5 * (1.0 + across), ".R": 0.5 * (1.0 - across)}
        for i, name in enumerate(segments):
            if name[-2:] in share:
                weights[:, i] *= share[name[-2:]]
    total = weights.sum(axis=1, keepdims=True)
    alone = total[:, 0] < 1e-12
    weights[alone] = distances[alone] == nearest[alone]
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
