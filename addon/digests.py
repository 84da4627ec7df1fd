# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprints of what is read from a file, to tell later whether it has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass

import numpy as np


def digest(value: object) -> str:
    """Fingerprint of numbers, texts, arrays and dataclasses of them.

    Args:
        value: what to take it of.

    Returns:
        A short hexadecimal number; equal values give equal ones.
    """
    told: list[bytes] = []
    _tell(told.append, value)
    return hashlib.sha1(b"".join(told), usedforsecurity=False).hexdigest()[:16]


_PLAIN = frozenset({str, int, float, bool, type(None)})


def _tell(add: Callable[[bytes], None], value: object) -> None:
    # First what there is most of, by far.
    if value is None or isinstance(value, (str, int, float)):
        add(repr(value).encode())
    elif isinstance(value, (tuple, list)):
        for item in value:
            if type(item) in _PLAIN:
                add(repr(item).encode())
            else:
                _tell(add, item)
    elif isinstance(value, np.ndarray):
        add(str(value.shape).encode())
        add(np.ascontiguousarray(value, dtype=float).tobytes())
    elif isinstance(value, dict) or (not is_dataclass(value) and isinstance(value, Mapping)):
        for key in sorted(value):
            add(str(key).encode())
            _tell(add, value[key])
    elif is_dataclass(value):
        # What bakes of earlier builds did not know is left out while it is as it begins.
        known = (f for f in fields(value) if not (
            f.metadata.get("later") and getattr(value, f.name) == f.default
        ))
        _tell(add, {f.name: getattr(value, f.name) for f in known})
    else:
        add(repr(value).encode())
