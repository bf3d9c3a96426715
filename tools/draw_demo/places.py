"""Where the videos happen: painted once per video, behind everything that moves."""

from tools.draw_demo import furniture as f
from tools.draw_demo.brush import HEIGHT, WIDTH, Brush, Colour, rgb, shade

FLOOR = 262.0
"""Where wall and floor meet indoors."""


def _room(b: Brush, wall: Colour, floor: Colour, planks: bool = True) -> None:
    b.box(0, 0, WIDTH, FLOOR, wall)
    b.box(0, FLOOR, WIDTH, HEIGHT, floor)
    if planks:
        for number, y in enumerate((278, 300, 328)):
            b.box(0, y, WIDTH, y + 1.4, shade(floor, 0.93))
            for x in range(40 + 70 * (number % 2), WIDTH, 150):
                b.box(x, y - (16 + 6 * number), x + 1.4, y, shade(floor, 0.93))
    b.box(0, FLOOR - 9, WIDTH, FLOOR, shade(wall, 1.1))
    b.box(0, FLOOR - 1, WIDTH, FLOOR + 2, shade(floor, 0.82))


def living_room(b: Brush) -> None:
    """Green sofa in the middle (seat at y 270, x 240-400), lamp to its right, shelf at the far right."""
    _room(b, rgb("#f2e3cf"), rgb("#d3a878"))
    f.window(b, 60, 62, 170, 160)
    f.curtains(b, 60, 62, 170, 160, rgb("#e8a98c"))
    f.picture(b, 270, 92, 62, 46, rgb("#7fae8f"))
    f.picture(b, 362, 92, 62, 46, rgb("#8aa4c8"))
    f.bookshelf(b, 540, 108, 628, 284)
    f.pot_plant(b, 30, 292, 0.95)
    b.ellipse(320, 332, 215, 20, rgb("#e9cdb0"))
    b.ellipse(320, 332, 196, 16, rgb("#d98f73"))
    f.sofa(b, 320, 318, 210, rgb("#6f9c8c"))


def music_room(b: Brush) -> None:
    """A living room for a party: blue walls, sofa at the far left, garlands, radio table at the right."""
    _room(b, rgb("#cfe0e8"), rgb("#c99f74"))
    f.window(b, 430, 60, 540, 158, rgb("#f9d9a8"))
    f.picture(b, 110, 90, 80, 56, rgb("#d98f73"))
    f.sofa(b, 100, 306, 180, rgb("#c9786a"))
    f.pot_plant(b, 232, 284, 0.9)
    for number in range(13):
        x = 20 + number * 50
        y = 22 + 14 * (1 - ((number % 4) - 1.5) ** 2 / 2.25)
        b.poly([(x - 11, y), (x + 11, y), (x, y + 22)], rgb(("#d9534a", "#f2b632", "#5aa7a0", "#8d7bb0")[number % 4]))
    f.table(b, 556, 632, 236, 316)
    b.box(570, 206, 622, 236, rgb("#8a5d3b"), 4)
    b.ellipse(585, 221, 9, 9, rgb("#3b302c"))
    b.box(600, 213, 616, 218, rgb("#f2cf6b"), 1)
    b.stroke([(612, 206), (624, 182)], 1.8, rgb("#55505e"))
    b.ellipse(350, 330, 180, 18, rgb("#b9cdd6"))


