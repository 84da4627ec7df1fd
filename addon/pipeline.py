# SPDX-License-Identifier: GPL-3.0-or-later
"""One way through: scene -> settings -> solver -> motion -> mapping -> role tracks.

`gather` reads Blender (main thread only) into a frozen job; `solve` is a pure
function of that job and may run in any thread. Preview and bake share both.
What differs between turning, legged and other motions is for their `families`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import bpy

from . import families, motions
from .baked import beneath
from .digests import digest
from .errors import UserError
from .families.base import SOLVER_VERSION, Job, NoMotion, Progress, Solved
from .families.family import Family
from .mapping.handover import taken_over
from .mapping.rows import rows_of
from .rigs.actor import Actor
from .rigs.pose.plays import NOTHING
from .scene.timing import require_even_time, scene_numbers

__all__ = [
    "Job",
    "NoMotion",
    "Solved",
    "changed_inputs",
    "digests",
    "gather",
    "motions_behind",
    "named",
    "solve",
    "stored_inputs",
]


def gather(context: bpy.types.Context, motion: bpy.types.Object) -> Job:
    """Read a motion and everything it depends on out of Blender.

    Args:
        context: Blender's context; its scene counts.
        motion: the Motion object.

    Returns:
        The frozen job.

    Raises:
        UserError: something about scene or character must be put right first.
        SettingError: a setting is outside what the solver can take.
    """
    base = motion.poise_motion.base
    if base is None:
        chain = _chain(motion)
        jobs = _gather_chain(context, chain, motion)
        at = chain.index(motion)
    else:
        # Same travel and turns, posed with this motion's own style.
        _check_same_character(motion, base)
        if base.poise_motion.base is not None:
            raise UserError(f"{motion.name} lies on {base.name}, which lies on another motion")
        chain = _chain(base)
        jobs = _gather_chain(context, chain, base)
        at = chain.index(base)
        jobs[at] = families.family_of(jobs[at]).restyled(context, jobs[at], motion)
    return _in_run(jobs, at)


def _in_run(jobs: Sequence[Job], at: int) -> Job:
    """A job with the motions of its family that it is solved with, and what they go on from."""
    family = families.family_of(jobs[at])
    first, end = at, at + 1
    while first and families.family_of(jobs[first - 1]) is family:
        first -= 1
    while end < len(jobs) and families.family_of(jobs[end]) is family:
        end += 1
    return replace(
        jobs[at],
        before=tuple(jobs[first:at]),
        following=tuple(jobs[at + 1 : end]),
        arrives=_in_run(jobs[:first], first - 1) if first else None,
    )


def motions_behind(motion: bpy.types.Object) -> list[bpy.types.Object]:
    """Every Motion object whose settings have a say in a motion, itself included.

    Args:
        motion: the Motion object.

    Raises:
        UserError: the motions build on each other in a circle.
    """
    base = motion.poise_motion.base
    return _chain(motion) if base is None else [motion, *_chain(base)]


def _check_same_character(motion, other) -> None:
    if other.poise_motion.character != motion.poise_motion.character:
        raise UserError(f"{motion.name} builds on {other.name}, which moves another character")


def _chain(motion: bpy.types.Object) -> list[bpy.types.Object]:
    """The motions that a motion continues, itself, and those that continue it."""
    chain = [motion]
    while (before := chain[0].poise_motion.after) is not None:
        _check_same_character(chain[0], before)
        if before in chain:
            raise UserError(f"{motion.name} continues itself through After: clear one After")
        chain.insert(0, before)
    character = motion.poise_motion.character
    others = motions.motions_of(character) if character is not None else []
    while True:
        following = [
            other
            for other in others
            if other.poise_motion.after == chain[-1]
            and other.poise_motion.base is None
            and other not in chain
        ]
        if not following:
            return chain
        chain.append(following[0])


def _gather_chain(context, chain, motion) -> list[Job]:
    """Motions that continue each other, up to one after `motion` that cannot be read."""
    jobs: list[Job] = []
    for member in chain:
        try:
            if jobs and jobs[-1].end_frame == jobs[-1].start_frame:
                raise UserError(
                    f"{member.name} goes on from {jobs[-1].name}, which is one frame long "
                    f"({jobs[-1].start_frame}), a pose: set its End after Start, or clear After"
                )
            if jobs:
                _require_handover(families.family_of(jobs[-1]), jobs[-1].name, member)
            jobs.append(_gather_one(context, member))
        except UserError:
            # What cannot follow is told when it is baked itself.
            if motion.name in [job.name for job in jobs]:
                break
            raise
    return jobs


def _require_handover(one: Family, before: str, motion: bpy.types.Object) -> None:
    """Refuse a motion that cannot go on from the one before it, of a family and name."""
    other = families.family_for(motion)
    if one is other:
        return
    turns = [family.joints or family.lies for family in (one, other)]
    if turns[0] != turns[1]:
        raise UserError(
            f"{motion.name} cannot go on from {before}, since "
            f"{before if turns[0] else motion.name} turns single joints and the other one moves "
            "the whole figure: clear its After"
        )


def _gather_one(context, motion) -> Job:
    settings = motion.poise_motion
    character = settings.character
    if character is None:
        raise UserError(f"{motion.name} has no character: choose one")
    require_even_time(context.scene)
    family = families.family_for(motion)
    actor = Actor.of(character, beneath(motion) if family.lies else NOTHING)
    why = family.able(actor)
    if why:
        others = [families.label(kind) for kind in families.kinds_for(actor)]
        ways = [f"set Motion to {' or '.join(others)}"] if others else []
        if not actor.kind:
            ways = ["set the rig up in the Character panel", "add a character there", *ways]
        raise UserError(f"{why}: {', or '.join(ways)}")
    return family.gather(context, motion, actor, scene_numbers(context.scene))


def solve(job: Job, progress: Progress | None = None) -> Solved:
    """Solve a job: pure, no Blender, any thread.

    Args:
        job: what `gather` read.
        progress: called with the fraction done; may raise `Cancelled`.

    Returns:
        Motion and role tracks.

    Raises:
        SettingError: a setting is outside what the solver can take.
        Cancelled: the progress callback asked to stop.
    """
    before = None
    if job.arrives is not None:
        last = solve(job.arrives, progress)
        before = families.family_of(job.arrives).ends(last)
    family = families.family_of(job)
    solved = family.solve(job, before, progress or _ignore)
    if before is None or job.before:
        return solved
    near = family.near(solved)
    return replace(
        solved, tracks=taken_over(solved.tracks, before, near=near),
        near=None if near is None else taken_over(near, before, near=near),
    )


def _ignore(fraction: float) -> None:
    """Progress that nobody watches."""


def digests(job: Job) -> dict[str, str]:
    """Fingerprints of what went into a job, one per input the animator knows.

    Args:
        job: what `gather` read.

    Returns:
        input -> short hexadecimal digest; equal digests give equal keys.
    """
    # In the order in which the panel lists them.
    parts: dict[str, object] = {
        "settings": None,
        "body style": job.style if job.eyes is None else (job.style, job.eyes),
        "frame range": (job.start_frame, job.end_frame),
        "frame rate": job.numbers.fps,
        "gravity": job.numbers.gravity,
        "unit scale": job.numbers.unit_scale,
        "place of the motion": None if job.links is None else job.links.world,
        "character's rest pose": job.figure if job.links is None else job.links.rests,
        "motions before and after": [
            digests(j) for j in (*job.before, *job.following, *filter(None, [job.arrives]))
        ],
        "Poise's version": SOLVER_VERSION,
    }
    parts |= families.family_of(job).inputs(job)
    return {name: digest(part) for name, part in parts.items()}


def named(job: Job) -> dict[str, str]:
    """Fingerprints of what inputs are made of and the animator knows by name.

    Args:
        job: what `gather` read.

    Returns:
        "input/label" -> digest.
    """
    found = dict(families.family_of(job).named(job))
    styles: list[tuple[Any, type]] = [
        (style, type(style)) for style in (job.style, job.eyes) if style is not None
    ]
    found["body style"] = {
        row.label: getattr(style, row.name) for style, kind in styles for row in rows_of(kind)
    }
    return {
        f"{name}/{label}": digest(value)
        for name, parts in found.items() for label, value in parts.items()
    }


def stored_inputs(job: Job) -> str:
    """What a bake keeps, for `changed_inputs` to tell later what has changed since.

    Args:
        job: what was baked.
    """
    return json.dumps(digests(job) | named(job))


def changed_inputs(job: Job, stored: str) -> list[str]:
    """Names of the inputs that differ from those of a bake, or of what in them differs.

    Args:
        job: the job as it would be solved now.
        stored: what `stored_inputs` gave; "" for none.
    """
    if not stored:
        return []
    try:
        before = dict(json.loads(stored))
    except (ValueError, TypeError):
        before = {}  # not what a bake stored: nothing is known to be the same
    changed = [name for name, digest in digests(job).items() if before.get(name) != digest]
    parts = named(job) if changed else {}
    found: list[str] = []
    for name in changed:
        # Bakes of earlier builds know no parts.
        known = {part for part in parts if part.startswith(f"{name}/") and part in before}
        found += [
            part.removeprefix(f"{name}/") for part in parts
            if part in known and parts[part] != before[part]
        ] or [name]
    return list(dict.fromkeys(found))
