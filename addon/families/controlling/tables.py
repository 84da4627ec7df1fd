# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of controllers: kept with the Motion object, judged, and built where nothing is kept.

A table depends on the figure and on its plan, whose digest is kept with it: one of another
digest is out of date, and one that was changed or damaged is not believed.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ....solvers.control.build import Table
from ....solvers.control.plans import Plan
from ....solvers.control.stored import StoredError, pack, unpack
from ....solvers.motion import Problem
from ... import store
from ...digests import digest
from ...errors import UserError
from ...settings.control import TABLE
from .figures import FIGURES
from .figures.base import MachineFigure, Told

SCHEMA, VERSION = "poise.controller", 1
BUILT, STALE, MISSING = "BUILT", "STALE", "MISSING"

HEAVY = 64 * 2**20
"""Bytes of a file above which tables are worth a warning."""

MOST = 16
_known: OrderedDict[str, Table] = OrderedDict()
"""Tables that were built or read in this session, by what they are of."""


@dataclass(frozen=True)
class Kept:
    """What a file has of a table.

    Attributes:
        source: digest of what it was built of.
        data: the table, packed.
    """

    source: str
    data: bytes


def source_of(machine: str, body: Any, plan: Plan) -> str:
    """Digest of all that a table depends on.

    Args:
        machine: what mechanical figure it is of.
        body: of the figure.
        plan: of the controller.
    """
    said = (plan.coordinates, plan.controls, plan.destinations, plan.power)
    of = FIGURES[machine].built_of(body)
    return digest((machine, of, said, plan.program, plan.amount))


def keep(motion: bpy.types.Object, number: int, table: Table, source: str) -> int:
    """Keep a table with a Motion object, in place of what was kept.

    Args:
        motion: the Motion object.
        number: of the controller.
        table: the table.
        source: digest of what it was built of.

    Returns:
        How many bytes it takes.
    """
    data = pack(table, source)
    words = np.frombuffer(data + b"\0" * (-len(data) % 4), "<i4").astype(np.int32)
    store.put(motion, TABLE.format(number), SCHEMA, VERSION, {
        "source": source, "size": str(len(data)), "data": words,
        "sweeps": str(table.sweeps), "change": repr(table.change),
    })
    return len(data)


def kept(motion: bpy.types.Object, number: int) -> Kept | None:
    """What a Motion object has of a table; None for nothing.

    Args:
        motion: the Motion object.
        number: of the controller.

    Raises:
        store.Spoilt: it is not what was kept.
    """
    held = store.get(motion, TABLE.format(number), SCHEMA, VERSION)
    if held is None:
        return None
    try:
        data = np.asarray(held["data"]).astype("<i4").tobytes()[: int(held["size"])]
        return Kept(str(held["source"]), data)
    except store.SPOILT as error:
        raise store.Spoilt("it is not what was kept") from error


def is_known(source: str) -> bool:
    """Whether a table was built or read in this session, so that the file's is not asked for.

    Args:
        source: digest of what it is built of.
    """
    return source in _known


def forget(motion: bpy.types.Object, number: int) -> None:
    """Remove a table.

    Args:
        motion: the Motion object.
        number: of the controller.
    """
    if TABLE.format(number) in motion:
        del motion[TABLE.format(number)]


def state_of(motion: bpy.types.Object, number: int, source: str) -> str:
    """Whether a controller is BUILT, STALE or MISSING, without reading its table.

    Args:
        motion: the Motion object.
        number: of the controller.
        source: digest of what it would be built of now.
    """
    group = motion.get(TABLE.format(number))
    if group is None:
        return MISSING
    try:
        return BUILT if group["source"] == source else STALE
    except store.SPOILT:
        return STALE


def convergence(motion: bpy.types.Object, number: int) -> tuple[int, float] | None:
    """Sweeps in which a kept table's costs were found, and s that the last one changed them by.

    Args:
        motion: the Motion object.
        number: of the controller.

    Returns:
        Both; None where no table is kept, or where it does not say.
    """
    group = motion.get(TABLE.format(number))
    try:
        return None if group is None else (int(group["sweeps"]), float(group["change"]))
    except store.SPOILT:
        return None


def table_for(
    figure: MachineFigure, source: str, body: Any, plan: Plan, data: bytes | None, told: Told,
    asked: bool = False,
) -> tuple[Table | None, tuple[Problem, ...]]:
    """A controller's table: as known, as the file has it, or built.

    Args:
        figure: whose.
        source: digest of what it is built of.
        body: of the figure.
        plan: of the controller.
        data: what the file has of it; None for nothing.
        told: called with the share that is done.
        asked: whether somebody waits for it to be built, however long that takes.

    Returns:
        The table, None of what needs none; what is to be told.

    Raises:
        UserError: it is not built, and that would take long.
    """
    if source in _known:
        _known.move_to_end(source)
        return _known[source], ()
    problems: tuple[Problem, ...] = ()
    table, stale = None, False
    if data is not None:
        try:
            found, of = unpack(data)
            table, stale = (found, False) if of == source else (None, True)
        except StoredError:
            problems = (Problem(
                "CONTROLLER_DAMAGED", f"The stored table of {plan.name} is damaged: it was built "
                "anew", "INFO", remedy="Click Build, to store it anew",
            ),)
    if table is None:
        if not (asked or figure.quick(body, plan)):
            why = "was built before something about it changed" if stale else "is not built yet"
            raise UserError(f"Controller {plan.name} {why}: click Build")
        table = figure.build(body, plan, told)
    if table is not None:
        _known[source] = table
        while len(_known) > MOST:
            _known.popitem(last=False)
    return table, problems


def sound(motion: bpy.types.Object, number: int, source: str) -> bool:
    """Whether a controller's table is kept, is of what it would be built of now, and is whole.

    Args:
        motion: the Motion object.
        number: of the controller.
        source: digest of what it would be built of now.
    """
    try:
        found = kept(motion, number)
        return found is not None and unpack(found.data)[1] == source
    except (store.Spoilt, StoredError):
        return False


def size_of(motion: bpy.types.Object) -> int:
    """Bytes that a motion's tables take in a file.

    Args:
        motion: the Motion object.
    """
    total = 0
    for item in motion.poise_motion.control.controllers:
        try:
            found = kept(motion, item.number)
        except store.Spoilt:
            continue
        total += 0 if found is None else len(found.data)
    return total
