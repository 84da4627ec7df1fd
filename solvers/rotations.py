# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations as arrays of unit quaternions, time first.

A quaternion is w, x, y, z (Hamilton, as in Blender); arrays are (..., 4) with
time on the first axis. `multiply(a, b)` turns by b first, then by a, so that
`rotate(multiply(a, b), v) == rotate(a, rotate(b, v))`.

Euler angles follow Blender: order "XYZ" turns about the fixed X axis first,
then Y, then Z (matrix Rz Ry Rx).

Sources: Shoemake 1985 (quaternions, slerp); Shoemake, Graphics Gems IV, 1994
(the general Euler order); Shepperd 1978 (quaternion of a matrix).
"""

from __future__ import annotations

import numpy as np

EULER_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")

# Which component of q, and with which sign, stands where in the matrix of p -> p q.
_RIGHT_INDEX = np.array(((0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0)))
_RIGHT_SIGN = np.array(((1.0, -1, -1, -1), (1, 1, 1, -1), (1, -1, 1, 1), (1, 1, -1, 1)))

# Rows that are multiplied at once. Libraries share longer products out to threads, which
# takes five times as long as one thread needs for matrices as small as these.
_ROWS = 8192

_GIMBAL = 1e-7  # cosine of the middle angle below which the outer two merge


def identity(count: int) -> np.ndarray:
    """(count, 4) quaternions that do not turn anything.

    Args:
        count: number of rows.
    """
    out = np.zeros((count, 4))
    out[:, 0] = 1.0
    return out


def normalise(vectors: np.ndarray) -> np.ndarray:
    """Vectors scaled to length 1 along the last axis; null vectors stay null.

    Args:
        vectors: (..., k) array.
    """
    vectors = np.asarray(vectors, dtype=float)
    length = np.sqrt(dot(vectors, vectors))[..., None]
    if length.all():
        return vectors / length
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0.0)


def dot(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Inner products (...) along the last axis, which is short: component by component.

    Args:
        first: (..., k) vectors.
        second: (..., k) vectors, broadcast against `first`.
    """
    out = first[..., 0] * second[..., 0]
    for k in range(1, first.shape[-1]):
        out += first[..., k] * second[..., k]
    return out


