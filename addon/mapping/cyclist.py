# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion amplification for a cyclist: from a leaning pendulum to bicycle and rider.

After van de Panne et al. 1993, section 7: the front wheel is turned for the
curvature of the path, the pedals move with the distance travelled, hands and
feet are kept on bars and pedals. On top of that the bicycle's own geometry
(`bicycle`), when to pedal (`pedalling`), and a rider whose weight, with the
bicycle's, stays on the pendulum's line.

The pendulum's foot is the point of the ground under the rider; the rear wheel
is drawn after it. So the handlebars first turn away from a coming turn, as
the pendulum's curvature does: that is what makes the bicycle lean.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import radians

import numpy as np

from ...solvers.ik import two_bone
from ...solvers.motion import TurningMotion
from ...solvers.rotations import (
    about_x,
    from_axis_angle,
    from_matrix,
    multiply,
    normalise,
    rotate,
)
from .amounts import GazeStyle, within_ranges
from .bicycle import (
    Geometry,
    Standing,
    geometry_of,
    rolled,
    stand_up,
    track_length,
    trailing_angle,
)
from .body import BIKE_SHARE, bicycle_centre
from .ground import Ground, ground_frames, terrain_over
from .pedalling import LEVEL, PEDALS, crank_angle, spans
from .reports import SIDE_WORDS, span_problem
from .rows import amount, angle, length
from .signals import Amount, Signals, at_most, limited, ramp, read_signals, saturated, smoothed
from .stance import centre_of_mass
from .tracks import SIDES, Figure, RoleTracks
from .trunk import (
    SIGN,
    Trunk,
    bend_arms,
    gaze_yaw,
    pose_head,
    pose_trunk,
    posture,
    rest_pitch,
)

STATURE = 1.78  # metres: lengths of a style are for a figure of this height
LEAST_GEAR, MOST_GEAR = 0.8, 5.5  # turns of the rear wheel for one of the cranks
SHIFTING = 1.0  # seconds over which the automatic gear follows the speed
MOST_CADENCE = 130.0  # turns a minute; sprinters reach no more
LOWEST_PEDAL = 0.045  # metres of the pedal's axle over the road
LEG_IN_USE, ARM_IN_USE = 0.985, 0.955  # largest shares of their lengths
ARM_FOLDED = 0.50  # least share of an arm's length: more bent, elbows get in the way
LEAST_BEND, MOST_BEND = radians(2.0), radians(80.0)  # of the trunk, so that arms reach
KNEE_BESIDE = 0.075  # metres between a knee and the frame's middle plane
HEEL_HIGHEST = radians(285.0)  # angle of the crank at which the toes point down most


@dataclass(frozen=True)
class CyclistStyle(GazeStyle):
    """How a cyclist rides. Every number may be keyed: a float or (n,) samples.

    Angles are radians. Lengths are metres for a figure 1.78 m tall and grow
    with the figure.
    """

    WORDS = {"who": "cyclist"}
    SECTIONS = ("Pedals", "Saddle", "Trunk", "Head", "Arms")

    pedalling: Amount = amount("Pedalling", 1.0, 1.0, (0.0, 1.0),
        "Above a half the cyclist pedals; below, the pedals are held level",
        unit="FACTOR", most=1.0, section="Pedals")
    gear: Amount | None = amount("Gear", None, 5.0, (0.3, 12.0),
        "Turns of the rear wheel for one of the cranks; 0 for the gear that keeps the cadence")
    cadence: Amount = amount("Cadence", 80.0, 130.0, (20.0, 200.0),
        "Turns of the cranks a minute in the automatic gear")
    coast_lean: Amount = angle("Coast Above", 20, (5, 45), (1, 90),
        "Lean from which the cyclist stops pedalling and holds the inside pedal up")
    foot_pitch: Amount = angle("Foot Pitch", 16, (-10, 35), (-20, 45),
        "Mean downward pitch of the feet")
    ankle_range: Amount = angle("Ankle Range", 22, (0, 40), (0, 50),
        "How far a foot's pitch changes in a turn of the cranks")
    knee_out: Amount = angle("Inside Knee", 8, (0, 35), (-10, 45),
        "How far the inside knee points out of a sharp turn")
    stand: Amount = amount("Out of Saddle", 0.0, 1.0, (0.0, 1.0),
        "0 sits in the saddle, 1 stands on the pedals", unit="FACTOR", most=1.0, section="Saddle")
    stand_bend: Amount = angle("Standing Knee", 24, (15, 70), (10, 80),
        "Bend of the lower leg's knee out of the saddle")
    stand_forward: Amount = length("Hips Forward", 0.17, (-0.15, 0.3), (-0.2, 0.4),
        "How far ahead of the saddle the hips are when out of it")
    sway: Amount = angle("Sway", 8, (0, 15), (-20, 25),
        "How far the bicycle tilts from side to side under a standing cyclist")
    seat_sway: Amount = angle("Seated Sway", 1, (0, 4), (-10, 10),
        "How far the bicycle tilts from side to side while pedalling seated")
    bob: Amount = length("Bob", 0.015, (0.0, 0.06), (-0.1, 0.1),
        "How far the hips rise and fall with the pedals out of the saddle")
    trunk_pitch: Amount = angle("Trunk Pitch", 42, (20, 65), (5, 70),
        "Forward bend of the trunk in the saddle, from upright", section="Trunk")
    stand_pitch: Amount = angle("Standing Pitch", 44, (25, 70), (10, 75),
        "Forward bend of the trunk out of the saddle")
    body_lean: Amount = angle("Body Lean", 2, (-15, 15), (-20, 20),
        "How much further than the bicycle the body leans into a turn; negative pushes the bicycle "
        "down under the body instead")
    bar_follow: Amount = amount("Chest Follows", 0.3, 1.0, (0.0, 1.0),
        "Share of the handlebars' turn that the chest follows", unit="FACTOR", most=1.0)
    elbows_out: Amount = angle("Elbows Out", 38, (0, 80), (-10, 85),
        "How far the elbows point outwards, from straight down", section="Arms")
    wrist_follow: Amount = amount("Wrists Follow", 0.7, 1.0, (0.0, 1.0),
        "How far the hands turn on the grips with the forearms", unit="FACTOR", most=1.0)
    look_ahead: Amount = 0.9


