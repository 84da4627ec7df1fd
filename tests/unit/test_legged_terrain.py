# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes as ground for feet: layers, holes, normals."""

import numpy as np
import pytest
from poise.solvers.legged.footholds import place_footholds
from poise.solvers.legged.terrain import MeshGround, way_over
from poise.solvers.path.terrain import TerrainMesh


def plane(height, low=-10.0, high=10.0, slope=0.0):
    """Two triangles: height + slope x over a square."""
    corners = np.array(((low, low), (high, low), (high, high), (low, high)))
    points = np.column_stack((corners, height + slope * corners[:, 0]))
    return points, np.array(((0, 1, 2), (0, 2, 3)))


def together(*parts):
    points, faces, count = [], [], 0
    for part_points, part_faces in parts:
        points.append(part_points)
        faces.append(part_faces + count)
        count += len(part_points)
    return TerrainMesh(np.concatenate(points), np.concatenate(faces))


STRAIGHT = np.array(((0.0, -8.0, 0.3), (0.0, 8.0, 0.3)))


def test_heights_and_normals_are_those_of_the_plane():
    mesh = together(plane(1.0, slope=0.5))
    ground = MeshGround(mesh, way_over(mesh, STRAIGHT))
    x, y = np.random.default_rng(0).uniform(-9.0, 9.0, (2, 50))
    height, normal, hit = ground(x, y)
    assert hit.all()
    assert height == pytest.approx(1.0 + 0.5 * x, abs=1e-9)
    assert normal == pytest.approx(np.tile(np.array((-0.5, 0.0, 1.0)) / np.sqrt(1.25), (50, 1)))


@pytest.mark.parametrize(("start", "layer"), [(0.3, 0.0), (2.9, 3.0)])
def test_a_way_keeps_to_the_layer_that_it_starts_on(start, layer):
    # A roof over the ground all along, another that covers only the end of the way.
    mesh = together(plane(0.0), plane(3.0), plane(1.4, 2.0, 9.0))
    way = STRAIGHT.copy()
    way[:, 2] = start
    ground = MeshGround(mesh, way_over(mesh, way))
    y = np.linspace(-7.9, 7.9, 40)
    height, _normal, hit = ground(np.full(40, 0.2), y)
    assert hit.all() and height == pytest.approx(np.full(40, layer))


def test_a_hole_is_no_ground_and_feet_are_set_down_beside_it():
    # Two halves with a gap of half a metre between.
    near = np.array(((-9.0, -9.0, 0.0), (9.0, -9.0, 0.0), (9.0, -0.25, 0.0), (-9.0, -0.25, 0.0)))
    far = near * (1.0, -1.0, 1.0)
    faces = np.array(((0, 1, 2), (0, 2, 3)))
    mesh = together((near, faces), (far, faces))
    ground = MeshGround(mesh, way_over(mesh, STRAIGHT))
    _height, normal, hit = ground(np.zeros(3), np.array((-1.0, 0.0, 1.0)))
    assert hit.tolist() == [True, False, True]
    assert normal[1].tolist() == [0.0, 0.0, 1.0]
    wanted = np.array(((0.0, -1.0), (0.0, 0.1), (0.0, 1.2)))
    holds = place_footholds(
        wanted, np.pi * np.ones(3), np.zeros(3, dtype=int), ground, 0.5, 0.6, 0.9, 0.0
    )
    assert holds.moved[[0, 2]].tolist() == [0.0, 0.0]
    assert abs(holds.position[1, 1]) >= 0.25 - 1e-9


def test_places_that_are_nowhere_have_no_ground():
    mesh = together(plane(0.0))
    ground = MeshGround(mesh, way_over(mesh, STRAIGHT))
    _height, _normal, hit = ground(np.array((np.nan, 0.0, 1e9)), np.array((0.0, np.inf, 0.0)))
    assert not hit.any()
