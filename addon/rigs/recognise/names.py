# SPDX-License-Identifier: GPL-3.0-or-later
"""What the name of a bone says: its side, its part of the body, whether it only helps.

Names are read as words, whatever separates them and whatever prefix they
carry: "mixamorig7:LeftUpLeg", "J_Bip_L_UpperLeg", "thigh_l", "Bip01 L Thigh",
"lThighBend", "左足", "DEF-thigh.L.001". A word may mean several parts ("leg" is
a thigh or a shin, "shoulder" a clavicle or an upper arm): each gets a weight,
and the place of the bone in its limb decides.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

# Word -> part of the body -> how sure the word is of it. Parts that are roles
# are called like them; "leg" and "arm" are for segments that only say so much.
_PARTS: dict[str, dict[str, float]] = {
    # The way into the rig.
    "root": {"root": 1.0}, "master": {"root": 0.9}, "global": {"root": 0.9},
    "world": {"root": 0.8}, "reference": {"root": 0.9}, "traj": {"root": 0.9},
    "trajectory": {"root": 0.9}, "origin": {"root": 0.8}, "rootjoint": {"root": 1.0},
    "ground": {"root": 0.7}, "armature": {"root": 0.5}, "main": {"root": 0.4},
    # Trunk.
    "pelvis": {"pelvis": 1.0}, "hips": {"pelvis": 1.0}, "hip": {"pelvis": 0.8, "thigh": 0.8},
    "cog": {"pelvis": 0.7}, "com": {"pelvis": 0.5}, "bip": {"pelvis": 0.4},
    "lowerbody": {"pelvis": 0.8}, "sacrum": {"pelvis": 0.8},
    "spine": {"spine": 1.0, "chest": 0.4}, "abdomen": {"spine": 0.9}, "belly": {"spine": 0.6},
    "stomach": {"spine": 0.7}, "torso": {"spine": 0.8, "pelvis": 0.3, "chest": 0.4},
    "waist": {"spine": 0.7, "pelvis": 0.4}, "lowerback": {"spine": 0.9},
    "upperback": {"spine": 0.7, "chest": 0.7}, "back": {"spine": 0.6, "pelvis": 0.5},
    "body": {"spine": 0.3, "pelvis": 0.3, "root": 0.3}, "trunk": {"spine": 0.6},
    "lumbar": {"spine": 0.9}, "tummy": {"spine": 0.8}, "upperbody": {"spine": 0.7},
    "chest": {"chest": 1.0, "spine": 0.5}, "upperchest": {"chest": 1.0},
    "thorax": {"chest": 0.9, "spine": 0.4}, "ribs": {"chest": 0.6, "spine": 0.4},
    "ribcage": {"chest": 0.9}, "rib": {"chest": 0.5}, "withers": {"chest": 0.6},
    "neck": {"neck": 1.0}, "cervical": {"neck": 0.9},
    "head": {"head": 1.0}, "skull": {"head": 0.8}, "eye": {"eye": 1.0}, "eyeball": {"eye": 0.9},
    "tail": {"tail": 1.0}, "coccyx": {"tail": 0.6},
    # Arms.
    "clavicle": {"clavicle": 1.0}, "collar": {"clavicle": 1.0}, "collarbone": {"clavicle": 1.0},
    "clav": {"clavicle": 1.0}, "scapula": {"clavicle": 0.9}, "shoulderblade": {"clavicle": 0.9},
    "shoulder": {"clavicle": 0.9, "upper_arm": 0.75}, "shldr": {"upper_arm": 0.9},
    "upperarm": {"upper_arm": 1.0}, "uparm": {"upper_arm": 1.0}, "humerus": {"upper_arm": 1.0},
    "bicep": {"upper_arm": 0.8}, "arm": {"upper_arm": 0.8, "forearm": 0.4, "arm": 1.0},
    "forearm": {"forearm": 1.0}, "lowerarm": {"forearm": 1.0}, "lowarm": {"forearm": 1.0},
    "elbow": {"forearm": 1.0}, "ulna": {"forearm": 0.9}, "radius": {"forearm": 0.8},
    "hand": {"hand": 1.0}, "wrist": {"hand": 1.0},
    # Legs.
    "thigh": {"thigh": 1.0}, "upleg": {"thigh": 1.0}, "upperleg": {"thigh": 1.0},
    "hipjoint": {"thigh": 0.4}, "femur": {"thigh": 1.0}, "buttock": {"thigh": 0.3},
    "leg": {"thigh": 0.7, "shin": 0.8, "leg": 1.0}, "shin": {"shin": 1.0},
    "calf": {"shin": 1.0}, "knee": {"shin": 1.0}, "lowerleg": {"shin": 1.0},
    "lowleg": {"shin": 1.0}, "loleg": {"shin": 1.0}, "tibia": {"shin": 1.0},
    "crus": {"shin": 0.9}, "stifle": {"shin": 0.8}, "hock": {"foot": 0.8},
    "metatarsus": {"foot": 0.8}, "tarsus": {"foot": 0.8}, "ankle": {"foot": 1.0},
    "foot": {"foot": 1.0, "toe": 0.6}, "feet": {"foot": 0.8}, "paw": {"foot": 0.8, "toe": 0.6},
    "pastern": {"toe": 0.7}, "fetlock": {"toe": 0.7}, "toe": {"toe": 1.0},
    "toes": {"toe": 1.0}, "toebase": {"toe": 1.0}, "ball": {"toe": 1.0},
    "hoof": {"toe": 0.9, "foot": 0.5}, "claw": {"toe": 0.6},
    # Joined with the end of the body.
    "forefoot": {"foot": 1.0}, "hindfoot": {"foot": 1.0},
    "forepaw": {"foot": 1.0}, "hindpaw": {"foot": 1.0},
    "foreleg": {"leg": 1.0, "thigh": 0.7}, "hindleg": {"leg": 1.0, "thigh": 0.7},
}

# Chinese and Japanese, looked for anywhere in the name, the longest first.
_CJK: dict[str, dict[str, float]] = {
    "全ての親": {"root": 1.0}, "全親": {"root": 0.9}, "センター": {"pelvis": 0.6, "root": 0.3},
    "グルーブ": {"root": 0.2}, "腰": {"pelvis": 0.7}, "下半身": {"pelvis": 1.0},
    "骨盆": {"pelvis": 1.0}, "臀": {"pelvis": 0.7}, "上半身": {"spine": 1.0, "chest": 0.5},
    "脊椎": {"spine": 1.0}, "脊柱": {"spine": 1.0}, "腹": {"spine": 0.8},
    "背骨": {"spine": 1.0}, "胸": {"chest": 1.0}, "首": {"neck": 1.0}, "颈": {"neck": 1.0},
    "頸": {"neck": 1.0}, "脖子": {"neck": 1.0}, "頭": {"head": 1.0}, "头": {"head": 1.0},
    "目": {"eye": 1.0}, "眼": {"eye": 1.0}, "尾": {"tail": 1.0}, "しっぽ": {"tail": 1.0},
    "肩": {"clavicle": 1.0, "upper_arm": 0.5}, "锁骨": {"clavicle": 1.0},
    "鎖骨": {"clavicle": 1.0}, "腕": {"upper_arm": 1.0}, "上腕": {"upper_arm": 1.0},
    "上臂": {"upper_arm": 1.0}, "大臂": {"upper_arm": 1.0}, "ひじ": {"forearm": 1.0},
    "肘": {"forearm": 1.0}, "前腕": {"forearm": 1.0}, "前臂": {"forearm": 1.0},
    "小臂": {"forearm": 1.0}, "手首": {"hand": 1.0}, "手腕": {"hand": 1.0}, "手": {"hand": 0.9},
    "足": {"thigh": 0.9, "leg": 1.0}, "脚": {"foot": 0.7, "thigh": 0.5, "leg": 0.8},
    "腿": {"thigh": 0.7, "shin": 0.5, "leg": 1.0}, "太もも": {"thigh": 1.0},
    "もも": {"thigh": 0.9}, "大腿": {"thigh": 1.0}, "ひざ": {"shin": 1.0}, "膝": {"shin": 1.0},
    "すね": {"shin": 1.0}, "小腿": {"shin": 1.0}, "足首": {"foot": 1.0}, "脚踝": {"foot": 1.0},
    "脚趾": {"toe": 1.0}, "つま先": {"toe": 1.0}, "爪先": {"toe": 1.0}, "足先": {"toe": 0.9},
}
_CJK_HELPERS = {
    "捩": "twist", "指": "finger", "髪": "soft", "头发": "soft", "スカート": "soft",
    "裙": "soft", "操作": "control", "先": "end",
}

_HELPERS: dict[str, str] = {
    **dict.fromkeys(("ik", "pole", "target", "goal", "mch", "ctrl", "control", "ctl", "vis",
                     "wgt", "helper", "pivot", "effector", "socket", "attach",
                     "weapon", "prop", "aim", "gizmo", "switch"), "control"),
    **dict.fromkeys(("twist", "roll", "rolls", "bend2", "corrective", "adj", "adjust", "muscle",
                     "stretch2", "volume", "deltoid", "extra", "fix"), "twist"),
    **dict.fromkeys(("finger", "fingers", "thumb", "index", "pinky", "little", "palm",
                     "metacarpal", "carpal", "fingerbase"), "finger"),
    **dict.fromkeys(("end", "nub", "site", "endsite", "leaf", "topend", "headtop",
                     "terminator"), "end"),
    **dict.fromkeys(("hair", "skirt", "cloth", "cape", "coat", "breast", "boob", "bust", "ear",
                     "ears", "jaw", "brow", "eyebrow", "lid", "eyelid", "lip", "lips", "mouth",
                     "teeth", "tooth", "tongue", "nose", "cheek", "chin", "face", "facial",
                     "temple", "mane", "bag", "hat", "horn", "feather", "butt",
                     "forehead", "heel", "saddle", "fin", "collider", "hitbox", "camera", "sleeve",
                     "ribbon", "scarf", "sec", "dress", "gown", "robe", "cloak", "kilt", "tassel",
                     "apron"), "soft"),
}
# Only fingers where nothing else is named.
_WEAK_FINGERS = {"middle", "mid", "ring"}

_SIDES = {
    "l": "L", "left": "L", "lft": "L", "lf": "L", "lt": "L", "links": "L", "gauche": "L",
    "izq": "L", "r": "R", "right": "R", "rgt": "R", "rt": "R", "rght": "R", "rechts": "R",
    "droit": "R", "droite": "R", "der": "R",
}
_CJK_SIDES = {"左": "L", "右": "R", "ひだり": "L", "みぎ": "R"}
_FORE = {"front", "fore", "forward", "frnt", "anterior"}
_HIND = {"back", "hind", "rear", "behind", "posterior"}
_UPPER = {"upper", "up", "upr"}
_LOWER = {"lower", "low", "lo", "lwr", "fore"}
# Words that say nothing about the part.
_NOISE = {
    "def", "org", "deform", "bone", "bn", "jnt", "joint", "j", "b", "c", "m", "bip", "bind",
    "skin", "sk", "base", "cc", "valve", "biped", "mixamorig", "skeleton", "character", "rig",
    "center", "centre", "mid", "middle", "seg", "segment", "tip", "bend", "main", "spine",
}

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


@dataclass(frozen=True)
class BoneName:
    """What a name says.

    Attributes:
        text: the name as it is.
        side: "L", "R", or "" where it does not say.
        parts: part of the body -> weight from 0 to 1; empty where it does not say.
            Roles without side and number, "leg" or "arm" for any segment of one,
            "hub" for what lies between trunk and limb.
        girdle: "fore", "hind" or "".
        helper: "control", "twist", "finger", "end", "soft" for bones that play no
            role, or "".
        number: the last number in it, or -1.
        mirror: the name without its side, for finding its partner; digits kept.
        tag: "DEF", "ORG" or "MCH" where it begins so, else "".
        unknown: how many of its words are none of these.
    """

    text: str
    side: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
    girdle: str = ""
    helper: str = ""
    number: int = -1
    mirror: str = ""
    tag: str = ""
    unknown: int = 0


def strip_prefix(name: str) -> str:
    """A name without the namespaces before it ("mixamorig7:Hips", "a|b|Hips").

    Args:
        name: the name.
    """
    return re.split(r"[:|]", name)[-1] or name


def _split(word: str) -> list[str]:
    """A word of one case taken apart where it is a side and a known word, or two."""
    if word in _PARTS or word in _SIDES or word in _HELPERS or len(word) < 3:
        return [word]
    for long in ("left", "right"):
        if word.startswith(long):
            return [long, *_split(word[len(long):])]
        if word.endswith(long):
            return [*_split(word[: -len(long)]), long]
    for first in sorted(_UPPER | _LOWER | _FORE | _HIND, key=len, reverse=True):
        if word.startswith(first) and word[len(first):] in _PARTS:
            return [first, word[len(first):]]
    if word[0] in "lr" and (word[1:] in _PARTS or word[1:] in _HELPERS):
        return [word[0], word[1:]]
    if word[-1] in "lr" and word[:-1] in _PARTS:
        return [word[:-1], word[-1]]
    return [word]


@lru_cache(maxsize=8192)
def parse(name: str) -> BoneName:
    """What a bone's name says.

    Args:
        name: the name.
    """
    text = unicodedata.normalize("NFKC", name)
    tag = re.match(r"(DEF|ORG|MCH)[-_.]", text)
    body = strip_prefix(text)
    if tag:
        body = body[len(tag[0]):] if body.startswith(tag[0]) else body
    # Blender's own numbering of equal names.
    copy = re.search(r"\.\d{3}$", body)
    body = body[: copy.start()] if copy else body
    raw = _WORD.findall(body)
    words = [part for word in raw for part in _split(word.lower())]

    side, girdle, helper, number = "", "", "", -1
    rest: list[str] = []
    mirror: list[str] = []
    cjk: dict[str, float] = {}
    # A single letter is a side only where it stands alone; the last one counts
    # ("R_Hand_L" is nobody's name, "r_hoof.L" is a rear hoof on the left).
    spots = [i for i, word in enumerate(words) if word in _SIDES]
    long = [i for i in spots if len(words[i]) > 1]
    chosen = (long or spots)[-1] if spots else -1
    for i, word in enumerate(words):
        if i == chosen:
            side = _SIDES[word]
            continue
        mirror.append(word)
        if word.isdigit():
            number = int(word)
        elif not word.isascii():
            found_side, found, found_helper = _cjk(word)
            side = side or found_side
            helper = helper or found_helper
            for part, weight in found.items():
                cjk[part] = max(weight, cjk.get(part, 0.0))
            if re.search("前(?![臂腕])", word):  # a forearm is none of a foreleg
                girdle = girdle or "fore"
            if "後" in word or "后" in word:
                girdle = girdle or "hind"
            for sign in _CJK_SIDES:
                mirror[-1] = mirror[-1].replace(sign, "")
        else:
            rest.append(word)
    parts, girdle_words, helper_words, unknown = _english(rest)
    for part, weight in cjk.items():
        parts[part] = max(weight, parts.get(part, 0.0))
    if side:
        # What lies on one side is no part of the trunk: half a pelvis is a hub.
        hub = "pelvis" in parts and len(parts) == 1
        parts = {k: v for k, v in parts.items() if k not in ("pelvis", "spine", "root")}
        if hub:
            parts["hub"] = 1.0
    return BoneName(
        text=name,
        side=side,
        parts=parts,
        girdle=girdle or girdle_words,
        helper=helper or helper_words,
        number=number,
        mirror="-".join(mirror) + (copy[0] if copy else ""),
        tag=tag[1] if tag else "",
        unknown=unknown,
    )


def _cjk(word: str) -> tuple[str, dict[str, float], str]:
    """Side, parts and helper of a Chinese or Japanese word."""
    side = next((found for sign, found in _CJK_SIDES.items() if sign in word), "")
    parts: dict[str, float] = {}
    left = word
    for known in sorted(_CJK, key=len, reverse=True):
        if known in left:
            for part, weight in _CJK[known].items():
                parts[part] = max(weight, parts.get(part, 0.0))
            left = left.replace(known, "")
    helper = next((kind for sign, kind in _CJK_HELPERS.items() if sign in left), "")
    return side, parts, helper


def _english(words: list[str]) -> tuple[dict[str, float], str, str, int]:
    """Parts, girdle, helper and the number of unknown words."""
    parts: dict[str, float] = {}
    used: set[int] = set()
    for count in range(min(3, len(words)), 0, -1):
        for start in range(len(words) - count + 1):
            span = range(start, start + count)
            phrase = "".join(words[start : start + count])
            if used & set(span) or (phrase not in _PARTS and phrase not in _HELPERS):
                continue
            if count > 1 or phrase in _PARTS:
                for part, weight in _PARTS.get(phrase, {}).items():
                    parts[part] = max(weight, parts.get(part, 0.0))
            if phrase in _PARTS:
                used |= set(span)
    if "bip" in words and len(parts) > 1:
        parts = {k: v for k, v in parts.items() if k != "pelvis" or "pelvis" in words}
    upper = any(word in _UPPER for word in words)
    lower = any(word in _LOWER for word in words)
    if upper != lower:
        # "Leg_Upper", "FrontUpperLeg": the words need not be neighbours.
        if "leg" in words:
            parts = {"thigh" if upper else "shin": 1.0, "leg": 1.0}
        elif "arm" in words:
            parts = {"upper_arm" if upper else "forearm": 1.0, "arm": 1.0}
        elif upper and "spine" in parts:
            parts = {**parts, "chest": max(0.6, parts.get("chest", 0.0))}
    limb = {"leg", "thigh", "shin", "foot", "toe", "arm", "upper_arm", "forearm", "hand",
            "clavicle"}
    girdle = ""
    forearm = "forearm" in "".join(words)
    if any(word in _FORE for word in words) and limb & set(parts) and not forearm:
        girdle = "fore"
    if any(word in _HIND for word in words) and limb & set(parts):
        girdle = "hind"
    if any(word in ("foreleg", "forefoot", "forepaw") for word in words):
        girdle = "fore"
    if any(word in ("hindleg", "hindfoot", "hindpaw") for word in words):
        girdle = "hind"
    if girdle:  # "BackLeg" is no back
        for part in ("spine", "pelvis"):
            if "hip" not in words and "pelvis" not in words:
                parts.pop(part, None)
    helpers = [word for word in words if word in _HELPERS]
    if "eye" in parts and set(helpers) <= {"adj", "face"}:
        helpers = []  # VRoid's eyes are called "J_Adj_L_FaceEye"
    helper = next((_HELPERS[word] for word in helpers), "")
    joined = "".join(words)
    if not helper and ("headtop" in joined or "endsite" in joined):
        helper = "end"
    if not helper and not parts and any(word in _WEAK_FINGERS for word in words):
        helper = "finger"
    unknown = sum(
        1
        for i, word in enumerate(words)
        if i not in used
        and word not in _NOISE | _FORE | _HIND | _UPPER | _LOWER
        and word not in _HELPERS
    )
    return parts, girdle, helper, unknown