# Styles by name. Cadence, bend of the trunk, lean at which pedals are held and sway after the
# figures for these riders: recreational riders 60 to 80 turns a minute, road riders about 90,
# sprinters 110 to 130; trunk 30 to 45 degrees from level when racing, 50 to 60 when not;
# pedals touch at about 30 degrees of lean.
STYLES: dict[str, CyclistStyle] = {
    "city": CyclistStyle(
        cadence=65.0,
        coast_lean=radians(12.0),
        foot_pitch=radians(12.0),
        ankle_range=radians(16.0),
        seat_sway=radians(1.4),
        trunk_pitch=radians(33.0),
        body_lean=radians(-4.0),
        knee_out=radians(4.0),
        elbows_out=radians(25.0),
        look_ahead=0.8,
        gaze_down=radians(10.0),
    ),
    "touring": CyclistStyle(cadence=75.0),
    "road": CyclistStyle(
        cadence=90.0,
        coast_lean=radians(22.0),
        foot_pitch=radians(17.0),
        seat_sway=radians(0.7),
        trunk_pitch=radians(52.0),
        body_lean=radians(2.0),
        knee_out=radians(6.0),
        look_ahead=1.0,
    ),
    "criterium": CyclistStyle(
        cadence=98.0,
        coast_lean=radians(25.0),
        foot_pitch=radians(18.0),
        seat_sway=radians(0.8),
        trunk_pitch=radians(56.0),
        body_lean=radians(4.0),
        knee_out=radians(16.0),
        elbows_out=radians(48.0),
        look_ahead=1.0,
    ),
    "sprint": CyclistStyle(
        cadence=112.0,
        stand=1.0,
        coast_lean=radians(25.0),
        foot_pitch=radians(22.0),
        ankle_range=radians(18.0),
        sway=radians(10.0),
        stand_pitch=radians(54.0),
        stand_forward=0.20,
        bob=0.012,
        elbows_out=radians(45.0),
    ),
    "climbing": CyclistStyle(
        cadence=62.0,
        stand=1.0,
        coast_lean=radians(20.0),
        foot_pitch=radians(20.0),
        sway=radians(7.0),
        stand_pitch=radians(40.0),
        stand_forward=0.22,
        bob=0.022,
        gaze_down=radians(12.0),
    ),
    "mountain": CyclistStyle(
        cadence=72.0,
        pedalling=0.0,
        coast_lean=radians(16.0),
        foot_pitch=radians(4.0),
        ankle_range=radians(8.0),
        knee_out=radians(12.0),
        stand=1.0,
        stand_bend=radians(38.0),
        stand_forward=0.02,
        stand_pitch=radians(58.0),
        body_lean=radians(-9.0),
        elbows_out=radians(62.0),
        bar_follow=0.5,
        look_ahead=1.1,
        gaze_down=radians(14.0),
    ),
}


@dataclass(frozen=True)
class _Ride:
    """The bicycle over time."""

    geometry: Geometry
    ground: Ground  # along the frame, origin under the rider
    behind: float  # rear contact behind that, metres
    curvature: np.ndarray  # of the rear wheel's track
    yaw: np.ndarray  # of the frame
    lean: np.ndarray  # of the frame
    standing: Standing  # from the rear contact

    def place(self, points: np.ndarray) -> np.ndarray:
        """Points of `standing` in ground space."""
        return points + np.array((0.0, self.behind, 0.0))


@dataclass(frozen=True)
class _Legs:
    """Drive and legs in the bicycle's upright frame, from the ground under the rider."""

    crank: np.ndarray  # angle of the left pedal from the top
    gear: np.ndarray
    effort: np.ndarray  # 1 while pedalling, 0 with still cranks
    coasting: np.ndarray  # 1 where pedals are held for a turn
    pedal_pitch: dict[str, np.ndarray]
    pedal: dict[str, np.ndarray]  # axles, from the bottom bracket
    ankle: dict[str, np.ndarray]


