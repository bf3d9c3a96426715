"""Small things, each drawn around the point where a hand grips it, as held by somebody who looks right.

Every painter takes the brush, the thing's `level` (0 to 1: how full, how open, how much is flowing) and the time.
"""

import math

from tools.draw_demo.brush import Brush, Colour, blend, rgb, shade

_WOOD, _STEEL, _PAPER = rgb("#a9774a"), rgb("#b9c1c9"), rgb("#fbf7ee")
JUICE, WATER, COFFEE = rgb("#f4a93a"), rgb("#a9d8ee"), rgb("#6b4630")

# Distance from the grip down to the base, so that things stand on tables.
MUG_BASE, GLASS_BASE, JUG_BASE, BOX_BASE, BALL_BASE = 9.0, 12.0, 17.0, 22.0, 11.0
CAN_BASE, BAG_BASE = 17.0, 19.0


class Mug:
    """A mug of some colour."""

    def __init__(self, colour: Colour) -> None:
        self.colour = colour

    def __call__(self, b: Brush, level: float, t: float) -> None:
        """Draw it; `level` above 0 steams."""
        b.ellipse(-7, 1, 5, 5.5, shade(self.colour, 0.85))
        b.ellipse(-7, 1, 2.6, 3, rgb("#efe4d4"))
        b.box(-7, -9, 8, 9, self.colour, 3)
        b.box(-7, -9, 8, -6.5, shade(self.colour, 0.8), 1)
        if level > 0.05:
            for number in range(2):
                x = -2 + number * 5
                rise = (t * 0.7 + number * 0.4) % 1.0
                b.stroke([(x, -12 - rise * 7), (x + 2 * math.sin(t * 3), -16 - rise * 7)], 1.6, rgb("#ffffff"))


class Glass:
    """A tumbler that fills up with `colour`."""

    def __init__(self, colour: Colour) -> None:
        self.colour = colour

    def __call__(self, b: Brush, level: float, _t: float) -> None:
        """Draw it, filled to `level`."""
        b.poly([(-8, -12), (8, -12), (6.5, 12), (-6.5, 12)], rgb("#e3f1f5"))
        if level > 0.02:
            y = 10 - 20 * level
            half = 6.2 + 1.2 * level
            b.poly([(-half, y), (half, y), (6, 10.5), (-6, 10.5)], self.colour)
        b.stroke([(-4.5, -8), (-3.8, 6)], 1.6, rgb("#ffffff"))


class Jug:
    """A jug held by its handle."""

    def __init__(self, body: Colour, liquid: Colour) -> None:
        self.body, self.liquid = body, liquid

    def __call__(self, b: Brush, level: float, t: float) -> None:
        """Draw it; `level` 1 while it flows."""
        b.ellipse(3, -1, 9, 12, shade(self.body, 0.8))
        b.ellipse(3, -1, 5.5, 8, rgb("#efe4d4"))
        b.poly([(8, -16), (26, -16), (31, -18), (28, -8), (31, 17), (5, 17)], self.body)
        b.poly([(7, -4), (28.5, -4), (30.5, 16), (5.5, 16)], self.liquid)
        if level > 0.3:
            b.stroke([(30, -17), (33, -19)], 4, self.liquid)


def stream(b: Brush, length: float, colour: Colour, drops: bool, t: float) -> None:
    """What falls straight down from (0, 0): a stream, or single drops."""
    if not drops:
        b.capsule((0, 0), (0.6 * math.sin(t * 40), length), 2.4, 1.6, colour)
        return
    for number in range(9):
        fallen = (t * 1.9 + number / 9) % 1.0
        x = -6 + 12 * ((number * 5) % 9) / 8
        b.ellipse(x * (0.4 + fallen), fallen * length, 1.5, 2.6, colour)


def ball(b: Brush, _level: float, _t: float) -> None:
    """A big striped ball."""
    b.ellipse(0, 0, 11, 11, rgb("#e2574c"))
    b.hull([(0, -8, 2.6), (3, 0, 3.2), (0, 8, 2.6)], rgb("#fff3dc"))
    b.ellipse(-7, 0, 2.6, 5, rgb("#f6c544"))


