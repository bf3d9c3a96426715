"""Furniture, plants and trees. Base points are the middle of the foot on the floor, in frame pixels."""

import math

from tools.draw_demo.brush import Brush, Colour, rgb, shade

WOOD, DARK_WOOD = rgb("#b98352"), rgb("#8a5d3b")
DAY = rgb("#bfe3ef")
LEAF, DARK_LEAF = rgb("#6fa66a"), rgb("#558a58")


def window(b: Brush, x0: float, y0: float, x1: float, y1: float, sky: Colour = DAY) -> None:
    """A window onto hills."""
    b.box(x0 - 6, y0 - 6, x1 + 6, y1 + 6, rgb("#ffffff"), 3)
    b.box(x0, y0, x1, y1, sky)
    wide, low = x1 - x0, y1
    b.poly(
        [
            (x0, low),
            (x0, low - 22),
            (x0 + wide * 0.3, low - 36),
            (x0 + wide * 0.62, low - 18),
            (x1, low - 30),
            (x1, low),
        ],
        rgb("#a8cf9a"),
    )
    b.ellipse(x0 + wide * 0.25, y0 + 18, 10, 5, rgb("#ffffff"))
    b.ellipse(x0 + wide * 0.33, y0 + 15, 9, 6, rgb("#ffffff"))
    middle = (x0 + x1) / 2
    b.box(middle - 2, y0, middle + 2, y1, rgb("#ffffff"))
    b.box(x0 - 10, y1 + 4, x1 + 10, y1 + 11, rgb("#f1ece3"), 2)


def curtains(b: Brush, x0: float, y0: float, x1: float, y1: float, cloth: Colour, open_share: float = 1.0) -> None:
    """Curtains on a rod; `open_share` 0 covers the window."""
    wide = (x1 - x0) / 2 * (1 - 0.68 * open_share) + 8
    for start, sign in ((x0 - 10.0, 1), (x1 + 10.0, -1)):
        b.poly(
            [(start, y0 - 10), (start + sign * wide, y0 - 10), (start + sign * wide * 0.96, y1 + 22), (start, y1 + 22)],
            cloth,
        )
        for fold in range(1, 4):
            x = start + sign * wide * fold / 4
            b.stroke([(x, y0 - 8), (x, y1 + 20)], 1.6, shade(cloth, 0.88))
    b.stroke([(x0 - 20, y0 - 12), (x1 + 20, y0 - 12)], 4, DARK_WOOD)


def picture(b: Brush, x: float, y: float, wide: float, high: float, tint: Colour) -> None:
    """A framed landscape with its middle at (x, y)."""
    b.box(x - wide / 2 - 4, y - high / 2 - 4, x + wide / 2 + 4, y + high / 2 + 4, WOOD, 1)
    b.box(x - wide / 2, y - high / 2, x + wide / 2, y + high / 2, rgb("#fbf6ea"))
    b.ellipse(x + wide * 0.2, y - high * 0.16, high * 0.14, high * 0.14, rgb("#f2b632"))
    b.poly([(x - wide / 2, y + high / 2), (x - wide * 0.1, y - high * 0.1), (x + wide * 0.2, y + high / 2)], tint)
    b.poly(
        [(x - wide * 0.1, y + high / 2), (x + wide * 0.25, y + high * 0.08), (x + wide / 2, y + high / 2)],
        shade(tint, 0.82),
    )


