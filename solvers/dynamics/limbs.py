# SPDX-License-Identifier: GPL-3.0-or-later
"""Mass and moments of inertia of limbs, from how long and how thick they are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import SettingError

DENSITY = 1050.0
"""kg/m^3 of a body's segments: 1.0 to 1.1 times that of water (Winter, "Biomechanics and Motor
Control of Human Movement", 2009, table 4.1)."""


class Limbs(NamedTuple):
    """What a figure is made of.

    Attributes:
        masses: (n,) kg.
        centres: (n, 3) centres of mass from the joints, m.
        inertias: (n, 3, 3) about the centres, in the axes of the tips, kg m^2.
    """

    masses: np.ndarray
    centres: np.ndarray
    inertias: np.ndarray


def limbs(
    tips: np.ndarray,
    radii: np.ndarray,
    masses: np.ndarray | None = None,
    density: float = DENSITY,
) -> Limbs:
    """Round limbs with half spheres at their ends, of even density.

    Args:
        tips: (n, 3) from each joint to the limb's other end, m.
        radii: (n,) m, above 0.
        masses: (n,) kg, or None to take them from the volume.
        density: kg/m^3.

    Returns:
        Mass, centre and moments: those of a cylinder of length L and two half spheres,
        m_c (L^2 / 12 + r^2 / 4) + m_s (2/5 r^2 + L^2 / 4 + 3/8 L r) across, m_c r^2 / 2 +
        2/5 m_s r^2 along.
    """
    tips, radii = np.asarray(tips, float), np.asarray(radii, float)
    if not (radii > 0.0).all():
        raise SettingError("Thickness", float(radii.min()), "above 0 m")
    length = np.linalg.norm(tips, axis=1)
    cylinder = np.pi * radii**2 * length
    sphere = 4.0 / 3.0 * np.pi * radii**3
    total = density * (cylinder + sphere) if masses is None else np.asarray(masses, float)
    share = cylinder / (cylinder + sphere)
    m_c, m_s = total * share, total * (1.0 - share)
    along = m_c * radii**2 / 2.0 + 0.4 * m_s * radii**2
    across = m_c * (length**2 / 12.0 + radii**2 / 4.0)
    across += m_s * (0.4 * radii**2 + length**2 / 4.0 + 0.375 * length * radii)
    axis = np.where(length[:, None] > 0.0, tips, [0.0, 1.0, 0.0])
    axis = axis / np.linalg.norm(axis, axis=1)[:, None]
    outer = axis[:, :, None] * axis[:, None, :]
    inertias = across[:, None, None] * (np.eye(3) - outer) + along[:, None, None] * outer
    return Limbs(total, 0.5 * tips, inertias)
