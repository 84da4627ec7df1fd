# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn of legged motion. Numpy only.

On the ground the body's way, the lean in bends, and every footprint as the
outline of its sole, coloured by leg and numbered; at the current frame the
figure as lines, and what its feet stand on.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from math import degrees, inf

import numpy as np

from ....solvers.errors import SettingError
from ....solvers.ik import two_bone
from ....solvers.legged import Creature, Footprint, GaitMotion
from ....solvers.legged.gait import spoken_leg
from ....solvers.rotations import rotate
from ...drawing import diagrams
from ...drawing.strokes import (
    LIFT,
    PATH_COLOUR,
    Mark,
    Palette,
    Strokes,
    path_strokes,
    polyline_segments,
)
from ...mapping.legs import LegChain, LeggedFigure
from ...mapping.tracks import RoleTracks
from ...settings.gait import preset_for
from ..view import View, Way
from .job import SolvedGait
from .numbers import distance_of, label, numbers_of, stride_times

BANK_COLOUR = (1.0, 1.0, 1.0, 0.6)
EDITED_COLOUR = (1.0, 1.0, 1.0, 1.0)
EVERY = 0.5  # hip heights from one line of the bank to the next along the way
LEAST_BANK = 0.02  # rad; less is not drawn
CORNERS = 20  # of a footprint's outline
NARROW = 0.38  # of a sole: its half width, as a share of its length
NAMED = 4  # up to so many legs the corner of the viewport names those on the ground
POINT = 0.05  # hip heights: half length of the print of a foot that is a point


def usual_speeds(solved: SolvedGait | None, gait: str) -> str:
    """The speeds at which animals of that size use a gait, in words.

    Args:
        solved: a motion of the animal; None while none is there.
        gait: name of a preset.

    Returns:
        Such as "1.8 to 5.9 m/s"; empty where nothing is known.
    """
    # What was solved last may be another kind of motion, or for other legs.
    if solved is None or not isinstance(solved.motion, GaitMotion):
        return ""
    creature = solved.motion.creature
    try:
        made = preset_for(gait, tuple(leg.name for leg in creature.legs))
    except SettingError:
        return ""
    low, high = made.usual_speeds(creature.hip_height(), solved.job.settings.gravity)
    if high < inf:
        return f"{low:.1f} to {high:.1f} m/s"
    return f"from {low:.1f} m/s" if low > 0.0 else ""


def leg_colour(creature: Creature, leg: str) -> tuple[float, float, float, float]:
    """Colour of a leg, as in the gait diagram.

    Args:
        creature: the animal.
        leg: name of the leg.
    """
    return diagrams.leg_colour([each.name for each in creature.legs], leg)


def outline(creature: Creature, footprint: Footprint) -> np.ndarray:
    """A footprint as the outline of the sole on the ground.

    Args:
        creature: what walks.
        footprint: the footprint.

    Returns:
        (k, 3) closed polyline, m.
    """
    leg = next(each for each in creature.legs if each.name == footprint.leg)
    size = POINT * creature.hip_height()
    ahead, behind = max(leg.toe, 0.3 * size, 0.0), max(leg.heel, 0.0)
    if ahead + behind < 1.5 * size:
        ahead = behind = size
    half, middle = 0.5 * (ahead + behind), 0.5 * (ahead - behind)
    around = np.linspace(0.0, 2.0 * np.pi, CORNERS + 1)
    # Rounder at the heel, pointed at the toe.
    wide = NARROW * half * (1.0 - 0.25 * np.cos(around))
    shape = np.stack(
        (wide * np.sin(around), -(middle + half * np.cos(around)), 0.0 * around), axis=1
    )
    turn = np.tile(footprint.orientation, (len(shape), 1))
    return footprint.position + rotate(turn, shape + (0.0, 0.0, LIFT))


def track_strokes(solved: SolvedGait, palette: Palette) -> list[Strokes]:
    """The body's way on the ground, its bank, and the footprints.

    Args:
        solved: the solved motion.
        palette: colours.
    """
    motion = solved.motion
    creature = motion.creature
    level = np.column_stack((motion.position[:, :2], _ground(motion) + LIFT))
    strokes = [path_strokes(level, palette.track, 2.0)]
    banks = _bank_lines(motion, level)
    if len(banks):
        colours = np.tile(np.asarray(BANK_COLOUR), (len(banks), 1))
        strokes.append(Strokes(banks, colours, 1.0, False))
    for leg in creature.legs:
        lines = [outline(creature, p) for p in motion.footprints if p.leg == leg.name]
        if lines:
            points = polyline_segments(lines)
            colours = np.tile(np.asarray(leg_colour(creature, leg.name)), (len(points), 1))
            strokes.append(Strokes(points, colours, 2.0))
    edited = [outline(creature, p) for p in motion.footprints if p.edited]
    if edited:
        points = polyline_segments(edited)
        colours = np.tile(np.asarray(EDITED_COLOUR), (len(points), 1))
        strokes.append(Strokes(points, colours, 4.0))
    return strokes


