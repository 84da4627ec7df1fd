# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn of turns and ways along a path. Numpy only.

On the ground the track, with the lines that skis or board leave; at the
current frame a ghost: the figure as lines, its lean, the force in its leg.
"""

from __future__ import annotations

from collections.abc import Collection
from math import degrees

import numpy as np
from scipy.spatial import cKDTree

from ....solvers.ik import two_bone
from ....solvers.motion import TurningMotion
from ....solvers.rotations import rotate
from ...drawing import diagrams
from ...drawing.strokes import LIFT, PATH_COLOUR, WARNING_COLOUR, Palette, Strokes, path_strokes
from ...mapping.bicycle import tyre_track
from ...mapping.ground import terrain_over
from ...mapping.tracks import SIDES, Figure, RoleTracks, side_role
from ..view import View, Way
from .job import SolvedRide
from .numbers import numbers_of

# The leg force arrow: metres for one body weight.
FORCE_LENGTH = 0.7

FORCE_COLOUR = (1.0, 0.30, 0.45, 0.95)
LEAN_COLOUR = (1.0, 1.0, 1.0, 0.75)
PLANT_COLOUR = (0.45, 1.0, 0.45, 1.0)
GATE_COLOUR = (0.45, 1.0, 0.45, 0.9)
REJECTED_COLOUR = (1.0, 0.35, 0.2, 0.35)
EDGE_SHARE = 0.45  # opacity of the edges' tracks against the track's

# Of a track that lies over itself, samples so far apart are looked at near a place, so many of
# them, and none further beyond the nearest, metres.
APART, MOST_NEAR, SAME_PLACE = 0.5, 64, 3.0


def track_strokes(solved: SolvedRide, palette: Palette) -> list[Strokes]:
    """The track on the ground, its edge changes, plants, start and fall.

    Args:
        solved: the solved motion.
        palette: colours.
    """
    motion, tracks = solved.motion, solved.tracks
    lift = LIFT * motion.normal
    colours = np.where(motion.clipped[:, None], palette.warning, palette.track)
    track = motion.position + lift
    strokes = [path_strokes(track, colours, 3.0)]
    for role in ("ski.L", "ski.R", "board"):
        if role in tracks.position:
            faded = np.array(colours)
            faded[:, 3] *= EDGE_SHARE
            place = np.asarray(tracks.position[role])
            height = np.einsum("ni,ni->n", place - motion.position, motion.normal)
            flat = place - height[:, None] * motion.normal
            flat += terrain_over(motion, flat)[:, None] * motion.normal + lift
            strokes.append(path_strokes(flat, faded, 1.5, in_front=False))
    for role in ("front_wheel", "rear_wheel"):
        if role in tracks.position:
            faded = np.array(colours)
            faded[:, 3] *= EDGE_SHARE
            place = tyre_track(motion, tracks, role, solved.job.figure.equipment)[2]
            strokes.append(path_strokes(place + lift, faded, 1.5, in_front=False))
    strokes += _event_strokes(solved, palette)
    strokes.append(_start_arrow(solved, palette))
    return strokes


def course_strokes(solved: SolvedRide) -> list[Strokes]:
    """Of a motion along a path: the path, its gates, and where there was no way on.

    Args:
        solved: the solved motion.
    """
    course, found = solved.job.course, solved.path
    if course is None or found is None:
        return []
    motion = solved.motion
    flags = np.broadcast_to(course.cyclic, (len(course.polylines),))
    strokes = []
    for line, closed in zip(course.polylines, flags, strict=True):
        points = np.concatenate((line, line[:1])) if closed and len(line) > 2 else line
        if len(points) > 1:
            strokes.append(path_strokes(_on_ground(points, motion), PATH_COLOUR, 1.0, False))
    if course.gates:
        poles = [pole for gate in course.gates for pole in (gate.left, gate.right)]
        ends = _on_ground(np.array(poles), motion)
        colours = np.tile(np.asarray(GATE_COLOUR, float), (len(ends), 1))
        passed = np.repeat(np.isfinite(found.gate_times), 2)
        colours[~passed] = WARNING_COLOUR
        strokes.append(Strokes(ends, colours, 1.5))
    failure = found.failure
    if failure is not None and (failure.place is not None or failure.reason in ("OFF", "STOOD")):
        place = failure.position if failure.place is None else np.asarray(failure.place)
        place = np.append(place[:2], motion.position[-1, 2])
        place = _on_ground(place[None], motion)[0]
        ends = np.array((place, place + (0.0, 0.0, 2.5)))
        strokes.append(Strokes(ends, np.tile(np.asarray(WARNING_COLOUR, float), (2, 1)), 4.0))
    return strokes


def rejected_strokes(solved: SolvedRide) -> list[Strokes]:
    """Of a motion along a path: pieces of track that the search rejected.

    Args:
        solved: the solved motion.
    """
    if solved.path is None or not solved.path.candidates:
        return []
    motion, pieces = solved.motion, []
    for candidate in solved.path.candidates:  # on the level on which the plan was made
        level = np.interp(candidate.time, motion.time, motion.position[:, 2])
        points = np.insert(candidate.points, 2, level, axis=1)
        pieces.append(np.stack((points[:-1], points[1:]), axis=1).reshape(-1, 3))
    points = _on_ground(np.concatenate(pieces), motion, 0.5 * LIFT)
    colours = np.tile(np.asarray(REJECTED_COLOUR, float), (len(points), 1))
    return [Strokes(points, colours, 1.0, in_front=False)]


def _on_ground(points: np.ndarray, motion: TurningMotion, lift: float = LIFT) -> np.ndarray:
    """(n, 3) points on the ground, which lies where the motion is, whatever their own heights."""
    points = np.asarray(points, dtype=float)
    level = np.full(len(points), float(motion.position[0, 2]))
    for _start, _end, surface in motion.surfaces:
        kept = np.unique(np.floor(motion.distance / APART), return_index=True)[1]
        track = motion.position[kept]
        nearest = range(1, min(MOST_NEAR, len(track)) + 1)
        far, rows = cKDTree(track[:, :2]).query(points[:, :2], k=nearest)
        level = track[rows[:, 0], 2]
        if points.shape[1] == 3:  # where the track lies over itself, its level nearest to them
            off = np.abs(track[rows, 2] - points[:, 2:])
            off[far > far[:, :1] + SAME_PLACE] = np.inf
            level = track[rows[np.arange(len(rows)), off.argmin(axis=1)], 2]
        found = surface.height(points[:, 0], points[:, 1], level)
        level = np.where(np.isfinite(found), found, level)
    return np.column_stack((points[:, :2], level + lift))


def _event_strokes(solved: SolvedRide, palette: Palette) -> list[Strokes]:
    motion, events = solved.motion, solved.tracks.events
    times = np.array([event.time for event in events])
    foot, normal, left = (
        np.stack([np.interp(times, motion.time, column) for column in values.T], axis=1)
        for values in (motion.position, motion.normal, motion.left)
    )
    middle, ahead = foot + LIFT * normal, np.cross(left, normal)
    ticks: list[np.ndarray] = []
    tick_colours: list[tuple[float, ...]] = []
    crosses: list[np.ndarray] = []
    cross_colours: list[tuple[float, ...]] = []
    for i, event in enumerate(events):
        if event.kind == "EDGE_CHANGE":
            ticks += [middle[i] - 0.5 * left[i], middle[i] + 0.5 * left[i]]
            tick_colours += [palette.track] * 2
        elif event.kind == "POLE_PLANT" and event.position is not None:
            tip = np.asarray(event.position)
            ticks += [tip, tip + 0.5 * normal[i]]
            tick_colours += [PLANT_COLOUR] * 2
        elif event.kind in ("FALL", "STOP"):
            for side in (left[i], -left[i]):
                crosses += [middle[i] + 0.6 * (ahead[i] + side),
                            middle[i] - 0.6 * (ahead[i] + side)]
            crosses += [middle[i], middle[i] + 1.6 * normal[i]]
            cross_colours += [palette.warning] * 6
    found = []
    if ticks:
        found.append(Strokes(np.array(ticks), np.array(tick_colours, dtype=float), 2.0))
    if crosses:
        found.append(Strokes(np.array(crosses), np.array(cross_colours, dtype=float), 4.0))
    return found


def _start_arrow(solved: SolvedRide, palette: Palette) -> Strokes:
    """An arrow on the ground from the start along the motion's facing, its heading 0."""
    motion = solved.motion
    placement = solved.job.settings.placement
    yaw = placement.yaw
    facing = np.array((np.sin(yaw), -np.cos(yaw), 0.0))
    normal = motion.normal[0]
    # Lifted straight up into the ground, as the motion's heading is measured.
    facing[2] = -(facing @ normal) / normal[2]
    facing /= np.linalg.norm(facing)
    left = np.cross(normal, facing)
    start = motion.position[0] + LIFT * normal
    tip = start + 2.2 * facing
    head = tip - 0.5 * facing
    points = [start, tip, tip, head + 0.3 * left, tip, head - 0.3 * left]
    return Strokes(np.array(points), np.tile(np.asarray(palette.track, float), (6, 1)), 3.0)