def kitchen(b: Brush) -> None:
    """Counter along the back (surface at y 226, x 150-540), fridge at the right, door opening at the left."""
    _room(b, rgb("#f6ecd4"), rgb("#c7b8a6"), planks=False)
    for x in range(0, WIDTH, 64):
        b.poly([(x, FLOOR + 2), (x + 32, FLOOR + 2), (x + 14 - 30, HEIGHT), (x - 48, HEIGHT)], rgb("#d3c6b6"))
    b.box(150, 150, 540, 224, rgb("#e6efe9"))
    for x in range(150, 540, 26):
        b.box(x, 150, x + 1.2, 224, rgb("#d3e0d8"))
    for y in (174, 199):
        b.box(150, y, 540, y + 1.2, rgb("#d3e0d8"))
    f.window(b, 290, 52, 392, 138)
    f.cupboards(b, 150, 48, 270, 132, rgb("#8fb7a5"), 2)
    f.cupboards(b, 414, 48, 540, 132, rgb("#8fb7a5"), 2)
    f.cupboards(b, 150, 234, 540, 296, rgb("#8fb7a5"), 5)
    b.box(150, 292, 540, 300, rgb("#5f7f73"))
    b.box(144, 222, 546, 234, rgb("#f4efe6"), 3)
    b.stroke([(352, 222), (352, 202), (338, 200), (338, 206)], 3.4, rgb("#9aa4ad"))
    b.box(550, 84, 630, 300, rgb("#dfe7ee"), 6)
    b.box(550, 160, 630, 163, rgb("#b9c5cf"))
    b.box(556, 120, 560, 150, rgb("#9aa4ad"), 1)
    b.box(556, 172, 560, 214, rgb("#9aa4ad"), 1)
    b.box(586, 100, 606, 118, rgb("#f4d35e"), 1)
    f.pot_plant(b, 200, 222, 0.42)


def dining_room(b: Brush) -> None:
    """Empty middle for a table; sideboard at the right, door opening at the left."""
    _room(b, rgb("#e6d5dc"), rgb("#b98a63"))
    f.window(b, 262, 56, 378, 146, rgb("#f6cfa0"))
    f.curtains(b, 262, 56, 378, 146, rgb("#b5677d"))
    f.picture(b, 180, 96, 50, 62, rgb("#c98a6a"))
    f.picture(b, 462, 96, 50, 62, rgb("#7f9fb0"))
    b.box(536, 196, 634, 282, f.DARK_WOOD, 3)
    b.box(542, 204, 582, 274, f.WOOD, 2)
    b.box(588, 204, 628, 274, f.WOOD, 2)
    b.box(560, 178, 574, 196, rgb("#5aa7a0"), 3)
    b.box(600, 172, 610, 196, rgb("#e0b04f"), 2)
    b.ellipse(320, 333, 200, 18, rgb("#d9b7a0"))
    b.stroke([(320, 0), (320, 26)], 2, rgb("#55505e"))


def office(b: Brush) -> None:
    """Desk space at the right (x 350-510), whiteboard, window and shelf."""
    _room(b, rgb("#dce6ea"), rgb("#aab4bc"), planks=False)
    f.window(b, 400, 52, 540, 140)
    for x0, y0, high in ((410, 104, 36), (436, 88, 52), (470, 98, 42), (504, 84, 56)):
        b.box(x0, y0, x0 + 20, y0 + high, rgb("#9fb7c7"))
    b.box(470, 52, 473, 140, rgb("#ffffff"))
    b.box(186, 58, 330, 146, rgb("#ffffff"), 4)
    b.stroke([(202, 126), (230, 104), (258, 114), (300, 80)], 3, rgb("#d9534a"))
    b.box(204, 74, 250, 78, rgb("#8fb7d9"), 2)
    b.box(204, 84, 236, 88, rgb("#8fb7d9"), 2)
    f.bookshelf(b, 14, 110, 96, 284)
    f.pot_plant(b, 604, 288, 1.0)
    f.cupboards(b, 116, 218, 176, 286, rgb("#c9d3d9"), 1)