@dataclass(frozen=True)
class _Rider:
    """How bicycle and trunk tilt against the rider's line, the line from ground to weight."""

    tilt: np.ndarray  # of the bicycle, radians to the left
    calmed: np.ndarray  # sway that the arms are too short for, radians
    chest: np.ndarray  # of the chest
    hips: np.ndarray
    yaw: np.ndarray  # of the chest

    def trunk(self, figure: Figure, line: Amount, pitch: Amount) -> Trunk:
        """The trunk for a lean of the line and a forward bend, radians."""
        bend = pitch - rest_pitch(figure)
        return pose_trunk(figure, (line + self.hips, 0.3 * self.yaw, 0.45 * bend),
                          (line + self.chest, self.yaw, bend))


def map_cyclist(motion: TurningMotion, figure: Figure, style: CyclistStyle) -> RoleTracks:
    """Pose a cyclist and a bicycle for every sample of a turning motion.

    Args:
        motion: the solved motion.
        figure: the cyclist's rest pose and bicycle.
        style: how it rides.

    Returns:
        Tracks of root, bike, fork, front_wheel, rear_wheel, sprocket, crank,
        pelvis, spine, chest, neck, head and, per side, pedal, shoulder, hand,
        elbow and knee.
    """
    style, limits = within_ranges(style)
    size = figure.height / STATURE
    signals = read_signals(motion)
    geometry = geometry_of(figure)
    ground, behind, trailing = _drawn_after(motion, signals, figure)
    curvature = np.tan(trailing) / behind
    frame_yaw = np.asarray(motion.yaw) - trailing
    rear = ground.world(np.broadcast_to((0.0, behind, 0.0), (len(signals.time), 3)))
    rear_distance = track_length(rear, frame_yaw)

    legs = _drive(motion, signals, figure, geometry, style, rear_distance)
    rider = _rider(signals, figure, geometry, style, legs, curvature)
    body_lean = signals.lean + _balance(figure, geometry, signals, style, size, legs, rider)
    lean = body_lean + rider.tilt
    ride = _Ride(geometry, ground, behind, curvature, frame_yaw, lean,
                 stand_up(geometry, lean, curvature))
    wheels = _wheels(ride, rear_distance)

    seat = _seat(figure, ride, legs, style, size, body_lean)
    hands = _hold(figure, ride)
    trunk, pelvis, yielded = _trunk(figure, ride, legs, style, seat, rider, body_lean, hands)
    joint = {name: pelvis + offset for name, offset in trunk.offset.items()}
    shoulder = {side: joint[f"upper_arm.{side}"] for side in SIDES}
    wrist, hand, elbow_pole, shortfall = _arms(figure, ride, style, hands, shoulder,
                                               trunk.rotation["chest"])
    knee_pole, flexion = _knees(figure, ride, legs, style, signals, pelvis,
                                trunk.rotation["pelvis"], body_lean)
    neck, head = _head(signals, ground, style, trunk.rotation["chest"], rider.yaw)

    count = len(signals.time)
    upright = posture(np.zeros(count), 0.0, 0.0)
    bike, fork = ride.standing.rotation, ride.standing.fork_rotation
    joints = figure.joints
    start = 0.5 * np.pi  # in the rest pose the left pedal is ahead
    spins = {
        "front_wheel": wheels["front_wheel"],
        "rear_wheel": wheels["rear_wheel"],
        "sprocket": _geared(legs),
        "crank": legs.crank - start,
    }
    crank = multiply(bike, about_x(spins["crank"]))
    rear_axle = ride.place(ride.standing.rear_axle)
    bracket = _on_frame(figure, ride, joints["crank"])
    position = {
        "root": np.zeros((count, 3)),
        "bike": _on_frame(figure, ride, joints["bike"]),
        "fork": ride.place(ride.standing.fork),
        "front_wheel": ride.place(ride.standing.front_axle),
        "rear_wheel": rear_axle,
        "sprocket": rear_axle,
        "crank": bracket,
        "pelvis": pelvis,
        "spine": joint["spine"],
        "chest": joint["chest"],
        "neck": joint["neck"],
        "head": joint["neck"] + rotate(neck, np.subtract(joints["head"], joints["neck"])),
    }
    rotation = {
        "root": upright,
        "bike": bike,
        "fork": fork,
        "front_wheel": multiply(fork, about_x(spins["front_wheel"])),
        "rear_wheel": multiply(bike, about_x(spins["rear_wheel"])),
        "sprocket": multiply(bike, about_x(spins["sprocket"])),
        "crank": crank,
        **trunk.rotation,
        "neck": neck,
        "head": head,
    }
    for i, side in enumerate(SIDES):
        spins[f"pedal.{side}"] = legs.pedal_pitch[side] - spins["crank"]
        position |= {
            f"pedal.{side}": bracket + rotate(bike, legs.pedal[side]),
            f"shoulder.{side}": joint[f"shoulder.{side}"],
            f"hand.{side}": wrist[side],
            f"elbow.{side}": elbow_pole[side],
            f"knee.{side}": knee_pole[i],
        }
        rotation |= {
            f"pedal.{side}": multiply(bike, about_x(legs.pedal_pitch[side])),
            f"shoulder.{side}": trunk.rotation["chest"],
            f"hand.{side}": hand[side],
            f"elbow.{side}": upright,
            f"knee.{side}": upright,
        }
    return RoleTracks(
        clock=motion.clock,
        position={role: ground.world(points) for role, points in position.items()},
        rotation=ground.all_turned(rotation),
        events=motion.events,
        problems=(*limits, *_yielded(signals, figure, ride, legs, size, yielded, rider.calmed,
                                     shortfall, position)),
        attributes=_attributes(signals, ride, legs, wheels, flexion, rider.yaw),
        spins=spins,
    )