def figure_lines(
    tracks: RoleTracks, figure: Figure, row: int, armless: Collection[str] = ()
) -> tuple[list[np.ndarray], np.ndarray | None]:
    """A figure at one sample as polylines between its joints, and its head.

    Args:
        tracks: where its roles are.
        figure: its rest pose.
        row: the sample.
        armless: sides without arms, and without what hands would hold.

    Returns:
        Polylines (k, 3), and the middle of the head (3,) or None.
    """
    place = {role: np.asarray(points)[row] for role, points in tracks.position.items()}
    turn = {role: np.asarray(quats)[row] for role, quats in tracks.rotation.items()}
    rest = {role: np.asarray(point, dtype=float) for role, point in figure.joints.items()}

    def carried(role: str, joint: str) -> np.ndarray | None:
        """Where a joint of the rest pose is, carried along by a role's frame."""
        if role not in place or role not in turn or joint not in rest or role not in rest:
            return None
        return place[role] + rotate(turn[role][None], (rest[joint] - rest[role])[None])[0]

    lines: list[list[np.ndarray | None]] = []
    spine = [place.get(role) for role in ("pelvis", "spine", "chest", "neck", "head")]
    lines.append(spine)
    for side in SIDES:
        names = [side_role(role, side) for role in ("hip", "knee_joint", "foot", "knee", "toe")]
        hip, ankle = carried("pelvis", names[0]), place.get(names[2])
        if ankle is None:
            for carrier in (side_role("ski", side), "board", side_role("pedal", side)):
                ankle = ankle if ankle is not None else carried(carrier, names[2])
        knee = _bent(hip, ankle, place.get(names[3]), figure, names[:3])
        lines.append([place.get("pelvis"), hip, knee, ankle])
        for carrier in (names[2], side_role("ski", side), "board", side_role("pedal", side)):
            toe = carried(carrier, names[4])
            if toe is not None:
                lines.append([ankle, toe])
                break
        lines.append(_runner(place, turn, side_role("ski", side), figure.equipment, "ski_length"))
        if side in armless:
            continue
        names = [side_role(r, side) for r in ("upper_arm", "elbow_joint", "hand", "elbow")]
        shoulder = carried(side_role("shoulder", side), names[0])
        if shoulder is None:
            shoulder = carried("chest", names[0])
        hand = place.get(names[2])
        elbow = _bent(shoulder, hand, place.get(names[3]), figure, names[:3])
        lines.append([place.get("neck"), shoulder, elbow, hand])
        tip = place.get(side_role("pole_tip", side))
        lines.append([place.get(side_role("pole", side), hand), tip])
    lines.append(_runner(place, turn, "board", figure.equipment, "board_length"))
    if "bike" in place and "bike" in rest:
        lines += _bicycle(place, turn, carried, figure)
    polylines = []
    for line in lines:
        known = [point for point in line if point is not None]
        if len(known) > 1:
            polylines.append(np.array(known))
    head = None
    if "head" in place:
        up = rotate(turn["head"][None], np.array(((0.0, 0.0, 1.0),)))[0]
        radius = 0.5 * max(figure.height - rest["head"][2], 0.1) if "head" in rest else 0.1
        head = place["head"] + radius * up
    return polylines, head


