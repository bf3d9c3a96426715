"""A scene: its clock, its captioned spans and everything that is drawn in it.

One clock drives both the drawing and the captions: an action starts at `scene.now` and moves it on, and a moment
is the stretch of clock that passed while its `with` block was written.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np

from tools.draw_demo.brush import HEIGHT, OVERSAMPLING, WIDTH, Brush, Picture, Point
from tools.draw_demo.timeline import Track

FPS = 25
_TAIL_S = 0.8
"""Stillness after the last action."""

Painter = Callable[[Brush, float], None]


class Holder(Protocol):
    """Whoever can carry a prop."""

    def grip(self, side: str, t: float) -> tuple[float, float, float]:
        """Position and facing of a hand, in frame pixels."""
        ...


@dataclass(frozen=True, slots=True)
class Light:
    """A lamp: outside its reach the picture keeps the share `dark` of its brightness; `power` runs 0 to 1."""

    x: float
    y: float
    power: Track
    dark: float = 0.68


class Prop:
    """A thing that rests, is carried or flies. Its position is where a hand grips it."""

    def __init__(
        self, scene: "Scene", paint: Callable[[Brush, float, float], None], x: float, y: float, depth: float
    ) -> None:
        self._scene = scene
        self._paint = paint
        self.depth = Track(depth)
        self.angle, self.level, self.shown = Track(0.0), Track(0.0), Track(1.0)
        self._starts: list[tuple[float, Callable[[float], tuple[float, float, float]], Holder | None, str]] = [
            (-math.inf, lambda _t: (x, y, 1.0), None, "")
        ]

    def _piece(self, t: float) -> tuple[float, Callable[[float], tuple[float, float, float]], Holder | None, str]:
        return next(piece for piece in reversed(self._starts) if piece[0] <= t)

    def at(self, t: float) -> Point:
        """Where it is."""
        x, y, _ = self._piece(t)[1](t)
        return x, y

    def held(self, t: float) -> tuple[Holder | None, str]:
        """Who carries it, and in which hand ("" while nobody does)."""
        _, _, holder, side = self._piece(t)
        return holder, side

    def carry(self, t: float, holder: Holder, side: str) -> None:
        """From `t` on it moves with a hand."""
        self._starts.append((t, lambda now: holder.grip(side, now), holder, side))

    def rest(self, t: float, x: float, y: float, depth: float | None = None) -> None:
        """From `t` on it stays at (x, y)."""
        facing = self._piece(t)[1](t)[2]
        self._starts.append((t, lambda _now: (x, y, facing), None, ""))
        if depth is not None:
            self.depth.to(t, t, depth)

    def fly(self, start_s: float, end_s: float, target: Point, arc: float) -> None:
        """An arc of height `arc` pixels from where it is at `start_s` to `target`."""
        x, y = self.at(start_s)

        def along(now: float) -> tuple[float, float, float]:
            share = min(1.0, max(0.0, (now - start_s) / (end_s - start_s)))
            lift = 4 * arc * share * (1 - share)
            return x + (target[0] - x) * share, y + (target[1] - y) * share - lift, 1.0

        self._starts.append((start_s, along, None, ""))

    def draw(self, brush: Brush, t: float, at: Point | None = None) -> None:
        """Draw it, or its carried self with the hand at `at`."""
        if self.shown.at(t) < 0.5:
            return
        x, y, facing = self._piece(t)[1](t)
        if at is not None:
            x, y = at
        self._paint(brush.moved(x, y, angle=self.angle.at(t), flip=facing < 0), self.level.at(t), t)


class Scene:
    """One demo video: write its actions in order, then `frame(t)` draws any instant of it.

    `view` is the part of the place that the camera shows: left, top and width in frame pixels.
    """

    def __init__(
        self, name: str, place: Callable[[Brush], None], view: tuple[float, float, float] = (0, 0, WIDTH)
    ) -> None:
        left, top, wide = view
        if left < 0 or top < 0 or left + wide > WIDTH or top + wide * HEIGHT / WIDTH > HEIGHT:
            raise ValueError(f"scene {name}: the view {view} shows more than the place, which is {WIDTH} x {HEIGHT}")
        self.name = name
        self._view = view
        self.now = 0.0
        self.light: Light | None = None
        self.moments: list[tuple[float, float, str]] = []
        self._place = place
        self._latest = 0.0
        self._drawn: list[tuple[Callable[[float], float], Painter]] = []
        self._shadows: list[Painter] = []
        self._props: list[Prop] = []
        self._background: Picture | None = None
        self._mask: tuple[float, Picture] | None = None

    @property
    def duration_s(self) -> float:
        """Length of the video, a whole number of frames."""
        return math.ceil((max(self.now, self._latest) + _TAIL_S) * FPS) / FPS

    @property
    def frame_count(self) -> int:
        """Number of pictures in the video."""
        return round(self.duration_s * FPS)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    @contextmanager
    def moment(self, caption: str) -> Iterator[None]:
        """Everything scheduled inside is what `caption` describes."""
        start_s, place = self.now, len(self.moments)
        self.moments.append((start_s, start_s, caption))
        yield
        self.moments[place] = (start_s, self.now, caption)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is scheduled inside happens at the same time as what follows the block."""
        start_s = self.now
        yield
        self._latest = max(self._latest, self.now)
        self.now = start_s

    def add(self, depth: Callable[[float], float], paint: Painter, shadow: Painter | None = None) -> None:
        """Something drawn every frame, in order of `depth` (the y of its foot), its shadow before all others."""
        self._drawn.append((depth, paint))
        if shadow is not None:
            self._shadows.append(shadow)

    def front(self, depth: float, paint: Callable[[Brush], None]) -> None:
        """Furniture that people can be behind."""
        self.add(lambda _t: depth, lambda brush, _t: paint(brush))

    def prop(self, paint: Callable[[Brush, float, float], None], x: float, y: float, depth: float = 330.0) -> Prop:
        """A thing at rest, its grip at (x, y)."""
        prop = Prop(self, paint, x, y, depth)
        self._props.append(prop)

        def loose(brush: Brush, t: float) -> None:
            if prop.held(t)[0] is None:
                prop.draw(brush, t)

        self.add(prop.depth.at, loose)
        return prop

    def carried_by(self, holder: Holder, t: float) -> list[tuple[str, Prop]]:
        """The props somebody carries at `t`, with the hand they are in."""
        found = []
        for prop in self._props:
            owner, side = prop.held(t)
            if owner is holder:
                found.append((side, prop))
        return found

    def frame(self, t: float) -> Picture:
        """The picture at `t` seconds: RGB, HEIGHT x WIDTH x 3, uint8. The same `t` gives the same bytes."""
        if self._background is None:
            self._background = np.zeros((HEIGHT * OVERSAMPLING, WIDTH * OVERSAMPLING, 3), np.uint8)
            self._place(Brush.viewing(self._background, self._view))
        picture = self._background.copy()
        brush = Brush.viewing(picture, self._view)
        for shadow in self._shadows:
            shadow(brush, t)
        for _, paint in sorted(self._drawn, key=lambda item: item[0](t)):
            paint(brush, t)
        small = cv2.resize(picture, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
        if self.light is not None:
            power = self.light.power.at(t)
            if self._mask is None or self._mask[0] != power:
                self._mask = (power, _mask(self.light, power, self._view))
            small = cv2.multiply(small, self._mask[1], scale=1 / 200)
        return np.asarray(small, dtype=np.uint8)


def _mask(light: Light, power: float, view: tuple[float, float, float]) -> Picture:
    """What a lamp at `power` leaves of each pixel, 200 meaning all of it."""
    left, top, wide = view
    x = left + np.arange(WIDTH)[None, :] * wide / WIDTH
    y = top + np.arange(HEIGHT)[:, None] * wide / WIDTH
    glow = np.exp(-(((x - light.x) / 300.0) ** 2 + ((y - light.y) / 240.0) ** 2)) * power
    night = np.array([0.82, 0.90, 1.10]) * light.dark
    warm = np.array([1.06, 1.0, 0.90])
    share = (glow * 0.8 + 0.2 * power)[:, :, None]
    return (200 * (night + (warm - night) * share)).round().astype(np.uint8)