def _drawn_after(motion, signals: Signals, figure: Figure) -> tuple[Ground, float, np.ndarray]:
    """Ground space along the frame, how far behind the rear contact is, and the trailing angle."""
    bike = np.asarray(figure.joints["bike"])
    tightest = float(np.max(np.abs(motion.curvature), initial=1e-9))
    behind = min(float(bike[1]), 0.85 / tightest)
    angle = trailing_angle(np.asarray(motion.yaw), np.asarray(motion.distance), behind)
    ground = ground_frames(motion)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    left, back = ground.axes[:, :, 0], ground.axes[:, :, 1]
    # The frame points to the right of a left-hand track: turned by -angle about the normal.
    axes = np.stack(
        (left * cos - back * sin, back * cos + left * sin, ground.axes[:, :, 2]), axis=-1
    )
    origin = ground.origin
    if motion.surfaces:
        origin, axes = _over_terrain(motion, origin, axes, behind, figure.equipment["wheelbase"])
    turned = Ground(origin, axes, from_matrix(axes), ground.spacing, motion)
    return turned, behind, angle


def _over_terrain(
    motion: TurningMotion, origin: np.ndarray, axes: np.ndarray, behind: float, wheelbase: float
) -> tuple[np.ndarray, np.ndarray]:
    """Origin and axes of a plane on which both wheels touch the terrain.

    The evened out ground of the motion is not the mesh: each wheel goes to the
    mesh under it, which lifts the bicycle and pitches it about its left.

    Args:
        motion: the motion.
        origin: (n, 3) under the rider on the evened out ground.
        axes: (n, 3, 3) columns left, back, normal.
        behind: of the rear wheel, metres.
        wheelbase: metres.
    """
    left, back, normal = (axes[:, :, i] for i in range(3))
    rear, front = origin + behind * back, origin + (behind - wheelbase) * back
    rear = rear + terrain_over(motion, rear)[:, None] * normal
    front = front + terrain_over(motion, front)[:, None] * normal
    back = normalise(rear - front)
    return rear - behind * back, np.stack((left, back, np.cross(left, back)), axis=-1)


def _drive(motion, signals: Signals, figure, geometry, style, distance) -> _Legs:
    """Cranks, pedals and feet."""
    time = signals.time
    rolling = rolled(distance, np.full(len(time), geometry.wheel))
    if style.gear is None:
        speed = smoothed(np.asarray(motion.foot_speed, dtype=float), signals.spacing, SHIFTING)
        turns = np.maximum(speed, 0.0) / (2.0 * np.pi * geometry.wheel)
        gear = np.clip(turns * 60.0 / np.asarray(style.cadence), LEAST_GEAR, MOST_GEAR)
    else:
        gear = np.broadcast_to(np.asarray(style.gear, dtype=float), time.shape)
    inverse = 0.5 * (1.0 / gear[1:] + 1.0 / gear[:-1])
    drive = np.concatenate(([0.0], np.cumsum(np.diff(rolling) * inverse)))
    plan = spans(time, signals.lean, style.coast_lean, style.pedalling)
    crank = crank_angle(time, drive, plan)
    effort = _effort(crank, drive)
    held = np.zeros(len(time))
    for span in plan:
        if span.state not in (PEDALS, LEVEL):
            held[(time >= span.start) & (time <= span.end)] = 1.0
    coasting = np.clip(smoothed(held, signals.spacing, 0.15), 0.0, 1.0)
    joints = figure.joints
    length = figure.equipment["crank_length"]
    rise = np.subtract(joints["foot.L"], joints["pedal.L"]) * (0.0, 1.0, 1.0)
    pitch, pedal, ankle = {}, {}, {}
    for side in SIDES:
        angle = crank if side == "L" else crank + np.pi
        # A held foot is flatter, its heel down, the more so the one that carries the weight.
        mean = style.foot_pitch * (1.0 - 0.45 * coasting * (1.0 - np.cos(angle)) * 0.5)
        swing = 0.5 * np.asarray(style.ankle_range) * np.cos(angle - HEEL_HIGHEST)
        pitch[side] = mean + swing * (0.35 + 0.65 * effort)
        out = float(joints[f"pedal.{side}"][0])
        pedal[side] = np.stack(
            (np.full(len(time), out), -length * np.sin(angle), length * np.cos(angle)), axis=-1
        )
        foot = float(joints[f"foot.{side}"][0] - joints[f"pedal.{side}"][0])
        ankle[side] = pedal[side] + rotate(about_x(pitch[side]), rise) + (foot, 0.0, 0.0)
    return _Legs(crank, gear, effort, coasting, pitch, pedal, ankle)


