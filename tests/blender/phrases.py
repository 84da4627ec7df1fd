# SPDX-License-Identifier: GPL-3.0-or-later
"""Phrases of postures on rigs of other people: what the rig's own bones do in the world."""

import bpy
import numpy as np
from own_rigs_help import places
from poise.addon import pipeline
from poise.addon.rigs import characters
from poise.addon.rigs.controls import control_rig
from poise.solvers import rotations

# Links of a body that recognition calls otherwise.
CALLED = {"elbow_joint": "forearm"}
STILL = 1e-3  # m that a support may slide
MEETS = 1e-3  # of the height: how far a posture may be off
FALLS = 5e-4  # of the height: how far a mass may be off a fall


def posed(rig, motion):
    """Frame -> the rig's own bones in the world, in each posture that bears the body."""
    known = control_rig.followers(control_rig.controls_of(rig))
    settings, found = motion.poise_motion.freeform, {}
    for index, item in enumerate(settings.postures):
        if item.standing:
            settings.posture_index = index
            assert bpy.ops.poise.posture_pose() == {"FINISHED"}
            found[item.frame] = places(rig, [bone for bone, _ in known.values()])
    return found


def at(rig, bones, time, job):
    """Bone -> (4, 4) in the world, in metres, at a time of a motion, s."""
    frame = job.start_frame + time * job.numbers.fps
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
    found = {name: np.array(matrix) for name, matrix in places(rig, bones).items()}
    for matrix in found.values():
        matrix[:3, 3] *= job.numbers.unit_scale
    return found


def require(rig, motion, postures):
    """Postures are met, supports stay, and the mass of the rig's bones falls between them.

    Args:
        rig: somebody's rig, whose bake is to be looked at.
        motion: the Motion object.
        postures: what `posed` gave.
    """
    solved = pipeline.solve(pipeline.gather(bpy.context, motion))
    job, body = solved.job, solved.body
    controls = control_rig.controls_of(rig)
    known = {role: bone for role, (bone, _) in control_rig.followers(controls).items()}
    size = job.figure.height
    for frame, bones in postures.items():
        now = at(rig, list(bones), (frame - job.start_frame) / job.numbers.fps, job)
        for role, bone in known.items():
            if role.split(".")[0] in ("pelvis", "foot", "hand", "hind", "fore"):
                there = np.array(bones[bone].translation) * job.numbers.unit_scale
                far = np.linalg.norm(now[bone][:3, 3] - there)
                assert far < MEETS * size, (frame, role, far)
    supports = 0
    for leg in job.figure.legs:
        bone = known[next(role for role in reversed(leg.segments) if role in known)]
        for contact in (c for c in solved.tracks.contacts if c.role == leg.tip):
            span = np.clip((contact.start, contact.end), 0.0, solved.tracks.time[-1])
            looks = [at(rig, [bone], t, job)[bone] for t in np.linspace(*span, 6)]
            local = np.linalg.inv(looks[0]) @ np.append(contact.position, 1.0)
            slid = np.ptp([(look @ local)[:3] for look in looks], axis=0).max()
            assert slid < STILL, (leg.name, contact.start, slid)
            supports += 1
    assert supports >= len(job.figure.legs)
    for start, end in solved.motion.flights:
        times = np.arange(start, end + 1e-6, 1.0 / job.numbers.fps)
        centre = np.array([_centre(at(rig, list(known.values()), t, job), known, controls, body)
                           for t in times])
        t = times - start
        way = centre + 0.5 * 9.81 * np.outer(t * t, (0, 0, 1.0))
        straight = np.polynomial.polynomial.polyfit(t, way, 1)
        off = way - (straight[0] + np.outer(t, straight[1]))
        assert np.abs(off).max() < FALLS * size, off
    assert len(solved.motion.flights) == 1
    return solved


def _centre(bones, known, controls, body):
    """(3,) of the mass, each link being where the rig's bone says that plays it."""
    figure = body.body.figure
    metres = body.figure.height / characters.figure_of(controls).height
    turns, joints = [], []
    for name, parent, offset in zip(body.names, figure.parents, figure.places, strict=True):
        base, dot, side = name.partition(".")
        role = CALLED.get(base, base) + dot + side
        if role in known:
            rest = np.array(controls.data.bones[f"TGT-{role}"].matrix_local)
            now = bones[known[role]]
            axes = now[:3, :3] / np.linalg.norm(now[:3, :3], axis=0)
            turns.append(rotations.from_matrix(axes @ rest[:3, :3].T))
            offset = body.figure.joints[name] - metres * rest[:3, 3]
            joints.append(now[:3, 3] + rotations.rotate(turns[-1], offset))
        else:
            turns.append(turns[parent])
            joints.append(joints[parent] + rotations.rotate(turns[parent], offset))
    share = figure.masses / figure.masses.sum()
    return sum(
        m * (joint + rotations.rotate(turn, own))
        for m, joint, turn, own in zip(share, joints, turns, figure.centres, strict=True)
    )
