# SPDX-License-Identifier: GPL-3.0-or-later
"""One way through: scene -> settings -> solver -> motion -> mapping -> role tracks.

`gather` reads Blender (main thread only) into a frozen job; `solve` is a pure
function of that job and may run in any thread. Preview and bake share both.
What differs between turning, legged and other motions is for their `families`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from math import ceil

import bpy
import numpy as np

from . import families, motions
from .digests import digest
from .errors import UserError
from .families.base import (
    SOLVER_VERSION,
    Job,
    NoMotion,
    Progress,
    Solved,
    sampled_style,
)
from .mapping.gaze import EyesStyle, with_gaze
from .mapping.tracks import RoleTracks
from .rigs import characters, control_rig
from .scene.timing import require_even_time, scene_numbers
from .settings.motion import KINDS, kinds_for

POSE = 2.0  # s of the motion that a pose is taken from

__all__ = [
    "Job",
    "NoMotion",
    "Solved",
    "changed_inputs",
    "digests",
    "gather",
    "is_planned",
    "motions_behind",
    "solve",
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
    base, own = motion.poise_motion.base, motion
    if base is None:
        chain = _chain(motion)
        jobs = _gather_chain(context, chain, motion)
    else:
        # Same travel and turns, posed with this motion's own style.
        _check_same_character(motion, base)
        if base.poise_motion.base is not None:
            raise UserError(f"{motion.name} lies on {base.name}, which lies on another motion")
        chain = _chain(base)
        jobs = _gather_chain(context, chain, base)
        at = chain.index(base)
        jobs[at] = families.family_of(jobs[at]).restyled(context, jobs[at], motion)
        motion = base
    at = chain.index(motion)
    return replace(
        jobs[at],
        before=tuple(jobs[:at]),
        following=tuple(jobs[at + 1 :]),
        eyes=_eyes(context, own, jobs[at]),
        armless=tuple(control_rig.armless(own.poise_motion.character)),
    )


def _eyes(context: bpy.types.Context, motion: bpy.types.Object, job: Job) -> EyesStyle | None:
    """How the eyes of a motion's character look ahead; None where it has none to turn."""
    if not characters.has_gaze(motion.poise_motion.character):
        return None
    frames = np.arange(job.start_frame, job.end_frame + 1.0)
    return sampled_style(context, motion, "eyes", frames)


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
            jobs.append(_gather_one(context, member))
        except UserError:
            # What cannot follow is told when it is baked itself.
            if motion.name in [job.name for job in jobs]:
                break
            raise
    return jobs


def _gather_one(context, motion) -> Job:
    settings = motion.poise_motion
    character = settings.character
    if character is None:
        raise UserError(f"{motion.name} has no character: choose one")
    require_even_time(context.scene)
    kind = characters.kind_of(character)
    if not kind:
        raise UserError(
            f"{character.name} is not a Poise character: set the rig up in the Character panel, "
            "or add a character there"
        )
    family = families.family_for(motion)
    if family.name != characters.KINDS[kind].family:
        able = kinds_for(characters.KINDS[kind].family)
        labels = [label for name, label, _text in KINDS if name in able]
        raise UserError(
            f"{character.name} cannot do {family.moves}: set Motion to {' or '.join(labels)}"
        )
    return family.gather(context, motion, kind, scene_numbers(context.scene))


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
    if job.end_frame == job.start_frame and not families.family_of(job).ends_by_itself(job):
        return _pose(job, progress)
    solved = families.family_of(job).solve(job, progress or _ignore)
    if job.eyes is None:
        return solved
    return replace(solved, tracks=with_gaze(solved.tracks, _at_samples(job.eyes, solved.tracks)))


def _pose(job: Job, progress: Progress | None) -> Solved:
    """A range of one frame: the first of a motion that goes on as it begins, since bodies look
    ahead and even out."""

    def steady(values):
        held = {
            name: float(value[0])
            for name, value in vars(values).items()
            if isinstance(value, np.ndarray) and value.shape == (1,)
        }
        return replace(values, **held)

    count = ceil(POSE * job.numbers.fps)
    own = replace(steady(job.settings), n_frames=count + 1)
    style, eyes = steady(job.style), None if job.eyes is None else steady(job.eyes)
    longer = replace(
        job, settings=own, style=style, eyes=eyes, end_frame=job.start_frame + count, following=()
    )
    if getattr(job, "cycle", False):
        longer = replace(longer, cycle=False)
    solved = solve(longer, progress)
    told = tuple(p for p in solved.motion.problems if not p.time)
    return replace(
        solved, job=job, tracks=solved.tracks.first(), motion=replace(solved.motion, problems=told)
    )


def _at_samples(eyes: EyesStyle, tracks: RoleTracks) -> EyesStyle:
    """Amounts that were sampled once a frame, at every sample of the tracks."""
    sampled = {
        name: np.interp(tracks.clock.frames, np.arange(len(values)), values)
        for name, values in vars(eyes).items()
        if isinstance(values, np.ndarray)
    }
    return replace(eyes, **sampled)


def _ignore(fraction: float) -> None:
    """Progress that nobody watches."""


def is_planned(job: Job) -> bool:
    """Whether a job can be solved without planning a path anew.

    Args:
        job: what `gather` read.
    """
    return families.family_of(job).is_planned(job)


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
        "place of the motion": None,
        "character's rest pose": job.figure,
        "motions before and after": [digests(j) for j in (*job.before, *job.following)],
        "Poise's version": SOLVER_VERSION,
    }
    parts |= families.family_of(job).inputs(job)
    return {name: digest(part) for name, part in parts.items()}


def changed_inputs(job: Job, stored: str) -> list[str]:
    """Names of the inputs that differ from those of a bake.

    Args:
        job: the job as it would be solved now.
        stored: digests as JSON, as the bake stored them; "" for none.
    """
    if not stored:
        return []
    try:
        before = dict(json.loads(stored))
    except (ValueError, TypeError):
        before = {}  # not what a bake stored: nothing is known to be the same
    return [name for name, digest in digests(job).items() if before.get(name) != digest]
