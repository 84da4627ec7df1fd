# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that follow each other at very different heights.

Where feet stand on both sides of a high step for a moment, hips have to be low
enough for the lower leg, though the upper one folds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..times import over_spans
from .footholds import Footholds, step_height
from .steps import Steps


@dataclass(frozen=True)
class HighSteps:
    """Where the legs of a girdle go over high steps, one after the other.

    Attributes:
        steps: numbers of the steps of those that stand on both sides for a moment.
        events: (e,) touchdowns of the later and liftoffs of the earlier ones of them, s.
        spans: (k, 2) from midstance to midstance, s.
        rise: (k,) height of the step between them, m.
        together: (k,) bool: both are on the ground for a moment.
    """

    steps: np.ndarray
    events: np.ndarray
    spans: np.ndarray
    rise: np.ndarray
    together: np.ndarray

    def rise_at(self, time: np.ndarray) -> np.ndarray:
        """How high a step is on whose both sides feet stand about given times.

        Args:
            time: (n,) s.

        Returns:
            (n,) m, 0 where there is none.
        """
        found = np.zeros(len(time))
        begin, end = self.spans[self.together].T
        over_spans(np.maximum, found, time, begin - 1e-6, end + 1e-6, self.rise[self.together])
        return found


def find_high_steps(
    steps: Steps,
    legs: np.ndarray,
    middle: np.ndarray,
    holds: Footholds,
    least: tuple[float, float],
) -> HighSteps:
    """Supports of a girdle that follow each other, one much higher than the other.

    Args:
        steps: the steps of all legs.
        legs: (k,) those of the girdle.
        middle: (m,) midstances, s.
        holds: their footholds.
        least: how high steps are at least between feet that are on the ground together, and
            between those that are not, m.

    Returns:
        The high steps.
    """
    of = np.flatnonzero(np.isin(steps.leg, legs))
    of = of[np.argsort(steps.on[of], kind="stable")]
    one, two = of[:-1], of[1:]
    place, up = holds.position, holds.normal
    rise = step_height(place[one], up[one], place[two], up[two])
    together = steps.on[two] < steps.off[one]
    pairs = (rise > np.where(together, *least)) & np.isfinite(steps.on[two])
    pairs &= np.isfinite(steps.off[one])
    one, two, rise, together = one[pairs], two[pairs], rise[pairs], together[pairs]
    first, then = one[together], two[together]
    return HighSteps(
        np.concatenate((first, then)),
        np.unique(np.concatenate((steps.on[then], steps.off[first]))),
        np.stack((middle[one], middle[two]), axis=1), rise, together,
    )