def pot_plant(b: Brush, x: float, y: float, scale: float = 1.0, sway: float = 0.0) -> None:
    """A plant in a pot."""
    p = b.moved(x, y, scale=scale)
    for number, angle in enumerate((-1.1, 1.1, -0.65, 0.65, -0.2, 0.25)):
        a = angle + sway
        length = 50 + 8 * (number // 2)
        tip = (math.sin(a) * length, -28 - math.cos(a) * length)
        middle = (math.sin(a) * length * 0.55, -28 - math.cos(a) * length * 0.62)
        colour = LEAF if number % 2 else DARK_LEAF
        p.stroke([(0, -28), middle], 2.4, colour)
        p.hull([(*middle, 6.5), (*tip, 1.5)], colour)
    p.poly([(-17, -32), (17, -32), (13, 0), (-13, 0)], rgb("#d0765a"))
    p.box(-19, -36, 19, -27, rgb("#bd6649"), 2)


def floor_lamp(b: Brush, x: float, y: float, power: float) -> None:
    """A standing lamp, `power` 0 to 1."""
    b.ellipse(x, y - 2, 17, 4, rgb("#5a4f4a"))
    b.stroke([(x, y - 4), (x, y - 132)], 3.4, rgb("#5a4f4a"))
    dim, lit = (214, 188, 142), (255, 233, 170)
    colour = (
        round(dim[0] + (lit[0] - dim[0]) * power),
        round(dim[1] + (lit[1] - dim[1]) * power),
        round(dim[2] + (lit[2] - dim[2]) * power),
    )
    b.poly([(x - 17, y - 170), (x + 17, y - 170), (x + 30, y - 128), (x - 30, y - 128)], colour)
    b.stroke([(x + 11, y - 128), (x + 11, y - 108)], 1.4, rgb("#5a4f4a"))
    b.ellipse(x + 11, y - 107, 2.6, 2.6, rgb("#5a4f4a"))


def sofa(b: Brush, x: float, y: float, wide: float, cloth: Colour) -> None:
    """A sofa; its seat is 48 above its base."""
    half = wide / 2
    b.shadow(x, y, half + 8, 9)
    b.box(x - half + 12, y - 6, x - half + 20, y + 2, DARK_WOOD)
    b.box(x + half - 20, y - 6, x + half - 12, y + 2, DARK_WOOD)
    b.box(x - half + 6, y - 104, x + half - 6, y - 20, shade(cloth, 0.9), 14)
    b.box(x - half + 14, y - 56, x - 1, y - 34, shade(cloth, 1.1), 7)
    b.box(x + 1, y - 56, x + half - 14, y - 34, shade(cloth, 1.1), 7)
    b.box(x - half + 8, y - 40, x + half - 8, y - 6, cloth, 5)
    for side in (-1, 1):
        b.box(x + side * (half - 10) - 12, y - 70, x + side * (half - 10) + 12, y - 4, shade(cloth, 0.96), 9)
    b.box(x + half - 64, y - 84, x + half - 28, y - 54, rgb("#f2c87a"), 8)


def two_chairs(b: Brush, left: float, right: float, y: float) -> None:
    """Chairs at both sides of a table."""
    chair(b, left, y, 1)
    chair(b, right, y, -1)


def chair(b: Brush, x: float, y: float, facing: int, wood: Colour = WOOD) -> None:
    """A side-view chair whose sitter looks to `facing`; its seat is 50 above its base."""
    back = x - facing * 21
    for leg in (x - 17, x + 17):
        b.stroke([(leg, y - 46), (leg + (2 if leg > x else -2), y)], 4.4, shade(wood, 0.85))
    b.stroke([(back, y - 48), (back - facing * 7, y - 112)], 5, wood)
    b.box(x - 23, y - 52, x + 23, y - 45, wood, 3)
    b.capsule((back - facing * 4, y - 84), (back - facing * 7, y - 110), 4.6, 4.6, shade(wood, 1.1))


def table(b: Brush, x0: float, x1: float, top: float, y: float, wood: Colour = WOOD) -> None:
    """A side-view table whose surface lies at `top`."""
    for leg in (x0 + 14, x1 - 14):
        b.box(leg - 4, top + 4, leg + 4, y, shade(wood, 0.8))
    b.box(x0, top, x1, top + 9, wood, 3)
    b.box(x0 + 8, top + 9, x1 - 8, top + 15, shade(wood, 0.88))


def round_table(b: Brush, x: float, top: float, y: float, half: float = 50.0) -> None:
    """A café table on one leg."""
    b.ellipse(x, y - 2, 26, 5, rgb("#4d4a55"))
    b.box(x - 3.5, top + 4, x + 3.5, y - 2, rgb("#4d4a55"))
    b.box(x - half, top, x + half, top + 7, rgb("#f3ece1"), 3)
    b.box(x - half + 3, top + 5, x + half - 3, top + 8, rgb("#d8cbb8"), 1)


def bookshelf(b: Brush, x0: float, y0: float, x1: float, y1: float) -> None:
    """A shelf full of books."""
    b.box(x0, y0, x1, y1, DARK_WOOD, 2)
    tints = ("#c9605a", "#5b8fc7", "#e0b04f", "#6fa66a", "#8d7bb0", "#d98a5f", "#4f7f86")
    rows = max(1, round((y1 - y0) / 44))
    high = (y1 - y0 - 5) / rows
    for row in range(rows):
        top, x = y0 + 5 + row * high, x0 + 6.0
        b.box(x0 + 5, top, x1 - 5, top + high - 5, rgb("#6f4a30"))
        number = row * 3
        while x < x1 - 15:
            wide = 7 + (number * 5) % 6
            tall = high - 11 - (number * 7) % 9
            b.box(x, top + high - 5 - tall, x + wide, top + high - 5, rgb(tints[number % 7]), 1)
            x += wide + (12 if number % 6 == 5 else 1)
            number += 1


def cupboards(b: Brush, x0: float, y0: float, x1: float, y1: float, paint: Colour, doors: int) -> None:
    """A row of cupboard doors."""
    wide = (x1 - x0) / doors
    b.box(x0, y0, x1, y1, shade(paint, 0.92), 2)
    for number in range(doors):
        left = x0 + number * wide
        b.box(left + 3, y0 + 4, left + wide - 3, y1 - 4, paint, 3)
        b.box(left + wide - 13, (y0 + y1) / 2 - 8, left + wide - 10, (y0 + y1) / 2 + 8, rgb("#b9a68c"), 1)


def tree(b: Brush, x: float, y: float, scale: float = 1.0, tint: Colour = LEAF) -> None:
    """A round tree."""
    t = b.moved(x, y, scale=scale)
    t.poly([(-7, 0), (7, 0), (4, -80), (-4, -80)], rgb("#8f6a4c"))
    for dx, dy, r in ((-26, -92, 32), (27, -96, 31), (0, -122, 38)):
        t.ellipse(dx, dy, r, r * 0.95, tint)
    for dx, dy, r in ((-14, -116, 20), (16, -130, 16)):
        t.ellipse(dx, dy, r, r * 0.9, shade(tint, 1.1))


def bench(b: Brush, x: float, y: float, wide: float = 130.0) -> None:
    """A park bench seen from the front; its seat is 48 above its base."""
    half = wide / 2
    b.shadow(x, y, half + 6, 6)
    for side in (-1, 1):
        b.box(x + side * (half - 14) - 3, y - 90, x + side * (half - 14) + 3, y, rgb("#4d4a55"))
    for top in (-94, -78, -62):
        b.box(x - half, y + top, x + half, y + top + 11, rgb("#b97f4e"), 3)
    b.box(x - half - 2, y - 48, x + half + 2, y - 38, rgb("#a56d3f"), 3)


def door_leaf(b: Brush, x0: float, y0: float, x1: float, y1: float, paint: Colour, opened: float) -> None:
    """A door hinged at `x0`; `opened` 0 to 1 swings it towards the viewer."""
    edge = x0 + (x1 - x0) * math.cos(opened * 1.25)
    dip = 15 * math.sin(opened * 1.25)
    b.poly([(x0, y0), (edge, y0 - dip * 0.35), (edge, y1 + dip), (x0, y1)], shade(paint, 1 - 0.12 * opened))
    for low, high in ((0.08, 0.45), (0.53, 0.92)):
        left, right = x0 + (edge - x0) * 0.16, x0 + (edge - x0) * 0.84
        y_low, y_high = y0 + (y1 - y0) * low, y0 + (y1 - y0) * high
        b.poly(
            [(left, y_low), (right, y_low - dip * 0.2), (right, y_high + dip * 0.4), (left, y_high)], shade(paint, 0.86)
        )
    b.ellipse(x0 + (edge - x0) * 0.9, (y0 + y1) / 2 + 6 + dip * 0.4, 3.2, 3.2, rgb("#f2cf6b"))


def computer(b: Brush, x: float = 442, top: float = 250) -> None:
    """A screen seen from the side on a desk, with a keyboard to its left."""
    b.box(x - 12, top - 4, x + 18, top, rgb("#55505e"), 2)
    b.stroke([(x + 6, top - 4), (x + 2, top - 30)], 4, rgb("#55505e"))
    b.poly([(x - 8, top - 66), (x + 1, top - 66), (x + 7, top - 16), (x - 2, top - 16)], rgb("#3b3a45"))
    b.poly([(x - 8, top - 66), (x - 5, top - 66), (x + 1, top - 16), (x - 2, top - 16)], rgb("#a9d8ee"))
    b.box(x - 64, top - 4, x - 26, top, rgb("#e9edf0"), 1)