def _bent(root, tip, pole, figure: Figure, joints: list[str]) -> np.ndarray | None:
    """The middle joint of a limb, or None where something is missing."""
    if root is None or tip is None or pole is None or any(j not in figure.joints for j in joints):
        return None
    upper, lower = figure.length(joints[0], joints[1]), figure.length(joints[1], joints[2])
    return two_bone(root[None], tip[None], pole[None], upper, lower).middle[0]


def _bicycle(place, turn, carried, figure: Figure) -> list[list[np.ndarray | None]]:
    """Both wheels, frame, cranks and handlebars."""
    around = np.linspace(0.0, 2.0 * np.pi, 25)
    ring = figure.equipment["wheel_radius"] * np.stack(
        (0.0 * around, np.cos(around), np.sin(around)), axis=1
    )
    lines = []
    for role in ("front_wheel", "rear_wheel"):
        if role in turn:
            # From a point of the rim to the hub: so one sees it turn.
            rim = place[role] + rotate(np.tile(turn[role], (len(ring), 1)), ring)
            lines.append([place[role], *rim])
    lines.append([place.get("rear_wheel"), place.get("crank"), place.get("fork")])
    lines.append([place.get("front_wheel"), place.get("fork")])
    lines.append([place.get("crank"), carried("bike", "pelvis")])
    lines.append([place.get("pedal.L"), place.get("crank"), place.get("pedal.R")])
    grips = [carried("fork", f"grip.{side}") for side in SIDES]
    lines.append([grips[0], place.get("fork"), grips[1]])
    return lines