def _effort(crank: np.ndarray, drive: np.ndarray) -> np.ndarray:
    """How far the cranks are turned as fast as the chain turns them, 0 to 1."""
    driven = np.gradient(drive)
    share = np.gradient(crank) / np.maximum(driven, 1e-9)
    return np.where(driven > 1e-9, np.clip(share, 0.0, 1.0), 0.0)


def _geared(legs: _Legs) -> np.ndarray:
    """How far the chain has turned the sprocket."""
    gear = 0.5 * (legs.gear[1:] + legs.gear[:-1])
    return np.concatenate(([0.0], np.cumsum(np.diff(legs.crank) * gear)))


def _rider(signals: Signals, figure, geometry, style, legs: _Legs, curvature) -> _Rider:
    """Tilts before the weight is balanced."""
    stand = np.clip(style.stand, 0.0, 1.0)
    swing = style.sway * stand + style.seat_sway * (1.0 - stand)
    # The bicycle tilts away from the pedal that is pushed down.
    wide = -swing * np.sin(legs.crank) * legs.effort
    # Grips that sway sideways take the hands along: as far as arms of this length can follow.
    sway = wide * min(figure.arm_share, 1.0)
    into = style.body_lean * saturated(signals.lean, radians(14.0))
    tilt = sway - 0.5 * into
    chest = 0.15 * sway + 0.5 * into
    # In the saddle the hips go with it; the hip of the lower leg drops a little.
    hips = stand * 0.3 * chest + (1.0 - stand) * tilt
    hips = hips - radians(2.0) * np.cos(legs.crank) * legs.effort
    yaw = np.asarray(style.bar_follow) * np.arctan(geometry.wheelbase * curvature)
    return _Rider(tilt, wide - sway, chest, hips, limited(yaw, radians(35.0)))


def _balance(figure, geometry, signals, style, size, legs, rider: _Rider) -> np.ndarray:
    """By how much the rider's line leans less than the pendulum, radians.

    Everything leans about the middle of the tyres' section, r over the
    contact. With (x, z) the centre of mass from there, upright, and d its
    distance, the contact sees it at the pendulum's lean t when
    sin(lean + atan(x / z) - t) = (r / d) sin(t).
    """
    tyre = np.array((0.0, 0.0, geometry.tyre))
    joints = figure.joints
    frame = posture(rider.tilt, 0.0, 0.0)

    def on_bike(points) -> np.ndarray:
        return tyre + rotate(frame, points - tyre)

    bracket = np.asarray(joints["crank"])
    saddle = on_bike(np.asarray(joints["pelvis"]))
    stand = np.clip(style.stand, 0.0, 1.0)[..., None] * np.ones((len(rider.tilt), 1))
    pelvis = saddle + stand * (_standing_hips(figure, style, size, legs) - saddle)
    trunk = rider.trunk(figure, 0.0, _pitch(style))
    hip = [pelvis + rotate(trunk.rotation["pelvis"],
                           np.subtract(joints[f"hip.{s}"], joints["pelvis"])) for s in SIDES]
    ankle = [on_bike(bracket + legs.ankle[s]) for s in SIDES]
    way = {s: rotate(frame, _knee_way(signals, legs, style, s)) for s in SIDES}
    knee = [two_bone(h, a, h + way[s], *figure.leg(s)).middle
            for s, h, a in zip(SIDES, hip, ankle, strict=True)]
    body = centre_of_mass(pelvis, pelvis + trunk.offset["shoulders"], np.stack(hip),
                          np.stack(knee), np.stack(ankle))
    whole = (1.0 - BIKE_SHARE) * body + BIKE_SHARE * on_bike(bicycle_centre(figure)) - tyre
    across, up = whole[:, 0], whole[:, 2]
    distance = np.hypot(across, up)
    return np.arcsin(geometry.tyre / distance * np.sin(signals.lean)) - np.arctan2(across, up)


def _pitch(style) -> np.ndarray:
    """Forward bend of the trunk that the style asks for."""
    stand = np.clip(style.stand, 0.0, 1.0)
    return np.asarray(style.trunk_pitch) * (1.0 - stand) + np.asarray(style.stand_pitch) * stand


def _standing_hips(figure, style, size, legs: _Legs) -> np.ndarray:
    """Hips (n, 3) out of the saddle, about the tyres' line of a bicycle that stands upright."""
    joints = figure.joints
    bracket, seat = np.asarray(joints["crank"]), np.asarray(joints["pelvis"])
    # The shorter leg sets the height.
    thigh, shin = min((figure.leg(side) for side in SIDES), key=sum)
    reach = np.sqrt(thigh**2 + shin**2 + 2.0 * thigh * shin * np.cos(style.stand_bend))
    lowest = bracket[2] - figure.equipment["crank_length"]
    # The ankle over the pedal at the bottom, as it is there on average.
    rise = np.subtract(joints["foot.L"], joints["pedal.L"])
    pitch = np.asarray(style.foot_pitch)
    back = bracket[1] + rise[1] * np.cos(pitch) - rise[2] * np.sin(pitch)
    up = lowest + rise[1] * np.sin(pitch) + rise[2] * np.cos(pitch)
    y = seat[1] - np.asarray(style.stand_forward) * size
    z = up + np.sqrt(np.maximum(reach**2 - (y - back) ** 2 - (0.02 * size) ** 2, 0.3 * reach**2))
    # Hips go up over the straight leg and to the side of the pushing one.
    z = z + np.asarray(style.bob) * size * (np.cos(2.0 * legs.crank) - 1.0) * legs.effort
    x = 0.02 * size * np.sin(legs.crank) * legs.effort
    x, y, z = np.broadcast_arrays(x, y, z)
    return np.stack((x, y, z), axis=-1)