def small_ball(b: Brush, _level: float, _t: float) -> None:
    """A tennis ball."""
    b.ellipse(0, 0, 6, 6, rgb("#d8e04a"))
    b.stroke([(-4, -3), (0, -1), (4, -3)], 1.2, rgb("#ffffff"))


def box(b: Brush, _level: float, _t: float) -> None:
    """A cardboard box."""
    b.box(-27, -22, 27, 22, rgb("#c99a63"), 2)
    b.box(-27, -22, 27, -15, rgb("#b98650"), 1)
    b.box(-5, -22, 5, 22, rgb("#e0bd87"))
    b.box(11, 6, 21, 15, rgb("#f4e6c8"), 1)


def present(b: Brush, _level: float, _t: float) -> None:
    """A wrapped present."""
    b.box(-18, -14, 18, 16, rgb("#5aa7a0"), 2)
    b.box(-20, -16, 20, -8, rgb("#6dbbb3"), 2)
    b.box(-4, -16, 4, 16, rgb("#f4d35e"))
    b.ellipse(-7, -19, 7, 4.5, rgb("#f4d35e"))
    b.ellipse(7, -19, 7, 4.5, rgb("#f4d35e"))


class Book:
    """An open book between both hands; `level` turns a page."""

    def __init__(self, cover: Colour) -> None:
        self.cover = cover

    def __call__(self, b: Brush, level: float, _t: float) -> None:
        """Draw it; `level` is how far a page has turned."""
        b.poly([(-17, -15), (0, -11), (17, -15), (17, 9), (0, 13), (-17, 9)], self.cover)
        b.poly([(-15, -17), (0, -13), (0, 9), (-15, 6)], _PAPER)
        b.poly([(15, -17), (0, -13), (0, 9), (15, 6)], shade(_PAPER, 0.94))
        for y in (-10, -5, 0):
            b.stroke([(-12, y - 2), (-3, y)], 1, rgb("#b8b0a2"))
            b.stroke([(12, y - 2), (3, y)], 1, rgb("#b8b0a2"))
        if 0.02 < level < 0.98:
            x = 15 * math.cos(level * math.pi)
            b.poly(
                [(0, -13), (x, -17 - 8 * math.sin(level * math.pi)), (x, 5 - 6 * math.sin(level * math.pi)), (0, 9)],
                _PAPER,
            )


def closed_book(b: Brush, _level: float, _t: float) -> None:
    """A closed book lying flat."""
    b.box(-14, -4, 14, 4, rgb("#4f78a8"), 1)
    b.box(-12, -2.5, 14.5, 2.5, _PAPER, 1)


def phone(b: Brush, level: float, t: float) -> None:
    """A mobile phone; `level` 1 makes it ring."""
    shake = 1.2 * math.sin(t * 60) * level
    b.box(-5 + shake, -10, 5 + shake, 8, rgb("#33313b"), 2)
    b.box(-3.6 + shake, -8, 3.6 + shake, 5, blend(rgb("#8fb7d9"), rgb("#d7f2a0"), level), 1)
    if level > 0.5:
        for side in (-1, 1):
            for ring in (1, 2):
                x = side * (7 + 4 * ring)
                b.stroke([(x, -8 - 2 * ring), (x + side * 2, -1), (x, 6 + 2 * ring)], 1.8, rgb("#f2b632"))


def fork(b: Brush, level: float, _t: float) -> None:
    """A fork; at `level` 1 with a bite on it."""
    b.stroke([(-3, 5), (10, -7)], 2, _STEEL)
    b.stroke([(10, -7), (14, -11)], 3.4, _STEEL)
    if level > 0.5:
        b.ellipse(15, -12, 4, 3.4, rgb("#d9803f"))


def plate(b: Brush, level: float, _t: float) -> None:
    """A plate with food, `level` of it left."""
    b.ellipse(0, 0, 24, 4.5, rgb("#ffffff"))
    b.ellipse(0, 0.8, 18, 3, rgb("#e4e8ea"))
    if level > 0.1:
        b.ellipse(-2, -3, 12 * math.sqrt(level), 6 * level, rgb("#d9803f"))
        b.ellipse(6, -3, 5 * level, 4 * level, rgb("#6fa85a"))