def bedroom(b: Brush) -> None:
    """Bed at the left (edge seat at x 205, y 272), wide window in the middle (x 300-410), wardrobe right."""
    _room(b, rgb("#d9e3f2"), rgb("#d9b48c"))
    f.window(b, 296, 60, 416, 166)
    f.picture(b, 110, 92, 66, 48, rgb("#e89aa8"))
    f.cupboards(b, 508, 82, 616, 286, rgb("#f3ddc6"), 2)
    b.ellipse(350, 332, 130, 16, rgb("#f0b8c0"))
    b.shadow(120, 322, 112, 8)
    b.box(6, 172, 20, 322, f.DARK_WOOD, 4)
    b.box(14, 286, 222, 312, f.WOOD, 3)
    b.box(208, 296, 216, 324, f.DARK_WOOD, 2)
    b.box(16, 264, 222, 292, rgb("#ffffff"), 8)
    b.box(22, 246, 76, 272, rgb("#fdf6ec"), 10)
    b.box(84, 260, 222, 298, rgb("#7f9fd0"), 8)
    for x in (104, 138, 172, 204):
        b.ellipse(x, 276, 5, 5, rgb("#a9c0e6"))
    b.box(232, 236, 262, 290, rgb("#f3ddc6"), 3)


def cafe(b: Brush) -> None:
    """Bar at the right (surface at y 226, from x 500), room for tables in the middle, blackboard, lamps."""
    _room(b, rgb("#e9d8c0"), rgb("#a9825f"))
    b.box(0, 150, WIDTH, FLOOR - 9, rgb("#8fa68f"))
    b.box(0, 146, WIDTH, 152, f.DARK_WOOD)
    b.box(56, 40, 172, 128, f.DARK_WOOD, 3)
    b.box(62, 46, 166, 122, rgb("#3f4a4d"))
    for y, wide in ((58, 60), (74, 78), (88, 50), (102, 70)):
        b.box(74, y, 74 + wide, y + 4, rgb("#e9e4d6"), 1)
    f.window(b, 250, 44, 390, 132, rgb("#cfe8ee"))
    for x in (210, 430):
        b.stroke([(x, 0), (x, 34)], 2, rgb("#3b302c"))
        b.poly([(x - 9, 34), (x + 9, 34), (x + 20, 54), (x - 20, 54)], rgb("#d9694f"))
        b.ellipse(x, 56, 7, 5, rgb("#fff0b8"))
    for y in (70, 112):
        b.box(500, y, 630, y + 5, f.DARK_WOOD)
        for number in range(5):
            b.box(
                508 + number * 24, y - 18, 522 + number * 24, y, rgb(("#ffffff", "#d9b98c", "#c9605a")[number % 3]), 3
            )
    b.box(500, 232, WIDTH, 312, rgb("#7a5540"), 2)
    for x in (520, 562, 604):
        b.box(x, 242, x + 32, 304, rgb("#8f6850"), 2)
    b.box(492, 222, WIDTH, 234, rgb("#f3ece1"), 3)
    b.box(566, 178, 626, 222, rgb("#9aa4ad"), 5)
    b.box(576, 200, 616, 222, rgb("#55505e"), 2)


def _outdoors(b: Brush, sky: Colour, ground: Colour, horizon: float) -> None:
    b.box(0, 0, WIDTH, horizon + 10, sky)
    for x, y, scale in ((110, 52, 1.0), (330, 34, 0.8), (540, 66, 1.1)):
        for dx, dy, r in ((-22, 4, 15), (0, -4, 20), (24, 3, 16)):
            b.ellipse(x + dx * scale, y + dy * scale, r * scale * 1.3, r * scale * 0.8, shade(sky, 1.1))
    b.box(0, horizon, WIDTH, HEIGHT, ground)