def _on_frame(figure, ride: _Ride, point) -> np.ndarray:
    """Where a point of the frame, given in the rest pose, is in ground space."""
    offset = np.asarray(point) - figure.joints["rear_wheel"]
    return ride.place(ride.standing.place(offset))


def _seat(figure, ride: _Ride, legs, style, size, body_lean) -> np.ndarray:
    """Hips (n, 3) in ground space: in the saddle, out of it, or on the way."""
    saddle = _on_frame(figure, ride, figure.joints["pelvis"])
    tyre = np.array((0.0, 0.0, ride.geometry.tyre))
    shift = np.array((0.0, ride.behind - figure.joints["bike"][1], 0.0))
    free = _standing_hips(figure, style, size, legs) + shift
    free = tyre + rotate(posture(body_lean, 0.0, 0.0), free - tyre)
    stand = np.clip(style.stand, 0.0, 1.0)[..., None] * np.ones((len(saddle), 1))
    return saddle + stand * (free - saddle)


def _hold(figure, ride: _Ride) -> dict[str, np.ndarray]:
    """Grips in ground space."""
    joints = figure.joints
    return {
        side: ride.place(
            ride.standing.on_fork(np.subtract(joints[f"grip.{side}"], joints["fork"]))
        )
        for side in SIDES
    }


@dataclass(frozen=True)
class _Yielded:
    """What the rider gave up to stay on grips and pedals."""

    sunk: np.ndarray  # hips lowered, metres
    moved: np.ndarray  # hips moved towards the handlebars, metres
    bent: np.ndarray  # trunk bent further than the style asks for, radians


def _trunk(figure, ride, legs, style, seat, rider: _Rider, line, grips):
    """Trunk, hips, and what yielded so that legs reach the pedals and arms the bars.

    The trunk bends further where an arm would not reach, and less where it
    would fold; where that is not enough the hips come towards the bars.
    """
    pelvis, sunk = _sink(figure, ride, legs, seat)
    wanted = _pitch(style) + np.zeros_like(line)

    def bends(share: float) -> list[np.ndarray]:
        return [_bend_for(figure, rider, line, pelvis, grips, wanted, s, share) for s in SIDES]

    soft = radians(3.0)
    # While the bicycle sways one arm folds and one stretches: the one may fold more for a while.
    pitch = at_most(wanted, np.mean(bends(ARM_FOLDED), axis=0), soft)
    for stretched in bends(ARM_IN_USE):
        pitch = pitch + ramp(stretched - pitch, soft)
    pitch = at_most(pitch, MOST_BEND, soft)
    trunk = rider.trunk(figure, line, pitch)
    shift = np.zeros_like(pelvis)
    for _ in range(4):
        for side in SIDES:
            way = grips[side] - (pelvis + shift + trunk.offset[f"upper_arm.{side}"])
            over = ramp(_arm_use(figure, side, way) - ARM_IN_USE - 0.010, 0.010)
            shift = shift + normalise(way) * (over * sum(figure.arm(side)))[:, None]
    pelvis, moved = pelvis + shift, np.linalg.norm(shift, axis=1)
    pelvis, more = _sink(figure, ride, legs, pelvis)
    return trunk, pelvis, _Yielded(sunk + more, moved, pitch - wanted)


def _arm_use(figure: Figure, side: str, way: np.ndarray) -> np.ndarray:
    """Share of an arm's length from shoulder to wrist, given the way (n, 3) to the grip."""
    # The wrist is behind the grip, though not quite in line with the arm.
    palm = 0.92 * figure.length(f"hand.{side}", f"grip.{side}")
    return (np.linalg.norm(way, axis=1) - palm) / sum(figure.arm(side))


def _bend_for(figure, rider: _Rider, line, pelvis, grips, start, side, share) -> np.ndarray:
    """Bend (n,) of the trunk at which a share of an arm's length is in use.

    Newton's method from the style's bend. Where no bend has that share, it
    ends at LEAST_BEND or beyond MOST_BEND.
    """
    shoulder, pitch, step = f"upper_arm.{side}", start, 1e-4
    # A shoulder over the hips goes ahead by at least half the trunk's length for each radian.
    slope = 0.5 * figure.length("pelvis", shoulder) / sum(figure.arm(side))
    for _ in range(7):
        use, ahead = (
            _arm_use(figure, side, grips[side] - pelvis
                     - rider.trunk(figure, line, pitch + more).offset[shoulder])
            for more in (0.0, step)
        )
        falls = np.maximum((use - ahead) / step, slope)
        pitch = np.clip(pitch + limited((use - share) / falls, 0.6), LEAST_BEND, MOST_BEND + 0.3)
    return pitch


