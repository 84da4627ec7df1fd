# SPDX-License-Identifier: GPL-3.0-or-later
"""Cages of rings, and their Catmull-Clark surfaces with weights. Numpy only.

A figure is modelled the way an artist does it by hand: a coarse cage of
quads with clean loops around the joints, which subdivision makes smooth.
Skin weights are given to the cage's rings and subdivided by the same rule, so
they are as smooth as the surface and still sum to one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

# Key of a face's material, or one entry for each corner's share of the face
# after a level of subdivision (see `stripe`).
Material = str | tuple


@dataclass(frozen=True)
class Surface:
    """A polygon mesh with materials and weights.

    Attributes:
        points: (v, 3) positions.
        faces: one tuple of vertex indices per face.
        materials: one material key per face.
        bones: names of the weight columns.
        weights: (v, len(bones)), rows sum to 1.
        smooth: one flag per face: smooth shading.
    """

    points: np.ndarray
    faces: list[tuple[int, ...]]
    materials: list[str]
    bones: tuple[str, ...]
    weights: np.ndarray
    smooth: list[bool]


@dataclass
class Cage:
    """A mesh under construction: points with weights, faces with materials."""

    points: list[np.ndarray] = field(default_factory=list)
    weights: list[dict[str, float]] = field(default_factory=list)
    faces: list[tuple[int, ...]] = field(default_factory=list)
    materials: list[Material] = field(default_factory=list)

    def add(
        self, points, weights: Mapping[str, float] | Sequence[Mapping[str, float]]
    ) -> list[int]:
        """Add points and return their indices.

        Args:
            points: (n, 3).
            weights: bone -> weight, for all of them or one each.
        """
        first = len(self.points)
        self.points.extend(np.asarray(point, dtype=float) for point in points)
        count = len(self.points) - first
        each = [weights] * count if isinstance(weights, Mapping) else list(weights)
        if len(each) != count:
            raise ValueError(f"{len(each)} weights for {count} points")
        self.weights.extend(dict(weight) for weight in each)
        return list(range(first, first + count))

    def face(self, corners: Sequence[int], material: Material) -> None:
        """Add one face.

        Args:
            corners: vertex indices, anticlockwise seen from outside.
            material: key, or a tuple as `stripe` makes.
        """
        self.faces.append(tuple(corners))
        self.materials.append(material)

    def bridge(self, lower: Sequence[int], upper: Sequence[int], material, closed=True) -> None:
        """Join two rings of equal length by quads.

        Outside is to the right of the way from one point of a ring to the
        next, seen with `upper` above `lower`.

        Args:
            lower: first ring.
            upper: second ring.
            material: key, or a function from the segment's index to a key.
            closed: the rings are loops.
        """
        count = len(lower)
        if len(upper) != count:
            raise ValueError(f"Rings of {count} and {len(upper)} points cannot be joined")
        for i in range(count if closed else count - 1):
            k = (i + 1) % count
            key = material(i) if callable(material) else material
            self.face((lower[i], lower[k], upper[k], upper[i]), key)

    def cap(self, ring: Sequence[int], material, bulge=(0.0, 0.0, 0.0), top=True) -> None:
        """Close a ring with a fan of quads about its middle.

        Args:
            ring: even number of points.
            material: key, or a function from the index of a quad's first segment to a key.
            bulge: (3,) offset of the middle from the mean of the ring.
            top: the ring is the end of a tube; False: its start.
        """
        count = len(ring)
        middle = np.mean([self.points[i] for i in ring], axis=0) + np.asarray(bulge)
        weights: dict[str, float] = {}
        for i in ring:
            for bone, weight in self.weights[i].items():
                weights[bone] = weights.get(bone, 0.0) + weight / count
        (centre,) = self.add([middle], weights)
        for i in range(0, count, 2):
            a, b, c = ring[i], ring[(i + 1) % count], ring[(i + 2) % count]
            key = material(i) if callable(material) else material
            self.face((a, b, c, centre) if top else (centre, c, b, a), key)

    def tube(self, rings: Sequence[Sequence[int]], material, start="", end="") -> None:
        """Bridge rings in turn.

        Args:
            rings: rings of equal length.
            material: key for all, or one per gap (each as in `bridge`).
            start: material of the cap at the first ring, or "" for none.
            end: material of the cap at the last ring, or "" for none.
        """
        for i, (lower, upper) in enumerate(zip(rings[:-1], rings[1:], strict=True)):
            self.bridge(lower, upper, material[i] if isinstance(material, list) else material)
        if start:
            self.cap(rings[0], start, top=False)
        if end:
            self.cap(rings[-1], end)

    def mirrored(self) -> Cage:
        """The mirror image in X, with the sides of its bones exchanged."""
        swap = {"L": "R", "R": "L"}

        def name(bone: str) -> str:
            return bone[:-1] + swap[bone[-1]] if bone[-2:] in (".L", ".R") else bone

        flip = np.array([-1.0, 1.0, 1.0])
        return Cage(
            [point * flip for point in self.points],
            [{name(bone): value for bone, value in weight.items()} for weight in self.weights],
            [face[::-1] for face in self.faces],
            [_reversed_material(material, True) for material in self.materials],
        )

    def surface(self, levels: int, smooth: bool = True) -> Surface:
        """The cage after some levels of Catmull-Clark subdivision.

        Args:
            levels: 0 leaves the cage as it is.
            smooth: shade smooth.
        """
        self._tidy()
        bones = tuple(sorted({bone for weight in self.weights for bone in weight}))
        column = {bone: i for i, bone in enumerate(bones)}
        values = np.zeros((len(self.points), 3 + len(bones)))
        values[:, :3] = self.points
        for row, weight in enumerate(self.weights):
            total = sum(weight.values())
            for bone, value in weight.items():
                values[row, 3 + column[bone]] = value / total
        faces: list[tuple[int, ...]] = list(self.faces)
        materials = list(self.materials)
        for _ in range(levels):
            values, faces, materials = catmull_clark(values, faces, materials)
        plain = [_plain_material(material) for material in materials]
        return Surface(values[:, :3], faces, plain, bones, values[:, 3:], [smooth] * len(faces))

    def _tidy(self) -> None:
        """Drop unused points; turn the faces outwards."""
        used = sorted({corner for face in self.faces for corner in face})
        place = {old: new for new, old in enumerate(used)}
        self.points = [self.points[i] for i in used]
        self.weights = [self.weights[i] for i in used]
        self.faces = [tuple(place[i] for i in face) for face in self.faces]
        if signed_volume(np.array(self.points), self.faces) < 0.0:
            self.faces = [face[::-1] for face in self.faces]
            self.materials = [_reversed_material(material, True) for material in self.materials]


def stripe(key: str, rest: str, edge: int, depth: int) -> Material:
    """Material of a quad that is striped along one of its edges.

    A material may be a tuple: one entry for each corner's share of the face
    after one level of subdivision.

    Args:
        key: material along the edge.
        rest: material of the rest of the face.
        edge: 0 is the edge from the first to the second corner.
        depth: levels of subdivision; the stripe is 1 / 2^depth of the face.
    """
    if depth == 0:
        return key
    shares: list[Material] = [rest] * 4
    shares[edge] = stripe(key, rest, 0, depth - 1)
    shares[(edge + 1) % 4] = stripe(key, rest, 3, depth - 1)
    return tuple(shares)


def _reversed_material(material: Material, whole: bool) -> Material:
    """The material of a face whose corners run the other way round."""
    if isinstance(material, str):
        return material
    shares = [_reversed_material(share, False) for share in material]
    return tuple(shares[::-1]) if whole else (shares[0], shares[3], shares[2], shares[1])


def _plain_material(material: Material) -> str:
    return material if isinstance(material, str) else _plain_material(material[2])


def signed_volume(points: np.ndarray, faces: Sequence[Sequence[int]]) -> float:
    """Volume inside a mesh; negative if its faces look inwards.

    Args:
        points: (v, 3).
        faces: polygons.
    """
    points = np.asarray(points) - np.mean(points, axis=0)
    triangles = np.array(
        [(face[0], face[i], face[i + 1]) for face in faces for i in range(1, len(face) - 1)]
    )
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return float(np.sum(a * np.cross(b, c)) / 6.0)


def catmull_clark(
    values: np.ndarray, faces: list[tuple[int, ...]], materials: list[Material]
) -> tuple[np.ndarray, list[tuple[int, ...]], list[Material]]:
    """One level of Catmull-Clark subdivision (Catmull and Clark 1978).

    Every column of `values` is subdivided alike. Boundaries follow the cubic
    B-spline rule.

    Args:
        values: (v, c) per vertex, positions and anything else.
        faces: polygons.
        materials: one per face, inherited; see `stripe` for tuples.

    Returns:
        The same three, of the finer mesh; all faces are quads.
    """
    count = len(values)
    sizes = np.array([len(face) for face in faces])
    corners = np.concatenate([np.asarray(face) for face in faces])
    face_of = np.repeat(np.arange(len(faces)), sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    following = np.arange(len(corners)) + 1
    following[starts + sizes - 1] = starts
    ends = corners[following]

    face_points = np.zeros((len(faces), values.shape[1]))
    np.add.at(face_points, face_of, values[corners])
    face_points /= sizes[:, None]

    pairs = np.sort(np.stack([corners, ends], axis=1), axis=1)
    edges, edge_of = np.unique(pairs, axis=0, return_inverse=True)
    edge_of = edge_of.ravel()
    uses = np.bincount(edge_of, minlength=len(edges))
    middles = 0.5 * (values[edges[:, 0]] + values[edges[:, 1]])
    inner = uses == 2
    around = np.zeros_like(middles)
    np.add.at(around, edge_of, face_points[face_of])
    edge_points = middles.copy()
    edge_points[inner] = 0.5 * middles[inner] + 0.25 * around[inner]

    valence = np.zeros(count)
    np.add.at(valence, corners, 1.0)
    face_mean = np.zeros_like(values)
    np.add.at(face_mean, corners, face_points[face_of])
    edge_count = np.zeros(count)
    edge_mean = np.zeros_like(values)
    for end in (0, 1):
        np.add.at(edge_count, edges[:, end], 1.0)
        np.add.at(edge_mean, edges[:, end], middles)
    n = np.maximum(valence, 1.0)[:, None]
    moved = (
        face_mean / n + 2.0 * edge_mean / np.maximum(edge_count, 1.0)[:, None] + (n - 3.0) * values
    ) / n
    rim = edges[~inner]
    on_rim = np.zeros(count, dtype=bool)
    on_rim[rim.ravel()] = True
    rim_sum = np.zeros_like(values)
    np.add.at(rim_sum, rim[:, 0], values[rim[:, 1]])
    np.add.at(rim_sum, rim[:, 1], values[rim[:, 0]])
    moved[on_rim] = 0.75 * values[on_rim] + 0.125 * rim_sum[on_rim]
    unused = valence == 0
    moved[unused] = values[unused]

    before = np.empty(len(corners), dtype=int)
    before[following] = np.arange(len(corners))
    quads = np.stack(
        [
            corners,
            count + edge_of,
            count + len(edges) + face_of,
            count + edge_of[before],
        ],
        axis=1,
    )
    finer = np.concatenate([moved, edge_points, face_points])
    shares = [
        material if isinstance(material, str) else material[k]
        for material, size in zip(materials, sizes, strict=True)
        for k in range(size)
    ]
    return finer, [tuple(quad) for quad in quads.tolist()], shares


def joined(surfaces: Sequence[Surface]) -> Surface:
    """Several surfaces as one, not welded.

    Args:
        surfaces: at least one.
    """
    bones = tuple(sorted({bone for surface in surfaces for bone in surface.bones}))
    column = {bone: i for i, bone in enumerate(bones)}
    offset = 0
    points, weights = [], []
    faces: list[tuple[int, ...]] = []
    materials: list[str] = []
    smooth: list[bool] = []
    for surface in surfaces:
        points.append(surface.points)
        table = np.zeros((len(surface.points), len(bones)))
        table[:, [column[bone] for bone in surface.bones]] = surface.weights
        weights.append(table)
        faces.extend(tuple(i + offset for i in face) for face in surface.faces)
        materials.extend(surface.materials)
        smooth.extend(surface.smooth)
        offset += len(surface.points)
    return Surface(np.concatenate(points), faces, materials, bones, np.concatenate(weights), smooth)


def ring(centre, x_axis, y_axis, x_radius, front, back, angles, exponent=2.0) -> np.ndarray:
    """Points of a (super)ellipse whose two halves may differ in depth.

    x = rx sgn(cos a)|cos a|^(2/e), y likewise, with the depth `back` where
    sin a > 0 and `front` where it is negative.

    Args:
        centre: (3,).
        x_axis: (3,) unit vector at angle 0.
        y_axis: (3,) unit vector at 90 degrees, to the back.
        x_radius: half-width.
        front: half-depth against `y_axis`.
        back: half-depth along `y_axis`.
        angles: radians.
        exponent: 2 an ellipse, larger squarer.
    """
    angles = np.asarray(angles, dtype=float)
    c, s = np.cos(angles), np.sin(angles)
    power = 2.0 / exponent
    x = np.sign(c) * np.abs(c) ** power * x_radius
    depth = np.where(s > 0.0, back, front)
    y = np.sign(s) * np.abs(s) ** power * depth
    return np.asarray(centre) + x[:, None] * np.asarray(x_axis) + y[:, None] * np.asarray(y_axis)


def even_angles(count: int, start: float = 0.0) -> np.ndarray:
    """Angles once around, evenly spaced.

    Args:
        count: how many.
        start: the first, radians.
    """
    return start + np.arange(count) * (2.0 * np.pi / count)


def turned(vector: np.ndarray, axis: np.ndarray, angle: float) -> np.ndarray:
    """Rodrigues' rotation of vectors (rows) about a unit axis.

    Args:
        vector: (..., 3).
        axis: (3,) unit.
        angle: radians.
    """
    vector = np.asarray(vector, dtype=float)
    return (
        vector * np.cos(angle)
        + np.cross(axis, vector) * np.sin(angle)
        + axis * (vector @ axis)[..., None] * (1.0 - np.cos(angle))
    )


def between(start: np.ndarray, end: np.ndarray, fraction: float, vectors: np.ndarray) -> np.ndarray:
    """Vectors carried part of the shortest rotation from one direction to another.

    Args:
        start: (3,) unit direction.
        end: (3,) unit direction.
        fraction: 0 leaves them, 1 carries them all the way.
        vectors: (n, 3).
    """
    axis = np.cross(start, end)
    sine = np.linalg.norm(axis)
    if sine < 1e-9:
        return np.asarray(vectors, dtype=float)
    angle = np.arctan2(sine, float(np.dot(start, end)))
    return turned(vectors, axis / sine, angle * fraction)