def _ground(motion: GaitMotion) -> np.ndarray:
    """Height of the ground under the body, as its standing feet have it, m."""
    height = np.full(len(motion.time), np.nan)
    for leg in range(motion.contact.shape[1]):
        down = motion.contact[:, leg]
        height[down] = np.fmin(height[down], motion.foot_position[down, leg, 2])
    known = np.flatnonzero(np.isfinite(height))
    if not len(known):
        return motion.foot_position[:, :, 2].min(axis=1)
    return np.interp(np.arange(len(height)), known, height[known])


def _bank_lines(motion: GaitMotion, level: np.ndarray) -> np.ndarray:
    """(2 m, 3) lines from the way to the body where it leans."""
    step = EVERY * motion.creature.hip_height()
    gone = np.concatenate(
        ([0.0], np.cumsum(np.linalg.norm(np.diff(level[:, :2], axis=0), axis=1)))
    )
    rows = np.unique(np.searchsorted(gone, np.arange(0.0, gone[-1], step)))
    rows = rows[np.abs(motion.bank[rows]) > LEAST_BANK]
    return np.stack((level[rows], motion.position[rows]), axis=1).reshape(-1, 3)


def course_strokes(solved: SolvedGait) -> list[Strokes]:
    """The path that is followed.

    Args:
        solved: the solved motion.
    """
    path = solved.job.settings.path
    if path is None:
        return []
    points = np.concatenate((path, path[:1])) if solved.job.settings.closed else path
    ground = solved.job.settings.ground
    heights = np.full(len(points), float(solved.job.settings.placement.origin[2]))
    if ground is not None:
        found, _normal, hit = ground(points[:, 0], points[:, 1])
        heights = np.where(hit, found, heights)
    flat = np.column_stack((points[:, :2], heights + LIFT))
    return [path_strokes(flat, PATH_COLOUR, 1.0, False)]


SPAN = 3.0  # s of the gait diagram in the corner of the viewport
INSET = (460, 150)  # its pixels at interface scale 1
NAMES = 70  # of them, for the names of legs


def inset_span(solved: SolvedGait, row: int) -> tuple[float, float]:
    """What the diagram in the corner shows of a motion, s.

    Args:
        solved: the solved motion.
        row: the sample of the current frame.
    """
    last = float(solved.motion.time[-1])
    span = min(SPAN, max(last, 1e-3))
    start = min(max(float(solved.motion.time[row]) - 0.4 * span, 0.0), max(last - span, 0.0))
    return start, start + span


def inset_axes(
    solved: SolvedGait, row: int, width: int, height: int
) -> tuple[diagrams.Axes, diagrams.Axes]:
    """Axes of the diagram in the corner of the viewport.

    Args:
        solved: the solved motion.
        row: the sample of the current frame.
        width: pixels.
        height: pixels.
    """
    names = NAMES * height / INSET[1]
    return diagrams.gait_axes(solved.motion, width, height, False, inset_span(solved, row), names)


def inset(solved: SolvedGait, row: int, width: int, height: int) -> diagrams.Diagram:
    """The gait diagram in the corner of the viewport, around the current frame.

    Args:
        solved: the solved motion.
        row: the sample of the current frame.
        width: pixels.
        height: pixels.
    """
    motion = solved.motion
    span = inset_span(solved, row)
    scale = height / INSET[1]  # a small viewport makes it narrower, and letters no smaller
    drawn = diagrams.gait_diagram(motion, width, height, False, span, NAMES * scale)
    names = tuple(
        diagrams.Label(spoken_leg(leg.name).capitalize(), 8.0 * scale,
                       drawn.axes[0].place(span[0], number + 0.5)[0, 1], "start", 10.0)
        for number, leg in enumerate(motion.creature.legs)
    )
    return replace(drawn, labels=names)