def _sink(figure, ride, legs, seat) -> tuple[np.ndarray, np.ndarray]:
    """Hips lowered where a leg would be too short, and by how much."""
    bracket = np.asarray(figure.joints["crank"])
    pelvis, sunk = seat, np.zeros(len(seat))
    up = rotate(ride.standing.rotation, np.array((0.0, 0.0, 1.0)))
    for _ in range(3):
        over = np.zeros(len(seat))
        for side in SIDES:
            full = sum(figure.leg(side))
            across = float(figure.joints[f"hip.{side}"][0] - figure.joints["pelvis"][0])
            ankle = _on_frame(figure, ride, bracket + legs.ankle[side])
            hip = pelvis + rotate(ride.standing.rotation, np.array((across, 0.0, 0.0)))
            far = np.linalg.norm(ankle - hip, axis=1)
            over = over + ramp(far - LEG_IN_USE * full, 0.004 * full)
        pelvis, sunk = pelvis - up * over[:, None], sunk + over
    return pelvis, sunk


def _arms(figure, ride, style, grips, shoulder, chest):
    """Wrists, hands, points the elbows bend towards, and what the arms lack."""
    joints = figure.joints
    wrist, hand = {}, {}
    towards = {
        side: rotate(chest, np.stack(np.broadcast_arrays(
            SIGN[side] * np.sin(style.elbows_out), 0.35, -np.cos(style.elbows_out)
        ), axis=-1))
        for side in SIDES
    }
    fork = ride.standing.fork_rotation
    palm = {side: np.subtract(joints[f"hand.{side}"], joints[f"grip.{side}"]) for side in SIDES}
    for side in SIDES:
        wrist[side], hand[side] = grips[side] + rotate(fork, palm[side]), fork
    for _ in range(2):
        elbow, _pole, _short = bend_arms(figure, shoulder, wrist, towards)
        for side in SIDES:
            # The hand turns about the grip, so that the wrist is not bent too far.
            grip_axis = _grip_axis(figure, side)
            local = rotate(_inverse(fork), elbow[side] - grips[side])
            off = local - np.outer(local @ grip_axis, grip_axis)
            rest = palm[side] - grip_axis * float(palm[side] @ grip_axis)
            angle = np.arctan2(np.cross(rest, off) @ grip_axis, off @ rest)
            angle = limited(np.asarray(style.wrist_follow) * angle, radians(50.0))
            hand[side] = multiply(fork, from_axis_angle(grip_axis, angle))
            wrist[side] = grips[side] + rotate(hand[side], palm[side])
    _, pole, shortfall = bend_arms(figure, shoulder, wrist, towards)
    return wrist, hand, pole, shortfall


def _inverse(rotation: np.ndarray) -> np.ndarray:
    return rotation * np.array((1.0, -1.0, -1.0, -1.0))


def _grip_axis(figure: Figure, side: str) -> np.ndarray:
    """Direction (3,) of a grip in the rest pose: across the hand and level."""
    palm = np.subtract(figure.joints[f"hand.{side}"], figure.joints[f"grip.{side}"])
    return normalise(np.cross(palm, (0.0, 0.0, 1.0)))


def _knee_way(signals: Signals, legs: _Legs, style, side: str) -> np.ndarray:
    """Direction (n, 3) that a knee points to, in the upright frame: ahead, a little out."""
    sign = SIGN[side]
    inside = np.maximum(sign * saturated(signals.lean, radians(20.0)), 0.0)
    out = style.knee_out * inside**2 * legs.coasting + radians(2.0)
    return np.stack((sign * np.sin(out), -np.cos(out), np.zeros_like(out)), axis=-1)


def _knees(figure, ride, legs, style, signals, pelvis, pelvis_turn, body_lean):
    """Points (2, n, 3) that the knees bend towards, and their bends (2, n)."""
    joints = figure.joints
    bracket = np.asarray(joints["crank"])
    upright = posture(ride.lean, 0.0, 0.0)
    across = rotate(upright, np.array((1.0, 0.0, 0.0)))
    middle = ride.place(ride.standing.rear_axle)
    size = figure.height / STATURE
    poles, flexion = [], []
    for side in SIDES:
        sign, (thigh, shin) = SIGN[side], figure.leg(side)
        hip = pelvis + rotate(pelvis_turn, np.subtract(joints[f"hip.{side}"], joints["pelvis"]))
        ankle = _on_frame(figure, ride, bracket + legs.ankle[side])
        way = rotate(upright, _knee_way(signals, legs, style, side))
        line = normalise(ankle - hip)
        for _ in range(3):
            leg = two_bone(hip, ankle, hip + way, thigh, shin)
            # Beside the frame: a swaying bicycle pushes the knee out.
            beside = sign * np.einsum("ij,ij->i", leg.middle - middle, across)
            near = ramp(KNEE_BESIDE * size - beside, 0.01 * size)
            way = way + (sign * 4.0 / size * near)[:, None] * across
        leg = two_bone(hip, ankle, hip + way, thigh, shin)
        bend = way - np.einsum("ij,ij->i", way, line)[:, None] * line
        poles.append(leg.middle + 0.28 * figure.height * normalise(bend))
        flexion.append(leg.flexion)
    return np.stack(poles), np.stack(flexion)


