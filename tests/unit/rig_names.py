# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that public rigs give to the bones of a human figure, as role -> name.

Facts from: Mixamo's auto-rigger; Epic's mannequin; VRoid Studio and the VRM 1.0
humanoid; 3ds Max Biped and Valve's figures built on it; Daz Genesis 8; MikuMikuDance's
standard model; SMPL; Second Life; Reallusion's Character Creator; Autodesk HumanIK;
the BVH files of CMU, Poser and MotionBuilder; Rigify's metarig; MakeHuman.
"""

from __future__ import annotations

SIDES = {"L": ("Left", "left", "l", "L", "左"), "R": ("Right", "right", "r", "R", "右")}


def _table(trunk: dict[str, str], sided: dict[str, str]) -> dict[str, str]:
    """Names of both sides: {Side}, {side}, {s}, {S} and {CJK} stand for the side."""
    found = dict(trunk)
    for role, pattern in sided.items():
        for side, (Side, word, small, capital, cjk) in SIDES.items():
            found[f"{role}.{side}"] = pattern.format(
                Side=Side, side=word, s=small, S=capital, CJK=cjk
            )
    return found


def _trunk(*names: str) -> dict[str, str]:
    roles = ("root", "pelvis", "spine.1", "spine.2", "chest", "neck.1", "head")
    return dict(zip(roles, names, strict=True))


def _limbs(*names: str) -> dict[str, str]:
    roles = ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")
    return dict(zip(roles, names, strict=True))


MIXAMO = _table(
    _trunk("Root", "Hips", "Spine", "Spine1", "Spine2", "Neck", "Head"),
    _limbs("{Side}Shoulder", "{Side}Arm", "{Side}ForeArm", "{Side}Hand",
           "{Side}UpLeg", "{Side}Leg", "{Side}Foot", "{Side}ToeBase"),
)


def mixamo(prefix: str, ending: str = "") -> dict[str, str]:
    """Mixamo's names with a prefix and an ending."""
    return {role: f"{prefix}{name}{ending}" for role, name in MIXAMO.items()}