def bowl(b: Brush, level: float, _t: float) -> None:
    """A dog's bowl."""
    if level > 0.05:
        b.ellipse(0, -4, 14, 6.5 * level, rgb("#8a5a34"))
    b.poly([(-15, -5), (15, -5), (19, 6), (-19, 6)], rgb("#5b8fc7"))
    b.ellipse(0, 0.5, 4, 3, rgb("#dcebf7"))


def food_bag(b: Brush, _level: float, _t: float) -> None:
    """A bag of dog food."""
    b.poly([(-11, -17), (13, -17), (15, 19), (-13, 19)], rgb("#d9694f"))
    b.box(-11, -20, 13, -15, rgb("#b8523b"), 1)
    b.ellipse(1, 3, 8.5, 9, rgb("#fbe9cf"))
    b.capsule((-3, 4), (5, 4), 2.4, 2.4, rgb("#b98650"))


def watering_can(b: Brush, _level: float, _t: float) -> None:
    """A watering can held by the handle on top."""
    can = rgb("#5f9e8f")
    b.ellipse(0, 0, 10, 8, shade(can, 0.85))
    b.ellipse(0, 1.5, 6.5, 5, rgb("#dfead6"))
    b.box(-13, 1, 13, 19, can, 3)
    b.capsule((11, 13), (32, -4), 3.4, 2.2, can)
    b.hull([(33, -8, 1.8), (37, 0, 1.8)], shade(can, 0.85))


def umbrella(b: Brush, level: float, _t: float) -> None:
    """An umbrella held upright by its pole; `level` opens it."""
    b.stroke([(0, 10), (0, -88)], 2.6, rgb("#5a4a42"))
    wide, low = 6 + 60 * level, -62 + 8 * level - (1 - level) * -34
    top = -92.0
    arc = [(wide * math.cos(a), low + (top - low) * math.sin(a)) for a in (math.pi * k / 16 for k in range(17))]
    scallop = [(-wide + wide * k / 6, low - (6 * level if k % 2 else 0)) for k in range(1, 12)]
    b.poly(arc + scallop, rgb("#d9534a"))
    if level > 0.5:
        b.poly([(-wide * 0.33, low - 5), (0, top + 1), (wide * 0.33, low - 5)], rgb("#e8786f"))


def broom(b: Brush, _level: float, _t: float) -> None:
    """A broom, gripped in the middle of its stick."""
    b.stroke([(-12, -52), (14, 62)], 3.4, _WOOD)
    b.poly([(9, 60), (20, 58), (32, 84), (4, 88)], rgb("#e3bf62"))
    b.box(8, 57, 21, 63, rgb("#c9534a"), 2)


def teddy(b: Brush, _level: float, _t: float) -> None:
    """A teddy bear."""
    fur = rgb("#b98a5a")
    for side in (-1, 1):
        b.ellipse(side * 6, -19, 3.6, 3.6, fur)
        b.capsule((side * 6, -2), (side * 11, 4), 3.6, 3, fur)
        b.capsule((side * 4, 10), (side * 8, 15), 4, 3.6, fur)
    b.ellipse(0, 4, 9, 10.5, fur)
    b.ellipse(0, -12, 9.5, 8.5, shade(fur, 1.08))
    b.ellipse(0, -9.5, 4, 3, rgb("#ecd3ae"))
    for side in (-1, 1):
        b.ellipse(side * 3.4, -13.5, 1.2, 1.4, rgb("#2d2a32"))


def flowers(b: Brush, _level: float, _t: float) -> None:
    """A bunch of flowers."""
    for x, y, colour in ((-8, -22, "#e86a78"), (1, -28, "#f6c544"), (9, -21, "#c98ad0"), (0, -18, "#f08a6a")):
        b.stroke([(0, 6), (x, y)], 1.8, rgb("#5f9a55"))
        b.ellipse(x, y, 6, 6, rgb(colour))
        b.ellipse(x, y, 2.2, 2.2, rgb("#fff3c4"))
    b.poly([(-9, -8), (9, -8), (3, 12), (-3, 12)], rgb("#f3e7d2"))