def _runner(place, turn, role: str, equipment, length: str) -> list[np.ndarray | None]:
    """A ski or board from its tail to its turned-up tip."""
    if role not in place or role not in turn:
        return [None]
    half = 0.5 * equipment.get(length, 1.6)
    shape = np.array(((0.0, half, 0.0), (0.0, -0.84 * half, 0.0), (0.0, -half, 0.10 * half)))
    if role == "board":
        shape = np.concatenate((((0.0, half, 0.10 * half), (0.0, 0.84 * half, 0.0)), shape[1:]))
    return list(place[role] + rotate(np.tile(turn[role], (len(shape), 1)), shape))


def ghost_strokes(solved: SolvedRide, row: int, palette: Palette) -> list[Strokes]:
    """The figure at one sample, its lean and the force in its leg.

    Args:
        solved: the solved motion.
        row: the sample.
        palette: colours.
    """
    motion, figure = solved.motion, solved.job.figure
    lines, head = figure_lines(solved.tracks, figure, row, solved.job.armless)
    segments = [np.stack((line[:-1], line[1:]), axis=1).reshape(-1, 3) for line in lines]
    if head is not None:
        ring = np.linspace(0.0, 2.0 * np.pi, 13)
        radius = 0.55 * max(figure.height - float(figure.joints["head"][2]), 0.1)
        for first, second in ((0, 2), (1, 2)):
            circle = np.tile(head, (13, 1))
            circle[:, first] += radius * np.cos(ring)
            circle[:, second] += radius * np.sin(ring)
            segments.append(np.stack((circle[:-1], circle[1:]), axis=1).reshape(-1, 3))
    strokes = []
    if segments:
        points = np.concatenate(segments)
        strokes.append(
            Strokes(points, np.tile(np.asarray(palette.ghost, float), (len(points), 1)), 2.5)
        )
    foot, normal, left = motion.position[row], motion.normal[row], motion.left[row]
    lean = motion.lean[row]
    centre = foot + motion.height * (np.sin(lean) * left + np.cos(lean) * normal)
    size = motion.leg_force[row] / (motion.mass * motion.gravity)
    along = centre - foot
    along = along / max(float(np.linalg.norm(along)), 1e-9)
    # The ground's push on the body: where it would lean further, more than its weight.
    tip = centre + FORCE_LENGTH * size * along
    aside = np.cross(along, motion.forward[row])
    barb = tip - 0.16 * along
    upright = foot + 1.15 * motion.height * normal
    strokes.append(
        Strokes(
            np.array((foot, upright, foot, centre)),
            np.tile(np.asarray(LEAN_COLOUR, float), (4, 1)),
            1.5,
        )
    )
    strokes.append(
        Strokes(
            np.array((centre, tip, tip, barb + 0.09 * aside, tip, barb - 0.09 * aside)),
            np.tile(np.asarray(FORCE_COLOUR, float), (6, 1)),
            3.5,
        )
    )
    return strokes