def marks(solved: SolvedGait) -> list[Mark]:
    """Numbers of the footprints, and the speeds at places along the way.

    Args:
        solved: the solved motion.
    """
    motion = solved.motion
    found = [
        Mark(str(p.index), np.asarray(p.position, dtype=float), leg_colour(motion.creature, p.leg))
        for p in motion.footprints
    ]
    level = np.column_stack((motion.position[:, :2], _ground(motion) + LIFT))
    gone = np.linalg.norm(np.diff(level[:, :2], axis=0), axis=1).cumsum()
    gone = np.concatenate(([0.0], gone))
    for distance, speed in solved.job.speeds:
        if distance <= gone[-1]:
            place = np.array([np.interp(distance, gone, axis) for axis in level.T])
            found.append(Mark(f"{speed:.1f} m/s", place, PATH_COLOUR))
    return found


def figure_lines(
    tracks: RoleTracks,
    motion: GaitMotion,
    figure: LeggedFigure,
    row: int,
    armless: Collection[str] = (),
) -> list[np.ndarray]:
    """A figure at one sample as polylines between its joints.

    Args:
        tracks: where its roles are.
        motion: what they were made from.
        figure: its rest pose.
        row: the sample.
        armless: sides without arms.

    Returns:
        Polylines (k, 3): each leg, then trunk with neck and head, tail, arms.
    """
    place = {role: np.asarray(points)[row] for role, points in tracks.position.items()}
    turn = {role: np.asarray(quats)[row] for role, quats in tracks.rotation.items()}
    rest = {role: np.asarray(point, dtype=float) for role, point in figure.joints.items()}

    def carried(role: str, start: np.ndarray, joint: str) -> np.ndarray:
        """Where a joint is that a role carries, from where that role's own joint is."""
        arm = rest[joint] - rest[role]
        return start + (rotate(turn[role][None], arm[None])[0] if role in turn else arm)

    lines = []
    for number, leg in enumerate(figure.legs):
        hip = place.get(leg.sling, motion.hip[row, number])
        lines.append(np.array(_leg(leg, hip, place, turn, rest, carried)))
    spine = [place["pelvis"]] if "pelvis" in place else [motion.position[row]]
    chain = (*figure.trunk, *figure.neck)
    for here, there in zip(chain[:-1], chain[1:], strict=True):
        spine.append(carried(here, spine[-1], there))
    if "muzzle" in rest and figure.neck:
        spine.append(carried(figure.neck[-1], spine[-1], "muzzle"))
    lines.append(np.array(spine))
    if figure.tail:
        tail = [carried(figure.trunk[0], spine[0], figure.tail[0])]
        for here, there in zip(figure.tail[:-1], figure.tail[1:], strict=True):
            tail.append(carried(here, tail[-1], there))
        if "tail_tip" in rest:
            tail.append(carried(figure.tail[-1], tail[-1], "tail_tip"))
        lines.append(np.array([spine[0], *tail]))
    chest = spine[len(figure.trunk) - 1]
    for side in (side for side in figure.arms if side not in armless):
        base = carried(figure.trunk[-1], chest, f"shoulder.{side}")
        shoulder = carried(f"shoulder.{side}", base, f"upper_arm.{side}")
        hand, pole = place.get(f"hand.{side}"), place.get(f"elbow.{side}")
        if hand is None or pole is None:
            continue
        joints = [rest[f"{name}.{side}"] for name in ("upper_arm", "elbow_joint", "hand")]
        upper, lower = np.linalg.norm(np.diff(joints, axis=0), axis=1)
        elbow = two_bone(shoulder[None], hand[None], pole[None], upper, lower).middle[0]
        lines.append(np.array([chest, shoulder, elbow, hand]))
    return [line for line in lines if len(line) > 1]


def _leg(leg: LegChain, hip: np.ndarray, place, turn, rest, carried) -> list[np.ndarray]:
    """Joints of a leg from where it hangs to its tip."""
    points = [np.asarray(hip, dtype=float)]
    parts = [*leg.limb, leg.tip]
    at = parts.index(leg.segments[leg.bend])
    for here, there in zip(parts[:at], parts[1 : at + 1], strict=True):
        points.append(carried(here, points[-1], there))
    control, pole = place.get(leg.control), place.get(leg.pole)
    if control is None or pole is None:
        return points
    upper, lower = (
        float(np.linalg.norm(rest[b] - rest[a]))
        for a, b in zip(parts[at : at + 2], parts[at + 1 : at + 3], strict=True)
    )
    bent = two_bone(points[-1][None], control[None], pole[None], upper, lower)
    points += [bent.middle[0], control]
    after = parts[parts.index(leg.control) :]
    for here, there in zip(after[:-1], after[1:], strict=True):
        points.append(carried(here, points[-1], there))
    return points