RIGS: dict[str, dict[str, str]] = {
    "mixamo": mixamo("mixamorig:"),
    "mixamo numbered": mixamo("mixamorig7:"),
    "mixamo underscore": mixamo("mixamorig_"),
    "mixamo character": mixamo("Captain_Armstrong_"),
    "mixamo copy": mixamo("mixamorig:", ".001"),
    "unreal": _table(
        _trunk("root", "pelvis", "spine_01", "spine_02", "spine_03", "neck_01", "head"),
        _limbs("clavicle_{s}", "upperarm_{s}", "lowerarm_{s}", "hand_{s}",
               "thigh_{s}", "calf_{s}", "foot_{s}", "ball_{s}"),
    ),
    "vroid": _table(
        _trunk("Root", "J_Bip_C_Hips", "J_Bip_C_Spine", "J_Bip_C_Chest", "J_Bip_C_UpperChest",
               "J_Bip_C_Neck", "J_Bip_C_Head"),
        _limbs("J_Bip_{S}_Shoulder", "J_Bip_{S}_UpperArm", "J_Bip_{S}_LowerArm",
               "J_Bip_{S}_Hand", "J_Bip_{S}_UpperLeg", "J_Bip_{S}_LowerLeg", "J_Bip_{S}_Foot",
               "J_Bip_{S}_ToeBase"),
    ),
    "vrm": _table(
        _trunk("root", "hips", "spine", "chest", "upperChest", "neck", "head"),
        _limbs("{side}Shoulder", "{side}UpperArm", "{side}LowerArm", "{side}Hand",
               "{side}UpperLeg", "{side}LowerLeg", "{side}Foot", "{side}Toes"),
    ),
    "biped": _table(
        _trunk("Bip01", "Bip01 Pelvis", "Bip01 Spine", "Bip01 Spine1", "Bip01 Spine2",
               "Bip01 Neck", "Bip01 Head"),
        _limbs("Bip01 {S} Clavicle", "Bip01 {S} UpperArm", "Bip01 {S} Forearm",
               "Bip01 {S} Hand", "Bip01 {S} Thigh", "Bip01 {S} Calf", "Bip01 {S} Foot",
               "Bip01 {S} Toe0"),
    ),
    "source": _table(
        _trunk("static_prop", "ValveBiped.Bip01_Pelvis", "ValveBiped.Bip01_Spine",
               "ValveBiped.Bip01_Spine1", "ValveBiped.Bip01_Spine2", "ValveBiped.Bip01_Neck1",
               "ValveBiped.Bip01_Head1"),
        _limbs("ValveBiped.Bip01_{S}_Clavicle", "ValveBiped.Bip01_{S}_UpperArm",
               "ValveBiped.Bip01_{S}_Forearm", "ValveBiped.Bip01_{S}_Hand",
               "ValveBiped.Bip01_{S}_Thigh", "ValveBiped.Bip01_{S}_Calf",
               "ValveBiped.Bip01_{S}_Foot", "ValveBiped.Bip01_{S}_Toe0"),
    ),
    "daz": _table(
        _trunk("Genesis8Female", "pelvis", "abdomenLower", "abdomenUpper", "chestLower",
               "neckLower", "head"),
        _limbs("{s}Collar", "{s}ShldrBend", "{s}ForearmBend", "{s}Hand",
               "{s}ThighBend", "{s}Shin", "{s}Foot", "{s}Toe"),
    ),
    "mmd": _table(
        _trunk("全ての親", "下半身", "上半身", "上半身1", "上半身2", "首", "頭"),
        _limbs("{CJK}肩", "{CJK}腕", "{CJK}ひじ", "{CJK}手首",
               "{CJK}足", "{CJK}ひざ", "{CJK}足首", "{CJK}つま先"),
    ),
    "chinese": _table(
        _trunk("根", "骨盆", "脊椎1", "脊椎2", "胸", "脖子", "头"),
        _limbs("{CJK}锁骨", "{CJK}上臂", "{CJK}前臂", "{CJK}手",
               "{CJK}大腿", "{CJK}小腿", "{CJK}脚踝", "{CJK}脚趾"),
    ),
    "smpl": _table(
        _trunk("root", "pelvis", "spine1", "spine2", "spine3", "neck", "head"),
        _limbs("{side}_collar", "{side}_shoulder", "{side}_elbow", "{side}_wrist",
               "{side}_hip", "{side}_knee", "{side}_ankle", "{side}_foot"),
    ),
    "second life": _table(
        _trunk("mRoot", "mPelvis", "mSpine1", "mTorso", "mChest", "mNeck", "mHead"),
        _limbs("mCollar{Side}", "mShoulder{Side}", "mElbow{Side}", "mWrist{Side}",
               "mHip{Side}", "mKnee{Side}", "mAnkle{Side}", "mFoot{Side}"),
    ),
    "character creator": _table(
        _trunk("CC_Base_BoneRoot", "CC_Base_Hip", "CC_Base_Waist", "CC_Base_Spine01",
               "CC_Base_Spine02", "CC_Base_NeckTwist01", "CC_Base_Head"),
        _limbs("CC_Base_{S}_Clavicle", "CC_Base_{S}_Upperarm", "CC_Base_{S}_Forearm",
               "CC_Base_{S}_Hand", "CC_Base_{S}_Thigh", "CC_Base_{S}_Calf",
               "CC_Base_{S}_Foot", "CC_Base_{S}_ToeBase"),
    ),
    "poser": _table(
        _trunk("body", "hip", "abdomen", "abdomen2", "chest", "neck", "head"),
        _limbs("{s}Collar", "{s}Shldr", "{s}ForeArm", "{s}Hand",
               "{s}Thigh", "{s}Shin", "{s}Foot", "{s}Toe"),
    ),
    "collar": _table(
        _trunk("Reference", "Hips", "Chest", "Chest2", "Chest3", "Neck", "Head"),
        _limbs("{Side}Collar", "{Side}Shoulder", "{Side}Elbow", "{Side}Wrist",
               "{Side}Hip", "{Side}Knee", "{Side}Ankle", "{Side}Toe"),
    ),
    "metarig": _table(
        _trunk("master", "spine", "spine.001", "spine.002", "spine.003", "neck", "head"),
        _limbs("shoulder.{S}", "upper_arm.{S}", "forearm.{S}", "hand.{S}",
               "thigh.{S}", "shin.{S}", "foot.{S}", "toe.{S}"),
    ),
    "words apart": _table(
        _trunk("Root_jnt", "Pelvis_jnt", "Spine_Lower_jnt", "Spine_Mid_jnt", "Spine_Upper_jnt",
               "Neck_jnt", "Head_jnt"),
        _limbs("{S}_Clavicle_jnt", "{S}_Arm_Upper_jnt", "{S}_Arm_Lower_jnt", "{S}_Hand_jnt",
               "{S}_Leg_Upper_jnt", "{S}_Leg_Lower_jnt", "{S}_Foot_jnt", "{S}_Toe_jnt"),
    ),
}
KINDS = {
    "mixamo": "MIXAMO", "mixamo numbered": "MIXAMO", "mixamo underscore": "MIXAMO",
    "mixamo copy": "MIXAMO", "unreal": "UNREAL", "vroid": "VRM", "vrm": "VRM",
    "collar": "BVH", "poser": "BVH", "mmd": "STRUCTURE", "daz": "STRUCTURE",
}