def hud_lines(solved: SolvedRide, row: int) -> list[str]:
    """What the corner of the viewport says about one sample.

    Args:
        solved: the solved motion.
        row: the sample.
    """
    motion = solved.motion
    lean = degrees(motion.lean[row])
    leans = f"Lean  {abs(lean):.1f}° {'left' if lean > 0.0 else 'right'}"
    curvature = abs(float(motion.curvature[row]))
    lines = [
        f"Phase  {degrees(motion.phase[row]) % 360.0:.0f}°",
        leans if abs(lean) > 0.05 else f"Lean  {abs(lean):.1f}° upright",
        f"Force  {motion.leg_force[row] / (motion.mass * motion.gravity):.2f} g",
        f"Speed  {motion.speed[row]:.1f} m/s",
        f"Radius  {1.0 / curvature:.1f} m" if curvature > 1e-3 else "Radius  straight",
    ]
    if motion.clipped[row]:
        lines.append("Clipped by a limit")
    return lines


class RidingView(View[SolvedRide]):
    """What is shown of rides."""

    def numbers(self, solved):
        return numbers_of(solved.motion, solved.path)

    def track(self, solved, palette):
        return track_strokes(solved, palette)

    def course(self, solved):
        return course_strokes(solved)

    def rejected(self, solved):
        return rejected_strokes(solved)

    def ghost(self, solved, row, palette):
        return ghost_strokes(solved, row, palette)

    def hud(self, solved, row):
        return hud_lines(solved, row)

    def way(self, solved):
        motion = solved.motion
        spans = [turn.end - turn.start for turn in motion.half_turns if turn.complete]
        # A typical half turn; the whole motion where it has none.
        beat = float(np.median(spans)) if spans else float(motion.time[-1])
        return Way(
            motion.time, motion.position, motion.forward, motion.normal,
            float(motion.distance[-1]), beat,
        )

    def inset(self, solved, row, width, height):
        return diagrams.phase_diagram(solved.motion, width, height, labelled=False)

    def inset_now(self, solved, row, width, height):
        motion = solved.motion
        axes = diagrams.phase_axes(motion, width, height, 10.0)
        return axes.place(degrees(motion.lean[row]), degrees(motion.lean_rate[row]))[0]

    def diagrams(self):
        return {"PHASE": diagrams.phase_diagram, "TIME": diagrams.time_diagram}

    def trail(self, solved):
        return ""
