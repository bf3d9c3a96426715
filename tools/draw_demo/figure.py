"""A jointed person in flat colours: limbs by two-bone inverse kinematics, drawn from back to front."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from tools.draw_demo.brush import Brush, Point, shade
from tools.draw_demo.cast import Look
from tools.draw_demo.head import draw_back_hair, draw_head

# Lengths as shares of the body height.
HIP, TORSO, NECK = 0.484, 0.275, 0.128
THIGH, SHIN, ARM, ANKLE = 0.225, 0.225, 0.158, 0.035
HAND = 0.024


@dataclass(frozen=True, slots=True)
class Pose:
    """Where a body is, in frame pixels; `near` limbs are drawn in front of the torso, `far` ones behind.

    `facing` runs from -1 (left) over 0 (to the viewer) to 1 (right); `away` shows the back of the head.
    `lean` and `nod` are radians, forward positive.
    """

    hip: Point
    facing: float
    lean: float
    nod: float
    near_foot: Point
    far_foot: Point
    near_pitch: float
    far_pitch: float
    away: bool = False
    mouth: float = 0.0
    blink: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """The joints that follow from hip, lean and facing alone."""

    near_shoulder: Point
    far_shoulder: Point
    chest: Point
    head: Point


def frame_of(look: Look, pose: Pose) -> Frame:
    """Shoulders and head of a pose."""
    size, turned = look.height, abs(pose.facing)
    sin, cos = math.sin(pose.lean) * pose.facing, math.cos(pose.lean)
    x, y = pose.hip
    chest = (x + sin * TORSO * size, y - cos * TORSO * size)
    spread = size * (0.078 - 0.055 * turned)
    neck = pose.lean + pose.nod
    reach = size * NECK * (0.5 + 0.5 * look.head)
    head = (
        chest[0] + math.sin(neck) * pose.facing * reach + pose.facing * size * 0.008,
        chest[1] - math.cos(neck) * reach,
    )
    return Frame((chest[0] - spread, chest[1] + size * 0.02), (chest[0] + spread, chest[1] + size * 0.02), chest, head)


def bend(start: Point, target: Point, first: float, second: float, prefer: Point) -> tuple[Point, Point]:
    """The middle joint and the end of a two-bone limb that reaches for `target`.

    Two-bone inverse kinematics by the law of cosines: the joint lies at distance `a` along the line from start
    to end and `h` beside it, a = (first^2 - second^2 + d^2) / 2d, h = sqrt(first^2 - a^2), towards `prefer`.
    Where the preferred side is unclear the limb is foreshortened rather than snapped over. A target out of
    reach is approached as far as the limb goes.

    >>> bend((0, 0), (8, 0), 5, 5, (0, 1))
    ((4.0, 3.0), (8.0, 0.0))
    """
    dx, dy = target[0] - start[0], target[1] - start[1]
    wanted = math.hypot(dx, dy)
    distance = min(max(wanted, abs(first - second) + 1e-6, 1e-6), first + second - 1e-6)
    ux, uy = (dx / wanted, dy / wanted) if wanted > 1e-9 else (0.0, 1.0)
    along = (first**2 - second**2 + distance**2) / (2 * distance)
    beside = math.sqrt(max(0.0, first**2 - along**2))
    side = max(-1.0, min(1.0, 3 * (prefer[0] * -uy + prefer[1] * ux)))
    joint = (start[0] + ux * along - uy * beside * side, start[1] + uy * along + ux * beside * side)
    return joint, (start[0] + ux * distance, start[1] + uy * distance)


def arm(look: Look, pose: Pose, shoulder: Point, target: Point, side: int) -> tuple[Point, Point]:
    """Elbow and hand; `side` is -1 for the near arm and 1 for the far one."""
    outward = -pose.facing * 0.6 + side * (1 - abs(pose.facing)) * 0.6
    length = ARM * look.height
    return bend(shoulder, target, length, length, (outward, 1.0))


def _draw_arm(brush: Brush, look: Look, joints: tuple[Point, Point, Point], dim: float) -> None:
    size = look.height
    shoulder, elbow, hand = joints
    skin, cloth = shade(look.skin, dim), shade(look.top, dim)
    upper, middle, wrist = size * 0.033, size * 0.027, size * 0.02
    brush.ellipse(*hand, size * HAND, size * HAND, skin)
    if look.sleeve >= 1:
        cuff = (elbow[0] + (hand[0] - elbow[0]) * 0.86, elbow[1] + (hand[1] - elbow[1]) * 0.86)
        brush.capsule(elbow, cuff, middle, wrist * 1.15, cloth)
        brush.capsule(shoulder, elbow, upper, middle, cloth)
    else:
        brush.capsule(elbow, hand, middle * 0.92, wrist, skin)
        brush.capsule(shoulder, elbow, upper * 0.85, middle * 0.92, skin)
        share = look.sleeve * 1.2
        hem = (shoulder[0] + (elbow[0] - shoulder[0]) * share, shoulder[1] + (elbow[1] - shoulder[1]) * share)
        brush.capsule(shoulder, hem, upper, upper * 1.02, cloth)


def _draw_leg(brush: Brush, look: Look, pose: Pose, near: bool) -> Point:
    size, turned = look.height, abs(pose.facing)
    side = -1 if near else 1
    dim = 1.0 if near else 0.86
    spread = side * size * (0.042 - 0.03 * turned)
    hip = (pose.hip[0] + spread, pose.hip[1])
    foot = pose.near_foot if near else pose.far_foot
    pitch = pose.near_pitch if near else pose.far_pitch
    prefer = (pose.facing + side * (1 - turned) * 0.35, 0.0)
    knee, ankle = bend(hip, foot, THIGH * size, SHIN * size, prefer)
    bare = look.skirt
    colour = shade(look.skin if bare else look.legs, dim)
    slim = 0.8 if bare else 1.0
    shoe = shade(look.shoes, dim)
    direction = pose.facing + side * (1 - turned) * 0.4
    toe = (ankle[0] + direction * size * 0.075 * math.cos(pitch), ankle[1] + size * (0.012 + 0.075 * math.sin(pitch)))
    brush.capsule(knee, ankle, size * 0.035 * slim, size * 0.025 * slim, colour)
    brush.capsule(hip, knee, size * 0.05 * slim, size * 0.036 * slim, colour)
    brush.capsule((ankle[0] - direction * size * 0.012, ankle[1] + size * 0.006), toe, size * 0.028, size * 0.022, shoe)
    return knee


def _draw_torso(brush: Brush, look: Look, pose: Pose, body: Frame, knees: tuple[Point, Point]) -> None:
    size, turned = look.height, abs(pose.facing)
    (hx, hy), (cx, cy) = pose.hip, body.chest
    wide, hips = size * (0.058 - 0.032 * turned), size * (0.038 - 0.02 * turned)
    if look.skirt:
        hem = [(k[0] + (hx - k[0]) * 0.12, k[1] + (hy - k[1]) * 0.12, size * 0.056) for k in knees]
        brush.hull([(hx - hips, hy, size * 0.055), (hx + hips, hy, size * 0.055), *hem], shade(look.legs, 0.93))
    else:
        brush.hull([(hx - hips, hy, size * 0.052), (hx + hips, hy, size * 0.052)], look.legs)
    waist_x, waist_y = hx + (cx - hx) * 0.12, hy + (cy - hy) * 0.12
    shoulders = [(cx - wide, cy + size * 0.032, size * 0.05), (cx + wide, cy + size * 0.032, size * 0.05)]
    belly = [(waist_x - hips, waist_y, size * 0.053), (waist_x + hips, waist_y, size * 0.053)]
    brush.hull([*shoulders, *belly], look.top)
    neck = (cx + (body.head[0] - cx) * 0.5, cy + (body.head[1] - cy) * 0.5)
    brush.capsule((cx, cy), neck, size * 0.028, size * 0.027, shade(look.skin, 0.9))


def draw_figure(
    brush: Brush,
    look: Look,
    pose: Pose,
    near_hand: Point,
    far_hand: Point,
    hold_near: Callable[[Point], None] | None = None,
    hold_far: Callable[[Point], None] | None = None,
) -> None:
    """Draw a person; `hold_*` draw what is in a hand, and are called so that the fingers cover it."""
    body = frame_of(look, pose)
    far_elbow, far_end = arm(look, pose, body.far_shoulder, far_hand, 1)
    near_elbow, near_end = arm(look, pose, body.near_shoulder, near_hand, -1)
    if not pose.away:
        draw_back_hair(brush, look, pose.facing, body.head)
    if hold_far:
        hold_far(far_end)
    _draw_arm(brush, look, (body.far_shoulder, far_elbow, far_end), 0.86)
    far_knee = _draw_leg(brush, look, pose, near=False)
    near_knee = _draw_leg(brush, look, pose, near=True)
    _draw_torso(brush, look, pose, body, (near_knee, far_knee))
    draw_head(brush, look, pose.facing, body.head, away=pose.away, mouth=pose.mouth, blink=pose.blink)
    if hold_near:
        hold_near(near_end)
    _draw_arm(brush, look, (body.near_shoulder, near_elbow, near_end), 0.95 if abs(pose.facing) > 0.5 else 1.0)