def ghost_strokes(solved: SolvedGait, row: int, palette: Palette) -> list[Strokes]:
    """The figure at one sample, and a mark under each foot that stands.

    Args:
        solved: the solved motion.
        row: the sample.
        palette: colours.
    """
    motion = solved.motion
    job = solved.job
    lines = figure_lines(solved.tracks, motion, job.figure, row, job.armless)
    points = polyline_segments(lines)
    strokes = [Strokes(points, np.tile(np.asarray(palette.ghost, float), (len(points), 1)), 2.5)]
    now = float(motion.time[row])
    standing = [p for p in motion.footprints if p.on <= now <= p.off]
    if standing and not solved.job.in_place:
        prints = [outline(motion.creature, p) for p in standing]
        points = polyline_segments(prints)
        colours = np.concatenate([
            np.tile(np.asarray(leg_colour(motion.creature, p.leg)), (2 * (len(line) - 1), 1))
            for p, line in zip(standing, prints, strict=True)
        ])
        strokes.append(Strokes(points, colours, 5.0))
    return strokes


def hud_lines(solved: SolvedGait, row: int) -> list[str]:
    """What the corner of the viewport says about one sample.

    Args:
        solved: the solved motion.
        row: the sample.
    """
    motion = solved.motion
    now = float(motion.time[row])
    gait = next((name for name, start, end in motion.gaits if start <= now <= end), "")
    speed = float(np.linalg.norm(motion.velocity[row, :2]))
    froude = speed**2 / (solved.job.settings.gravity * motion.creature.hip_height())
    legs = motion.creature.legs
    down = [spoken_leg(leg.name) for i, leg in enumerate(legs) if motion.contact[row, i]]
    named = ", ".join(down) if down else "none"
    lines = [
        f"Gait  {label(gait)}" if gait else "Gait  none",
        f"Speed  {speed:.1f} m/s",
        f"Froude  {froude:.2f}",
        f"On the ground  {named if len(legs) <= NAMED else f'{len(down)} of {len(legs)}'}",
    ]
    lean = degrees(float(motion.bank[row]))
    if abs(lean) > 0.5:
        lines.append(f"Bank  {abs(lean):.1f}° {'left' if lean > 0.0 else 'right'}")
    return lines


class GaitView(View[SolvedGait]):
    """What is shown of legged motions."""

    def numbers(self, solved):
        return numbers_of(solved)

    def track(self, solved, palette):
        return track_strokes(solved, palette)

    def course(self, solved):
        return course_strokes(solved)

    def marks(self, solved):
        return marks(solved)

    def ghost(self, solved, row, palette):
        return ghost_strokes(solved, row, palette)

    def hud(self, solved, row):
        return hud_lines(solved, row)

    def way(self, solved):
        motion = solved.motion
        ground = np.min(motion.foot_position[:, :, 2], axis=1)
        level = np.column_stack((motion.position[:, :2], ground))
        if solved.job.in_place:
            level = np.broadcast_to(level[:1], level.shape)
        forward = np.column_stack(
            (np.sin(motion.yaw), -np.cos(motion.yaw), np.zeros(len(motion.yaw)))
        )
        up = np.tile((0.0, 0.0, 1.0), (len(level), 1))
        stride = stride_times(motion, solved.job.settings)
        beat = float(np.median(stride)) if len(stride) else float(motion.time[-1])
        return Way(motion.time, level, forward, up, distance_of(motion), beat)

    inset_size = INSET
    inset_rolls = True

    def shows_inset(self, motion):
        return motion.poise_motion.gait.show_diagram

    def inset(self, solved, row, width, height):
        return inset(solved, row, width, height)

    def inset_now(self, solved, row, width, height):
        upper, lower = inset_axes(solved, row, width, height)
        across = upper.place(float(solved.motion.time[row]), 0.0)[0, 0]
        return np.array(((across, lower.bottom), (across, upper.top)))

    def diagrams(self):
        return {"GAIT": diagrams.gait_diagram}

    def trail(self, solved):
        return f"{solved.job.name} leaves footprints, no trail, and needs no slope"
