"""Faces and hair. Coordinates are in head radii around the middle of the head."""

import math

from tools.draw_demo.brush import Brush, Point, blend, rgb, shade
from tools.draw_demo.cast import Look

_EYE, _WHITE = rgb("#2d2a32"), rgb("#ffffff")


def head_radius(look: Look) -> float:
    """Half the width of the head in frame pixels (it is a little taller than wide)."""
    return look.height * 0.079 * look.head


def draw_back_hair(brush: Brush, look: Look, facing: float, centre: Point) -> None:
    """Hair that hangs behind neck and shoulders."""
    b = brush.moved(*centre, scale=head_radius(look))
    dark = shade(look.hair, 0.85)
    if look.style == "long":
        b.hull(
            [(-facing * 0.25, -0.2, 1.1), (-facing * 0.5 - 0.45, 1.45, 0.5), (-facing * 0.5 + 0.45, 1.45, 0.5)], dark
        )
    elif look.style == "bun":
        b.ellipse(-facing * 0.85, -0.85, 0.5, 0.5, dark)
    elif look.style == "pigtails":
        for side in (-1, 1):
            x = side * (1.0 - 0.25 * abs(facing)) - facing * 0.25
            b.capsule((x, -0.1), (x + side * 0.25 - facing * 0.15, 0.95), 0.34, 0.2, look.hair)
            b.ellipse(x, -0.12, 0.16, 0.16, rgb("#d9534a"))


def _fringe(b: Brush, look: Look, facing: float) -> None:
    left, right = 0.0 + 0.32 * facing, 0.0 - 0.32 * facing
    arc = [math.pi + math.pi * step / 14 for step in range(15)]
    outer = [(math.cos(a) * 1.08 - facing * 0.06, math.sin(a) * 1.2 * 1.02 + 0.02) for a in arc]
    top = -0.42
    inner = [
        (1.04 - facing * 0.06, right),
        (0.84 + facing * 0.05, right - 0.12),
        (0.55 + facing * 0.2, top - 0.08),
        (0.1 + facing * 0.25, top - 0.2),
        (-0.4 + facing * 0.2, top - 0.1),
        (-0.84 + facing * 0.05, left - 0.12),
        (-1.04 - facing * 0.06, left),
    ]
    if look.style == "thin":
        inner[2:5] = [(0.7 + facing * 0.1, -0.62), (0.0 + facing * 0.1, -1.12), (-0.7 + facing * 0.1, -0.62)]
    b.poly(outer + inner, look.hair)
    if look.style == "curly":
        for step in range(9):
            a = math.pi * (0.98 + step * 1.04 / 8)
            if math.cos(a) * facing > 0.8:
                continue
            b.ellipse(math.cos(a) * 0.98 - facing * 0.08, math.sin(a) * 1.08 - 0.08, 0.32, 0.32, look.hair)


def draw_head(brush: Brush, look: Look, facing: float, centre: Point, *, away: bool, mouth: float, blink: bool) -> None:
    """The head; `mouth` from 0 (closed, smiling) to 1 (open)."""
    b = brush.moved(*centre, scale=head_radius(look))
    if away:
        b.ellipse(-0.98, 0.1, 0.18, 0.24, shade(look.skin, 0.9))
        b.ellipse(0.98, 0.1, 0.18, 0.24, shade(look.skin, 0.9))
        b.ellipse(0, 0, 1.0, 1.18, look.skin)
        if look.style == "thin":
            b.hull([(-0.5, 0.3, 0.55), (0.5, 0.3, 0.55), (0, 0.7, 0.5)], shade(look.hair, 0.94))
            return
        b.hull([(0, -0.15, 1.08), (-0.3, 0.55, 0.6), (0.3, 0.55, 0.6)], look.hair)
        if look.style == "curly":
            _fringe(b, look, 0.0)
        if look.style == "long":
            b.hull([(0, 0, 1.08), (-0.5, 1.6, 0.45), (0.5, 1.6, 0.45)], shade(look.hair, 0.94))
        elif look.style == "bun":
            b.ellipse(0, -0.9, 0.5, 0.48, shade(look.hair, 1.25))
        elif look.style == "pigtails":
            draw_back_hair(brush, look, 0.0, centre)
        return
    ear_x = -facing * 0.42
    for side in (-1, 1):
        x = side * (1.0 - 0.12 * abs(facing)) if abs(facing) < 0.5 else ear_x
        if abs(facing) < 0.5:
            b.ellipse(x, 0.12, 0.18, 0.24, shade(look.skin, 0.93))
    b.hull([(0, -0.18, 1.0), (facing * 0.12, 0.3, 0.88)], look.skin)
    b.ellipse(facing * 0.98, 0.22, 0.17, 0.15, look.skin)
    if look.beard:
        beard = shade(look.hair, 0.93)
        x = facing * 0.2
        b.hull([(x - 0.55, 0.55, 0.36), (x + 0.55, 0.55, 0.36), (x, 0.92, 0.42)], beard)
        b.ellipse(facing * 0.55, 0.2, 0.6 - 0.15 * abs(facing), 0.22, look.skin)
    _fringe(b, look, facing)
    if abs(facing) >= 0.5:
        b.ellipse(ear_x, 0.15, 0.19, 0.25, shade(look.skin, 0.92))
    _draw_face(b, look, facing, mouth, blink)


def _draw_face(b: Brush, look: Look, facing: float, mouth: float, blink: bool) -> None:
    middle = facing * 0.48
    gap = 0.4 - 0.1 * abs(facing)
    cheek = blend(look.skin, rgb("#e8705f"), 0.28)
    for side in (-1, 1):
        x = middle + side * gap
        brow = shade(look.hair, 0.75)
        b.box(x - 0.16, -0.28, x + 0.16, -0.205, brow)
        if not look.beard:
            b.ellipse(middle + side * (gap + 0.12), 0.34, 0.16, 0.11, cheek)
        if look.glasses:
            b.ellipse(x, 0.04, 0.27, 0.27, rgb("#55505e"))
            b.ellipse(x, 0.04, 0.21, 0.21, blend(look.skin, _WHITE, 0.45))
        if blink:
            b.box(x - 0.12, 0.01, x + 0.12, 0.075, _EYE)
        else:
            b.ellipse(x, 0.03, 0.1, 0.135, _EYE)
            b.ellipse(x + 0.03, -0.02, 0.035, 0.04, _WHITE)
    b.ellipse(middle + facing * 0.12, 0.24, 0.1, 0.075, shade(look.skin, 0.86))
    x, y = facing * 0.5, 0.58
    lip = rgb("#9c3f3f")
    if mouth > 0.08:
        b.ellipse(x, y + 0.02, 0.17, 0.05 + 0.15 * mouth, rgb("#7a2e33"))
    else:
        upper = [(x - 0.22, y - 0.07), (x - 0.08, y), (x + 0.08, y), (x + 0.22, y - 0.07)]
        lower = [(x + 0.22, y - 0.01), (x + 0.1, y + 0.08), (x - 0.1, y + 0.08), (x - 0.22, y - 0.01)]
        b.poly(upper + lower, lip)
