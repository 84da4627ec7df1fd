# SPDX-License-Identifier: GPL-3.0-or-later
"""Cars: the rest pose of one, read back from its bones, and others that only stand."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np

from ...solvers import affine
from ..errors import UserError
from ..mapping.car import AXLES, PARTS, TURNTABLE, CarFigure
from ..placement import world_matrix
from .builders import figure_mesh
from .builders.car import LENGTH, STEERS, WEIGHS, WIDE, bodywork, usual
from .characters import COLOURS, CREASE

ROOT = "root"
MOST_STEERED = 1.0  # rad


def _number(armature: bpy.types.Object, name: str) -> float:
    value = armature.get(name)
    if not isinstance(value, (int, float)) or not (np.isfinite(value) and value > 0.0):
        raise UserError(
            f"Custom property {name} of {armature.name} is {value}: it must be a number above 0, "
            "so undo the change, or add the car anew"
        )
    return float(value)


def root_frame(armature: bpy.types.Object, unit_scale: float) -> tuple[np.ndarray, float]:
    """Where a car's root rests in the world, m, without scale; metres per unit of the armature.

    Args:
        armature: the car.
        unit_scale: metres per Blender unit.

    Raises:
        UserError: it has no root, or is scaled unevenly or to nothing.
    """
    if ROOT not in armature.data.bones:
        raise UserError(f"{armature.name} has lost its bone {ROOT}: add the car anew")
    world = np.array(world_matrix(armature), dtype=float)
    scale = np.linalg.norm(world[:3, :3], axis=0)
    if not np.isfinite(world).all() or scale.min() < 1e-8 or scale.max() / scale.min() > 1.001:
        raise UserError(
            f"{armature.name} is scaled to nothing or unevenly: give it the same scale along "
            "every axis"
        )
    frame = world @ np.array(armature.data.bones[ROOT].matrix_local, dtype=float)
    frame[:3, :3] /= float(scale.mean())
    frame[:3, 3] *= unit_scale
    return frame, float(scale.mean()) * unit_scale


def read_car(armature: bpy.types.Object) -> CarFigure:
    """The rest pose of a car, as seen from its root, in units of its armature.

    Args:
        armature: the car.

    Raises:
        UserError: it has lost a bone or a number, or its wheels stand nowhere.
    """
    bones = armature.data.bones
    lost = next((name for name in (ROOT, *PARTS) if name not in bones), "")
    if lost:
        raise UserError(f"{armature.name} has lost its bone {lost}: add the car anew")
    back = affine.inverse(np.array(bones[ROOT].matrix_local, dtype=float))

    def at(place) -> np.ndarray:
        return back[:3, :3] @ np.array(place, dtype=float) + back[:3, 3]

    parts = (ROOT, *PARTS, *(name for name in (TURNTABLE, *AXLES) if name in bones))
    joints = {name: at(bones[name].head_local) for name in parts}
    helm = bones["steering_wheel"]
    column = back[:3, :3] @ np.array(helm.vector, dtype=float) / max(helm.length, 1e-12)
    figure = CarFigure(
        joints, _number(armature, LENGTH), _number(armature, WIDE), column,
        _number(armature, WEIGHS),
    )
    if STEERS in armature:
        steering = _number(armature, STEERS)
        if steering > MOST_STEERED:
            raise UserError(
                f"Custom property {STEERS} of {armature.name} is {steering:.3g}: it must be at "
                f"most {MOST_STEERED} rad"
            )
        figure = replace(figure, steering=steering)
    low = min(float(joints[name][2]) for name in PARTS if "wheel." in name)
    if not (low > 0.0 and figure.wheelbase > 0.0 and figure.track > 0.0):
        raise UserError(
            f"The wheels of {armature.name} are not where a car's are, in front and behind, above "
            "the ground: put the bones back, or set the car up anew"
        )
    return figure


PAINTS = ((0.040, 0.110, 0.260), (0.420, 0.430, 0.440))


def parked(length: float, unit_scale: float) -> list[bpy.types.Object]:
    """Cars without an armature, facing -Y, linked to no collection; one for each of PAINTS.

    Args:
        length: m.
        unit_scale: metres per Blender unit.
    """
    surface = bodywork(usual(length))
    scaled = replace(surface, points=surface.points / unit_scale)
    found = []
    for paint in PAINTS:
        shades = COLOURS | {"paint": paint}
        materials = {
            part: figure_mesh.make_material(part, shades[part])
            for part in figure_mesh.PARTS if part in set(surface.materials)
        }
        found.append(
            figure_mesh.make_mesh_object(scaled, "Parked Car", materials, CREASE["Equipment"])
        )
    return found