def park(b: Brush) -> None:
    """Meadow with a path; trees at both sides, bench space in the right half."""
    _outdoors(b, rgb("#bfe3ef"), rgb("#a5cf8a"), 214)
    b.hull([(60, 240, 70), (240, 250, 60)], rgb("#b5d8a6"))
    b.hull([(430, 252, 80), (640, 240, 70)], rgb("#b5d8a6"))
    b.box(0, 236, WIDTH, HEIGHT, rgb("#a5cf8a"))
    b.ellipse(210, 250, 70, 9, rgb("#9fd0e0"))
    f.tree(b, 54, 268, 1.15)
    f.tree(b, 596, 264, 1.25, rgb("#85b06a"))
    f.tree(b, 330, 244, 0.7, rgb("#85b06a"))
    b.poly([(0, 300), (WIDTH, 288), (WIDTH, 344), (0, 352)], rgb("#ead9b5"))
    for x, y in ((110, 282), (262, 274), (476, 280), (550, 276), (400, 270), (150, 262)):
        b.ellipse(x, y, 3, 3, rgb("#ffffff"))
        b.ellipse(x + 9, y + 4, 2.6, 2.6, rgb("#f4d35e"))


def playground(b: Brush) -> None:
    """A lawn with a slide at the far left and autumn trees."""
    _outdoors(b, rgb("#cfe6ee"), rgb("#b7cf86"), 222)
    f.tree(b, 560, 262, 1.3, rgb("#e0a24f"))
    f.tree(b, 470, 248, 0.8, rgb("#d98a4f"))
    f.tree(b, 250, 246, 0.75, rgb("#9db565"))
    for x in range(0, WIDTH, 22):
        b.box(x, 226, x + 4, 252, rgb("#f3ece1"), 1)
    b.box(0, 232, WIDTH, 236, rgb("#f3ece1"))
    b.stroke([(74, 296), (74, 176)], 5, rgb("#d9534a"))
    b.stroke([(52, 296), (52, 176)], 5, rgb("#d9534a"))
    for y in range(190, 296, 18):
        b.stroke([(52, y), (74, y)], 3.4, rgb("#c9b89c"))
    b.poly([(72, 176), (84, 172), (148, 284), (166, 290), (166, 298), (138, 294)], rgb("#5aa7d0"))
    b.ellipse(330, 336, 300, 30, rgb("#c7da98"))