def _head(signals, ground: Ground, style, chest, chest_yaw):
    ahead = gaze_yaw(ground.origin, signals.spacing, -ground.axes[:, :, 1], ground.axes[:, :, 0],
                     style.look_ahead)
    lean = signals.lean * (1.0 - np.asarray(style.head_level))
    return pose_head(chest, lean, ahead, style.gaze_down, chest_yaw, style.gaze_limit)


def _wheels(ride: _Ride, rear_distance: np.ndarray) -> dict[str, np.ndarray]:
    """How far the wheels have turned against frame and fork, and the lengths of their tracks."""
    standing = ride.standing
    pitch = standing.pitch - standing.pitch[0]
    front = ride.ground.world(ride.place(standing.contact))
    front_distance = track_length(front, ride.yaw + standing.track_angle)
    return {
        # The frame's own pitch turns its wheels along.
        "rear_wheel": rolled(rear_distance, standing.rear_rolling) - pitch,
        "front_wheel": rolled(front_distance, standing.front_rolling)
        - pitch * np.cos(standing.steer),
        "rear_distance": rear_distance,
        "front_distance": front_distance,
    }


def _yielded(signals, figure, ride, legs, size, yielded: _Yielded, calmed, shortfall, position):
    """What could not be had, and what a real bicycle would not forgive."""
    time = signals.time
    cadence = np.abs(np.gradient(legs.crank, time)) * 30.0 / np.pi if len(time) > 1 else 0.0 * time
    lowest = np.min([position[f"pedal.{side}"][:, 2] for side in SIDES], axis=0)
    problems = [
        *span_problem(time, yielded.sunk, 0.005 * size, code="LEG_REACH",
                      message="The hips sink so that the feet stay on the pedals", bone="pelvis",
                      remedy="Feet less pitched, or less Ankle Range"),
        *span_problem(time, yielded.moved, 0.005 * size, code="ARM_REACH",
                      message="The hips come ahead so that the hands stay on the grips",
                      bone="pelvis", remedy="More bend of the trunk, or hips further forward"),
        *span_problem(time, np.abs(calmed), radians(2.0), code="ARM_REACH", unit="rad",
                      message="The bicycle sways less than asked so that the hands reach the "
                      "grips,", bone="bike", remedy="Less Sway"),
        *span_problem(time, np.abs(yielded.bent), radians(5.0), code="ARM_REACH", unit="rad",
                      message=_bent_words(yielded.bent), bone="chest",
                      remedy="An amount of Trunk Pitch or Standing Pitch nearer to what it has"),
        *span_problem(time, LOWEST_PEDAL * size - lowest, 0.0, code="PEDAL_STRIKE",
                      severity="WARNING", message="A pedal comes too near to the road",
                      bone="crank", remedy="A lower Coast Above, so that the inside pedal is up"),
        *span_problem(time, np.abs(ride.standing.steer), radians(60.0), code="STEER_LIMIT",
                      unit="rad", message="The handlebars are turned", bone="fork",
                      remedy="A lower Curvature Limit, or wider turns"),
        *span_problem(time, cadence - MOST_CADENCE, 0.0, code="CADENCE", unit="rpm",
                      message="The cadence is over 130 turns a minute",
                      bone="crank", remedy="A higher Gear, or Gear at 0 for the automatic one"),
    ]
    for side in SIDES:
        problems += span_problem(
            time, shortfall[side], 1e-6, code="ARM_REACH", severity="WARNING",
            message=f"{SIDE_WORDS[side]} arm is too short for its grip", bone=f"hand.{side}",
            remedy="More Trunk Pitch, or hips further forward",
        )
    return tuple(problems)


def _bent_words(bent: np.ndarray) -> str:
    most = bent[np.argmax(np.abs(bent))]
    way = "further than asked so that the hands reach" if most > 0.0 else (
        "less than asked so that the arms have room behind")
    return f"The trunk bends {way} the grips,"


def _attributes(signals, ride, legs, wheels, flexion, chest_yaw):
    spacing = max(signals.spacing, 1e-9)
    cadence = np.gradient(legs.crank) / spacing if len(legs.crank) > 1 else 0.0 * legs.crank
    named = {
        "lean": signals.lean,
        "curvature": signals.curvature,
        "force": signals.force,
        "phase": signals.phase,
        "frame_lean": ride.lean,
        "steer": ride.standing.steer,
        "crank": legs.crank,
        "cadence": cadence,
        "gear": legs.gear,
        "effort": legs.effort,
        "rear_distance": wheels["rear_distance"],
        "front_distance": wheels["front_distance"],
        "twist": chest_yaw,
    }
    for i, side in enumerate(SIDES):
        named |= {
            f"knee_flexion.{side}": flexion[i],
            f"foot_pitch.{side}": legs.pedal_pitch[side],
        }
    return named

