# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of controllers as bytes, to be kept in a file and read in another version.

A header of JSON - schema, version, what the table was built from, arrays' names, types and
shapes -, then the arrays; all of it compressed behind a mark and a digest. Nothing in it
is executed, and nothing is believed before the digest agrees.
"""

from __future__ import annotations

import hashlib
import json
import zlib

import numpy as np

from .build import Table
from .grid import Axis, Grid

SCHEMA, VERSION = "poise.controller", 1
_MARK = b"POISECTL"
_TYPES = ("<f4", "<f8")
_LARGEST = 2**32  # bytes unpacked


class StoredError(ValueError):
    """Bytes that are no controller, or one of which a part was changed or lost."""


def digest(*parts: object) -> str:
    """What a controller depends on, as a short text: it is stale once this differs.

    Args:
        parts: plain data and arrays.
    """
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            part = [str(part.dtype), part.shape, part.tolist()]
        found.update(json.dumps(part, sort_keys=True, default=_plain).encode())
    return found.hexdigest()[:32]


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "__dataclass_fields__"):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    raise TypeError(f"{type(value).__name__} cannot be stored")


def pack(table: Table, source: str = "") -> bytes:
    """A table as bytes.

    Args:
        table: of single or double precision; what it holds is kept exactly.
        source: digest of what it was built from.
    """
    arrays = {f"axis {k}": axis.nodes for k, axis in enumerate(table.grid.axes)}
    arrays |= {name: getattr(table, name) for name in ("controls", "cost", "samples", "weights")}
    arrays = {
        name: np.ascontiguousarray(x, "<f4" if x.dtype == np.float32 else "<f8")
        for name, x in arrays.items()
    }
    header = {
        "schema": SCHEMA,
        "version": VERSION,
        "source": source,
        "axes": [[axis.name, axis.period] for axis in table.grid.axes],
        "arrays": [[name, x.dtype.str, x.shape] for name, x in arrays.items()],
        "sweeps": table.sweeps,
        "change": table.change,
        "unknown": table.unknown,
    }
    head = json.dumps(header).encode()
    body = len(head).to_bytes(4, "little") + head + b"".join(x.tobytes() for x in arrays.values())
    packed = zlib.compress(body, 6)
    return _MARK + hashlib.sha256(packed).digest() + packed


def unpack(data: bytes) -> tuple[Table, str]:
    """A table from bytes.

    Args:
        data: as packed.

    Returns:
        The table; the digest of what it was built from.
    """
    packed = data[len(_MARK) + 32 :]
    if not data.startswith(_MARK):
        raise StoredError("The stored controller is none: build it again")
    if hashlib.sha256(packed).digest() != data[len(_MARK) : len(_MARK) + 32]:
        raise StoredError("The stored controller is damaged: build it again")
    try:
        return _read(packed)
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        if isinstance(error, StoredError):
            raise
        raise StoredError("The stored controller cannot be read: build it again") from error


def _read(packed: bytes) -> tuple[Table, str]:
    engine = zlib.decompressobj()
    body = engine.decompress(packed, _LARGEST)
    size = int.from_bytes(body[:4], "little")
    header = json.loads(body[4 : 4 + size])
    if header["schema"] != SCHEMA:
        raise StoredError("The stored controller is none: build it again")
    if header["version"] != VERSION:
        raise StoredError(
            f"The stored controller is of version {header['version']}, and this Poise reads "
            f"version {VERSION}: build it again"
        )
    arrays, at = {}, 4 + size
    for name, kind, shape in header["arrays"]:
        if kind not in _TYPES:
            raise ValueError(kind)
        count = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(body, kind, count, at).reshape(shape)
        at += array.nbytes
        arrays[name] = array.astype(array.dtype.newbyteorder("="))
    axes = [
        Axis(name, arrays[f"axis {k}"], float(period))
        for k, (name, period) in enumerate(header["axes"])
    ]
    grid = Grid.of(axes)
    rest = {name: arrays[name] for name in ("controls", "cost", "samples", "weights")}
    if len(rest["cost"]) != grid.size or len(rest["controls"]) != grid.size:
        raise ValueError("arrays do not fit the grid")
    table = Table(
        grid, **rest, sweeps=int(header["sweeps"]), change=float(header["change"]),
        unknown=float(header["unknown"]),
    )
    return table, str(header["source"])