def street(b: Brush) -> None:
    """A house with a front door opening (x 420-486, y 112-306), a pavement, a bench space at the left."""
    _outdoors(b, rgb("#cfe3ee"), rgb("#c9c4bb"), 250)
    for x0, y0, wide, tint in ((0, 96, 96, "#c7b6c4"), (96, 60, 110, "#d9c3a5"), (206, 110, 100, "#b9c7b4")):
        b.box(x0, y0, x0 + wide, 262, rgb(tint))
        for x in range(int(x0) + 14, int(x0 + wide) - 20, 32):
            for y in range(int(y0) + 16, 220, 40):
                b.box(x, y, x + 17, y + 23, rgb("#eef4f4"), 2)
    b.box(306, 24, WIDTH, 300, rgb("#d98f73"))
    for y in range(36, 300, 22):
        for x in range(310 + 18 * (y // 22 % 2), WIDTH, 92):
            b.box(x, y, x + 20, y + 5, rgb("#cf8163"), 1)
    f.window(b, 334, 84, 390, 168)
    f.window(b, 534, 84, 600, 168)
    for x0, x1 in ((330, 394), (530, 604)):
        b.box(x0 - 4, 180, x1 + 4, 194, rgb("#8a5d3b"), 2)
        for x in range(x0, x1, 10):
            b.ellipse(x + 4, 178, 7, 6, rgb("#6fa66a"))
            b.ellipse(x + 5, 174, 3.2, 3.2, rgb("#e86a78"))
    b.box(414, 105, 492, 306, rgb("#fbf4e6"), 2)
    b.box(420, 112, 486, 306, rgb("#5a4238"))
    b.poly([(420, 306), (486, 306), (486, 286), (420, 286)], rgb("#8a6a55"))
    b.poly([(402, 98), (504, 98), (494, 82), (412, 82)], rgb("#6b4a3c"))
    b.box(404, 304, 502, 314, rgb("#b5aea3"), 2)
    b.box(0, 300, 404, 304, rgb("#aaa397"))
    b.box(0, 346, WIDTH, 352, rgb("#aaa397"))
    b.box(0, 352, WIDTH, HEIGHT, rgb("#7f8086"))
    b.stroke([(262, 306), (262, 96)], 5, rgb("#4d555c"))
    b.stroke([(262, 98), (286, 92)], 4, rgb("#4d555c"))
    b.ellipse(290, 97, 12, 7, rgb("#fff0b8"))


def garden(b: Brush) -> None:
    """A lawn behind a house (back door at the far left), a fence and flower beds."""
    _outdoors(b, rgb("#c5e6ee"), rgb("#9fca84"), 226)
    f.tree(b, 470, 250, 1.2)
    f.tree(b, 600, 244, 0.9, rgb("#85b06a"))
    for x in range(150, WIDTH, 26):
        b.poly([(x, 262), (x, 200), (x + 9, 190), (x + 18, 200), (x + 18, 262)], rgb("#f6efe2"))
    b.box(150, 214, WIDTH, 220, rgb("#e3d8c4"))
    b.box(150, 244, WIDTH, 250, rgb("#e3d8c4"))
    b.box(0, 0, 150, 292, rgb("#efd9b4"))
    b.poly([(0, 0), (172, 0), (164, 20), (0, 20)], rgb("#b5654f"))
    f.window(b, 92, 92, 134, 158)
    b.box(22, 110, 74, 290, rgb("#ffffff"), 2)
    b.box(26, 114, 70, 290, rgb("#5b8fa8"), 1)
    b.ellipse(64, 206, 3, 3, rgb("#f2cf6b"))
    b.box(0, 288, 160, 298, rgb("#c9b89c"))
    b.ellipse(400, 280, 220, 11, rgb("#8a6a4c"))
    for number in range(17):
        x = 200 + number * 25
        y = 266 - (number * 7) % 14
        b.stroke([(x, 280), (x, y)], 2.2, rgb("#5f9a55"))
        b.ellipse(x, y, 6, 6, rgb(("#e86a78", "#f4d35e", "#c98ad0", "#ffffff")[number % 4]))
        b.ellipse(x, y, 2.2, 2.2, rgb("#e0a24f"))


def rainy_street(b: Brush) -> None:
    """A shop street under a grey sky."""
    _outdoors(b, rgb("#b4c2cc"), rgb("#a9aaae"), 250)
    for x0, y0, wide, tint in (
        (0, 70, 120, "#a98f9f"),
        (120, 30, 150, "#b8a68e"),
        (270, 84, 130, "#8fa39b"),
        (400, 16, 240, "#9fa9bd"),
    ):
        b.box(x0, y0, x0 + wide, 292, rgb(tint))
        for x in range(x0 + 16, x0 + wide - 22, 38):
            for y in range(y0 + 18, 150, 46):
                b.box(x, y, x + 22, y + 30, rgb("#f6e3a8") if (x + y) % 3 == 0 else rgb("#dbe6ea"), 2)
        b.box(x0 + 12, 196, x0 + wide - 12, 284, rgb("#e4edf0"), 2)
        b.box(x0 + 12, 262, x0 + wide - 12, 292, shade(rgb(tint), 0.7))
        for number in range((wide - 8) // 16):
            left = x0 + 4 + number * 16
            cloth = rgb("#ffffff") if number % 2 else shade(rgb(tint), 1.3)
            b.poly([(left, 172), (left + 16, 172), (left + 17, 198), (left - 1, 198)], cloth)
    b.box(0, 292, WIDTH, 297, rgb("#8f9096"))
    b.box(0, 350, WIDTH, HEIGHT, rgb("#6f7178"))
    for x, y, wide in ((120, 334, 46), (360, 326, 60), (520, 342, 40)):
        b.ellipse(x, y, wide, 5, rgb("#bcc6cf"))