def cross(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Vector products (..., 3).

    Args:
        first: (..., 3) vectors.
        second: (..., 3) vectors, broadcast against `first`.
    """
    ax, ay, az = first[..., 0], first[..., 1], first[..., 2]
    bx, by, bz = second[..., 0], second[..., 1], second[..., 2]
    shape = first.shape
    if second.shape != shape:
        shape = np.broadcast_shapes(shape, second.shape)
    out = _components(3, shape[:-1])
    out[..., 0] = ay * bz - az * by
    out[..., 1] = az * bx - ax * bz
    out[..., 2] = ax * by - ay * bx
    return out


def multiply(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Hamilton product: turn by `second`, then by `first`.

    Args:
        first: (..., 4) quaternions.
        second: (..., 4) quaternions, broadcast against `first`.
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    aw, ax, ay, az = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bw, bx, by, bz = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    out = _components(4, np.broadcast_shapes(a.shape[:-1], b.shape[:-1]))
    out[..., 0] = aw * bw - ax * bx - ay * by - az * bz
    out[..., 1] = aw * bx + ax * bw + ay * bz - az * by
    out[..., 2] = aw * by - ax * bz + ay * bw + az * bx
    out[..., 3] = aw * bz + ax * by - ay * bx + az * bw
    return out


def times(quaternions: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """`multiply` by the same turn everywhere: one product of matrices, three times as fast.

    Args:
        quaternions: (n, 4) quaternions.
        constant: (4,) quaternion, whose turn comes first.
    """
    return product(right_product(constant), np.asarray(quaternions, dtype=float))


def product(matrix: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """One small matrix times every row, (n, k), each component of it in one piece.

    Args:
        matrix: (k, m) the matrix.
        rows: (n, m) what it is multiplied by.
    """
    count = len(rows)
    out = np.empty((len(matrix), count))
    for first in range(0, count, _ROWS):
        part = slice(first, first + _ROWS)
        np.matmul(matrix, rows[part].T, out=out[:, part])
    return out.T


def right_product(quaternions: np.ndarray) -> np.ndarray:
    """Matrices (..., 4, 4) that take a quaternion p to p q.

    Args:
        quaternions: (..., 4) the q.
    """
    q = np.asarray(quaternions, dtype=float)
    return q[..., _RIGHT_INDEX] * _RIGHT_SIGN


def _components(count: int, shape: tuple[int, ...]) -> np.ndarray:
    """Room for (*shape, count) numbers, each component in one piece: so it is faster."""
    return np.empty((count, *shape[::-1])).T


def conjugate(quaternions: np.ndarray) -> np.ndarray:
    """The opposite turn (inverse of a unit quaternion).

    Args:
        quaternions: (..., 4) unit quaternions.
    """
    return np.asarray(quaternions, dtype=float) * np.array((1.0, -1.0, -1.0, -1.0))


def rotate(quaternions: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors turned by unit quaternions: v + 2 w (u x v) + 2 u x (u x v).

    Args:
        quaternions: (..., 4) unit quaternions, u their vector part.
        vectors: (..., 3) vectors, broadcast against the quaternions.
    """
    q, v = np.asarray(quaternions, dtype=float), np.asarray(vectors, dtype=float)
    w, ux, uy, uz = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    vx, vy, vz = v[..., 0], v[..., 1], v[..., 2]
    tx = 2.0 * (uy * vz - uz * vy)
    ty = 2.0 * (uz * vx - ux * vz)
    tz = 2.0 * (ux * vy - uy * vx)
    out = _components(3, np.broadcast_shapes(q.shape[:-1], v.shape[:-1]))
    out[..., 0] = vx + w * tx + uy * tz - uz * ty
    out[..., 1] = vy + w * ty + uz * tx - ux * tz
    out[..., 2] = vz + w * tz + ux * ty - uy * tx
    return out


def rotate_one(quaternions: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """`rotate` for one vector everywhere: u x v comes from a product of matrices.

    Args:
        quaternions: (n, 4) unit quaternions.
        vector: (3,) the vector.
    """
    q = np.asarray(quaternions, dtype=float)
    w, *u = q.T
    x, y, z = vector
    twice = 2.0 * np.array(((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0)))
    t = product(twice, q[:, 1:]).T
    out = w * t
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        out[k] += u[i] * t[j]
        out[k] -= u[j] * t[i]
        out[k] += vector[k]
    return out.T


def from_axis_angle(axes: np.ndarray, angles: np.ndarray | float) -> np.ndarray:
    """Quaternions that turn about axes, right-handed.

    Args:
        axes: (..., 3) axes, of any length above 0.
        angles: (...) angles in radians, broadcast against the axes.
    """
    axes = normalise(axes)
    half = 0.5 * np.asarray(angles, dtype=float)
    shape = np.broadcast_shapes(axes.shape[:-1], half.shape)
    out = np.empty((*shape, 4))
    out[..., 0] = np.cos(half)
    out[..., 1:] = np.broadcast_to(axes, (*shape, 3)) * np.broadcast_to(np.sin(half), shape)[
        ..., None
    ]
    return out


def from_rotation_vector(vectors: np.ndarray) -> np.ndarray:
    """Quaternions that turn about a vector by its length in radians.

    Args:
        vectors: (..., 3) rotation vectors.
    """
    vectors = np.asarray(vectors, dtype=float)
    angles = np.sqrt(dot(vectors, vectors))
    out = _components(4, angles.shape)
    out[..., 0] = np.cos(0.5 * angles)
    # sin(t / 2) / t, which numpy's sinc has without a division by zero.
    out[..., 1:] = vectors * (0.5 * np.sinc(angles / (2.0 * np.pi)))[..., None]
    return out


def to_rotation_vector(quaternions: np.ndarray) -> np.ndarray:
    """Rotation vectors of unit quaternions, by the shorter way: at most pi long.

    Args:
        quaternions: (..., 4) unit quaternions.

    Returns:
        (..., 3) radians.
    """
    q = np.asarray(quaternions, dtype=float)
    q = np.where(q[..., :1] < 0.0, -q, q)
    sine = np.sqrt(dot(q[..., 1:], q[..., 1:]))
    angle = 2.0 * np.arctan2(sine, q[..., 0])
    scale = np.where(sine > 1e-12, angle / np.where(sine > 1e-12, sine, 1.0), 2.0)
    return q[..., 1:] * scale[..., None]


def about_x(angles: np.ndarray | float) -> np.ndarray:
    """Quaternions that turn about +X.

    Args:
        angles: (...) angles in radians.
    """
    return _about(1, angles)


def about_y(angles: np.ndarray | float) -> np.ndarray:
    """Quaternions that turn about +Y.

    Args:
        angles: (...) angles in radians.
    """
    return _about(2, angles)


def about_z(angles: np.ndarray | float) -> np.ndarray:
    """Quaternions that turn about +Z.

    Args:
        angles: (...) angles in radians.
    """
    return _about(3, angles)


def _about(component: int, angles: np.ndarray | float) -> np.ndarray:
    half = 0.5 * np.asarray(angles, dtype=float)
    out = np.zeros((*half.shape, 4))
    out[..., 0] = np.cos(half)
    out[..., component] = np.sin(half)
    return out


def to_matrix(quaternions: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of unit quaternions; columns are the turned axes.

    Args:
        quaternions: (..., 4) unit quaternions.
    """
    q = np.asarray(quaternions, dtype=float)
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    out = np.moveaxis(np.empty((3, 3, *w.shape[::-1])).T, (-2, -1), (-1, -2))
    out[..., 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    out[..., 0, 1] = 2.0 * (x * y - w * z)
    out[..., 0, 2] = 2.0 * (x * z + w * y)
    out[..., 1, 0] = 2.0 * (x * y + w * z)
    out[..., 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    out[..., 1, 2] = 2.0 * (y * z - w * x)
    out[..., 2, 0] = 2.0 * (x * z - w * y)
    out[..., 2, 1] = 2.0 * (y * z + w * x)
    out[..., 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    return out


def from_matrix(matrices: np.ndarray) -> np.ndarray:
    """Unit quaternions of rotation matrices, by the largest component (Shepperd).

    Args:
        matrices: (..., 3, 3) rotation matrices.
    """
    m = np.asarray(matrices, dtype=float)
    m00, m11, m22 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    # Four times the square of each component; at least one of them is >= 1.
    squares = (
        1 + m00 + m11 + m22, 1 + m00 - m11 - m22, 1 - m00 + m11 - m22, 1 - m00 - m11 + m22
    )
    x_w, y_w, z_w = (
        m[..., 2, 1] - m[..., 1, 2],
        m[..., 0, 2] - m[..., 2, 0],
        m[..., 1, 0] - m[..., 0, 1],
    )
    x_y, x_z, y_z = (
        m[..., 1, 0] + m[..., 0, 1],
        m[..., 0, 2] + m[..., 2, 0],
        m[..., 2, 1] + m[..., 1, 2],
    )
    rows = (
        (squares[0], x_w, y_w, z_w),
        (x_w, squares[1], x_y, x_z),
        (y_w, x_y, squares[2], y_z),
        (z_w, x_z, y_z, squares[3]),
    )
    largest = np.maximum(np.maximum(squares[0], squares[1]), np.maximum(squares[2], squares[3]))
    out = _components(4, largest.shape)
    open_ = np.ones(largest.shape, dtype=bool)
    for row, square in zip(rows, squares, strict=True):
        chosen = open_ & (square == largest)
        if chosen.any():
            for i, values in enumerate(row):
                np.copyto(out[..., i], values, where=chosen)
            open_ &= ~chosen
    return normalise(out)


def between(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Shortest turns that bring one direction onto another.

    Opposite directions have no shortest turn: there the turn is about an axis
    square to `start`, chosen from `start` alone.

    Args:
        start: (..., 3) vectors of any length above 0.
        end: (..., 3) vectors, broadcast against `start`.
    """
    a, b = np.broadcast_arrays(normalise(start), normalise(end))
    inner = dot(a, b)
    out = np.empty((*inner.shape, 4))
    out[..., 0] = 1.0 + inner
    out[..., 1:] = cross(a, b)
    opposite = out[..., 0] < 1e-9
    if np.any(opposite):
        square = np.cross(a, np.eye(3)[np.argmin(np.abs(a), axis=-1)])
        out[opposite, 0] = 0.0
        out[opposite, 1:] = square[opposite]
    return normalise(out)


def slerp(start: np.ndarray, end: np.ndarray, amount: np.ndarray | float) -> np.ndarray:
    """Turns at constant rate from one quaternion to another, the short way round.

    Args:
        start: (..., 4) unit quaternions.
        end: (..., 4) unit quaternions.
        amount: (...) 0 gives `start`, 1 gives `end`.
    """
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    t = np.asarray(amount, dtype=float)
    far = dot(a, b) < 0.0
    if far.any():
        b = np.where(far[..., None], -b, b)
    # atan2 of chord lengths keeps its precision for nearly equal turns.
    chord, other = a - b, a + b
    angle = 2.0 * np.arctan2(np.sqrt(dot(chord, chord)), np.sqrt(dot(other, other)))
    sine = np.sin(angle)
    small = sine < 1e-9
    safe = np.where(small, 1.0, sine)
    weight_a = np.where(small, 1.0 - t, np.sin((1.0 - t) * angle) / safe)
    weight_b = np.where(small, t, np.sin(t * angle) / safe)
    return normalise(weight_a[..., None] * a + weight_b[..., None] * b)


def continuous(quaternions: np.ndarray) -> np.ndarray:
    """The same turns with signs chosen so that neighbours in time never flip.

    q and -q are the same turn, but a curve between them is not; the first
    sample is given w >= 0 (its first non-zero component positive), then every
    sample the sign that is nearer to the one before. Where that changes nothing,
    the array itself comes back.

    Args:
        quaternions: (n, ..., 4) unit quaternions, time first.
    """
    q = np.asarray(quaternions, dtype=float)
    if len(q) == 0:
        return q
    sign = np.ones(q.shape[:-1])
    first = q[0]
    lead = np.take_along_axis(first, np.argmax(np.abs(first) > 1e-12, -1)[..., None], -1)[..., 0]
    sign[0] = np.where(lead < 0.0, -1.0, 1.0)
    sign[1:] = np.where(dot(q[1:], q[:-1]) < 0.0, -1.0, 1.0)
    if (sign > 0.0).all():
        return q
    return q * np.cumprod(sign, axis=0)[..., None]


def swing_twist(quaternions: np.ndarray, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split turns into a twist about an axis and a swing of that axis.

    q = swing * twist: twist first, about `axis`, then the swing, whose own
    axis is square to it. A half-turn swing leaves the twist undefined: it is
    then none.

    Args:
        quaternions: (..., 4) unit quaternions.
        axis: (3,) axis of the twist, of any length above 0.

    Returns:
        swing (..., 4) and twist (..., 4).
    """
    q = np.asarray(quaternions, dtype=float)
    axis = normalise(axis)
    along = q[..., 1:] @ axis
    twist = np.empty_like(q)
    twist[..., 0] = q[..., 0]
    twist[..., 1:] = along[..., None] * axis
    undefined = np.hypot(q[..., 0], along) < 1e-9
    twist[undefined] = (1.0, 0.0, 0.0, 0.0)
    twist = normalise(twist)
    return multiply(q, conjugate(twist)), twist


def twist_angle(quaternions: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Angle of the twist about an axis in radians, -pi to pi (see `swing_twist`).

    Args:
        quaternions: (..., 4) unit quaternions.
        axis: (3,) axis of the twist.
    """
    q = np.asarray(quaternions, dtype=float)
    angle = 2.0 * np.arctan2(q[..., 1:] @ normalise(axis), q[..., 0])
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


def _axes(order: str) -> tuple[int, int, int, float]:
    if order not in EULER_ORDERS:
        raise ValueError(f"Euler order is {order!r}: it must be one of {', '.join(EULER_ORDERS)}")
    i, j, k = ("XYZ".index(letter) for letter in order)
    return i, j, k, 1.0 if (j - i) % 3 == 1 else -1.0


def from_euler(angles: np.ndarray, order: str = "XYZ") -> np.ndarray:
    """Unit quaternions of Euler angles.

    Args:
        angles: (..., 3) angles in radians about X, Y and Z (in that place,
            whatever the order).
        order: one of EULER_ORDERS; the first letter turns first.

    Raises:
        ValueError: unknown order.
    """
    i, j, k, _ = _axes(order)
    a = np.asarray(angles, dtype=float)
    inner = multiply(_about(j + 1, a[..., j]), _about(i + 1, a[..., i]))
    return multiply(_about(k + 1, a[..., k]), inner)


def to_euler(quaternions: np.ndarray, order: str = "XYZ") -> np.ndarray:
    """Euler angles of turns over time, without jumps.

    Every turn has two sets of angles (and each angle any number of whole
    turns); the set nearest to the one before is taken, starting from the one
    whose middle angle is within +-90 degrees. Where the middle angle makes the
    outer two axes coincide (gimbal lock), the third angle stays as it was.

    Args:
        quaternions: (n, ..., 4) unit quaternions, time first.
        order: one of EULER_ORDERS.

    Returns:
        (n, ..., 3) angles in radians about X, Y and Z.

    Raises:
        ValueError: unknown order.
    """
    i, j, k, parity = _axes(order)
    m = to_matrix(quaternions)
    middle_cosine = np.hypot(m[..., i, i], m[..., j, i])
    first = np.arctan2(parity * m[..., k, j], m[..., k, k])
    middle = np.arctan2(-parity * m[..., k, i], middle_cosine)
    third = np.arctan2(parity * m[..., j, i], m[..., i, i])
    locked = middle_cosine < _GIMBAL
    if np.any(locked):
        third = _hold(third, locked)
        # With the third angle known, undo it and read the first off the rest.
        undone = multiply(conjugate(_about(k + 1, third)), quaternions)
        undone = to_matrix(undone)
        first = np.where(locked, np.arctan2(-parity * undone[..., j, k], undone[..., j, j]), first)
    angles = np.empty((*first.shape, 3))
    angles[..., i], angles[..., j], angles[..., k] = first, middle, third
    if len(angles) < 2:
        return angles
    steps = np.diff(angles, axis=0)
    if np.abs(steps).max() < 1.0:
        # The other set, half a turn off in two angles, is farther; nothing is to be unwrapped.
        return angles
    other = angles + np.pi
    other[..., j] = np.pi - middle
    stay = np.sum(np.abs(_wrap(steps)), axis=-1)
    swap = np.sum(np.abs(_wrap(angles[1:] - other[:-1])), axis=-1)
    # Both sets swap places together, so one parity over time tells which to take.
    swaps = np.cumsum(swap < stay - 1e-9, axis=0) % 2 == 1
    angles[1:] = np.where(swaps[..., None], other[1:], angles[1:])
    return np.unwrap(angles, axis=0)


def _hold(values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Values with masked samples replaced by the last unmasked one (or 0)."""
    index = np.arange(len(values)).reshape((-1,) + (1,) * (values.ndim - 1))
    last = np.maximum.accumulate(np.where(mask, -1, index), axis=0)
    held = np.take_along_axis(values, np.maximum(last, 0), axis=0)
    return np.where(mask & (last < 0), 0.0, held)


def _wrap(angles: np.ndarray) -> np.ndarray:
    return (angles + np.pi) % (2.0 * np.pi) - np.pi
