# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bone of any rig plays which role: numbers and names in, a role map out.

Nothing here knows Blender: `addon/rigs/skeletons.py` reads an armature into a
`Skeleton`, and `recognise` tells its roles.
"""

from .recognition import engine_bones, recognise
from .rolemap import RoleMap
from .skeleton import BoneRest, Skeleton
from .standing import standing

__all__ = ["BoneRest", "RoleMap", "Skeleton", "engine_bones", "recognise", "standing"]
