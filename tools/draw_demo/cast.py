"""The people of the demo videos: how each looks, and the generic words an imprecise query has for them."""

from dataclasses import dataclass

from tools.draw_demo.brush import Colour, rgb


@dataclass(frozen=True, slots=True)
class Look:
    """A person's appearance. `height` in frame pixels; `head` scales the head against an adult's."""

    words: str
    height: float
    skin: Colour
    hair: Colour
    style: str
    top: Colour
    legs: Colour
    shoes: Colour
    sleeve: float
    """Share of the arm that is covered: 1 is a long sleeve."""
    head: float = 1.0
    skirt: bool = False
    beard: bool = False
    glasses: bool = False


_FAIR, _TAN, _BROWN = rgb("#f6cfb0"), rgb("#dca67c"), rgb("#9a6444")

LOOKS: dict[str, Look] = {
    "Nora": Look("a woman", 178, _FAIR, rgb("#6b3a2a"), "long", rgb("#d9534a"), rgb("#3f4f73"), rgb("#2c3350"), 1.0),
    "Maya": Look(
        "a woman", 174, _BROWN, rgb("#2b2024"), "bun", rgb("#f2b632"), rgb("#f2b632"), rgb("#7a4b3a"), 0.42, skirt=True
    ),
    "Ben": Look("a man", 188, _TAN, rgb("#2a2a33"), "short", rgb("#3f86c6"), rgb("#57524f"), rgb("#e9e4da"), 0.5),
    "Oscar": Look(
        "a man", 186, _FAIR, rgb("#c4672e"), "curly", rgb("#4f9a6a"), rgb("#6d5444"), rgb("#3b302c"), 1.0, beard=True
    ),
    "Walter": Look(
        "an old man",
        176,
        _FAIR,
        rgb("#e8e6e3"),
        "thin",
        rgb("#8d7bb0"),
        rgb("#7d7468"),
        rgb("#4a3d38"),
        1.0,
        beard=True,
        glasses=True,
    ),
    "Zoe": Look(
        "a girl", 128, _FAIR, rgb("#e8b75a"), "pigtails", rgb("#ef8aa0"), rgb("#5d78b5"), rgb("#d9534a"), 0.45, head=1.3
    ),
    "Theo": Look(
        "a boy", 132, _BROWN, rgb("#33241f"), "curly", rgb("#f08a3c"), rgb("#46705f"), rgb("#e9e4da"), 0.45, head=1.27
    ),
}

CAST: dict[str, str] = {name: look.words for name, look in LOOKS.items()}
"""Each name with its generic words."""
