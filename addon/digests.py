# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprints of what is read from a file, to tell later whether it has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

import numpy as np


def digest(value: object) -> str:
    """Fingerprint of numbers, texts, arrays and dataclasses of them.

    Args:
        value: what to take it of.

    Returns:
        A short hexadecimal number; equal values give equal ones.
    """
    hasher = hashlib.sha1(usedforsecurity=False)
    _feed(hasher, value)
    return hasher.hexdigest()[:16]


def _feed(hasher, value: object) -> None:
    # First what there is most of, by far.
    if value is None or isinstance(value, (str, int, float)):
        hasher.update(repr(value).encode())
    elif isinstance(value, np.ndarray):
        hasher.update(str(value.shape).encode())
        hasher.update(np.ascontiguousarray(value, dtype=float).tobytes())
    elif is_dataclass(value):
        # What bakes of earlier builds did not know is left out while it is as it begins.
        known = (f for f in fields(value) if not (
            f.metadata.get("later") and getattr(value, f.name) == f.default
        ))
        _feed(hasher, {f.name: getattr(value, f.name) for f in known})
    elif isinstance(value, Mapping):
        for key in sorted(value):
            hasher.update(str(key).encode())
            _feed(hasher, value[key])
    elif isinstance(value, (tuple, list)):
        for item in value:
            _feed(hasher, item)
    else:
        hasher.update(repr(value).encode())
