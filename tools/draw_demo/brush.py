"""Flat, anti-aliased shapes on a picture, in frame coordinates: x to the right, y down, one unit per output pixel.

Everything becomes a polygon with fractional corners, so that slow movement does not jitter. The picture is
drawn `OVERSAMPLING` times larger than it is shown.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

Colour = tuple[int, int, int]
Point = tuple[float, float]
Picture = NDArray[np.uint8]

OVERSAMPLING = 2
WIDTH, HEIGHT = 640, 360
_SHIFT = 4
"""Binary digits after the point in OpenCV's corner coordinates: steps of 1/32 output pixel."""


def rgb(code: str) -> Colour:
    """The colour of a hexadecimal code.

    >>> rgb("#ff8000")
    (255, 128, 0)
    """
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def shade(colour: Colour, factor: float) -> Colour:
    """Darker (`factor` < 1) or lighter (> 1) by scaling, kept within a byte.

    >>> shade((100, 200, 40), 1.5)
    (150, 255, 60)
    """
    red, green, blue = (min(255, round(part * factor)) for part in colour)
    return red, green, blue


def blend(first: Colour, second: Colour, share: float) -> Colour:
    """The colour `share` (0 to 1) of the way from the first to the second."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


@lru_cache(maxsize=8)
def _circle(corners: int) -> NDArray[np.float64]:
    angles = np.arange(corners) * (2 * math.pi / corners)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


@lru_cache(maxsize=512)
def _rounded(width: float, height: float, radius: float) -> NDArray[np.float64]:
    ring = _circle(24) * radius
    centres = np.array([[width - radius, height - radius], [radius, height - radius], [radius, radius]])
    quarters = [ring[:7] + centres[0], ring[6:13] + centres[1], ring[12:19] + centres[2]]
    last = np.concatenate([ring[18:], ring[:1]]) + np.array([width - radius, radius])
    return np.concatenate([*quarters, last])


_STEPS = np.linspace(-1.0, 1.0, 7)
_CAP_SLOPE = np.concatenate([_STEPS, -_STEPS])
_CAP_START = np.concatenate([np.zeros(7), math.pi * (1 + _STEPS)])
"""Angles of a capsule's outline are `slope * half + start + direction`: the end's arc, then the start's."""


class Brush:
    """Draws on `picture` (OVERSAMPLING times the frame, RGB) through a movable frame of reference."""

    def __init__(self, picture: Picture, matrix: NDArray[np.float64]) -> None:
        self._picture = picture
        self._turn = matrix[:, :2].T * (1 << _SHIFT)
        self._offset = matrix[:, 2] * (1 << _SHIFT)
        self._matrix = matrix

    @classmethod
    def viewing(cls, picture: Picture, view: tuple[float, float, float]) -> "Brush":
        """A brush for a camera that shows the part of a place given by left, top and width."""
        left, top, wide = view
        zoom = OVERSAMPLING * WIDTH / wide
        return cls(picture, np.array([[zoom, 0.0, -left * zoom], [0.0, zoom, -top * zoom]]))

    def moved(self, x: float, y: float, *, angle: float = 0.0, flip: bool = False, scale: float = 1.0) -> "Brush":
        """A brush whose origin is (x, y), turned clockwise by `angle` radians, then mirrored left-right."""
        cos, sin = math.cos(angle) * scale, math.sin(angle) * scale
        side = -1.0 if flip else 1.0
        local = np.array([[side * cos, -side * sin, x], [sin, cos, y], [0.0, 0.0, 1.0]])
        return Brush(self._picture, self._matrix @ local)

    def poly(self, points: Sequence[Point] | NDArray[np.float64], colour: Colour) -> None:
        """A filled polygon."""
        corners = np.asarray(points, dtype=np.float64) @ self._turn
        corners += self._offset
        fixed = np.rint(corners, out=corners).astype(np.int32)
        cv2.fillPoly(self._picture, [fixed], colour, cv2.LINE_AA, _SHIFT)

    def hull(self, circles: Sequence[tuple[float, float, float]], colour: Colour) -> None:
        """The tightest convex shape around circles given as (x, y, radius)."""
        ring = _circle(16)
        points = np.concatenate([ring * radius + (x, y) for x, y, radius in circles]).astype(np.float32)
        self.poly(cv2.convexHull(points)[:, 0].astype(np.float64), colour)

    def ellipse(self, x: float, y: float, rx: float, ry: float, colour: Colour) -> None:
        """A filled ellipse around (x, y) with half-axes `rx` and `ry`."""
        self.poly(_circle(14 if max(rx, ry) < 4 else 32) * (rx, ry) + (x, y), colour)

    def capsule(self, start: Point, end: Point, start_r: float, end_r: float, colour: Colour) -> None:
        """A limb: the shape between two circles."""
        dx, dy = end[0] - start[0], end[1] - start[1]
        distance = math.hypot(dx, dy)
        if distance <= abs(start_r - end_r) + 1e-6:
            centre, radius = (start, start_r) if start_r > end_r else (end, end_r)
            self.ellipse(*centre, radius, radius, colour)
            return
        angles = _CAP_SLOPE * math.acos((start_r - end_r) / distance) + (_CAP_START + math.atan2(dy, dx))
        points = np.empty((14, 2))
        np.cos(angles, out=points[:, 0])
        np.sin(angles, out=points[:, 1])
        points[:7] *= end_r
        points[:7] += end
        points[7:] *= start_r
        points[7:] += start
        self.poly(points, colour)

    def stroke(self, points: Sequence[Point], width: float, colour: Colour) -> None:
        """An open line of constant width with round ends."""
        for start, end in pairwise(points):
            self.capsule(start, end, width / 2, width / 2, colour)

    def box(self, x0: float, y0: float, x1: float, y1: float, colour: Colour, radius: float = 0.0) -> None:
        """An upright rectangle, its corners rounded by `radius`."""
        if radius:
            self.poly(np.array([x0, y0]) + _rounded(x1 - x0, y1 - y0, radius), colour)
        else:
            self.poly([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], colour)

    def shadow(self, x: float, y: float, rx: float, ry: float, strength: float = 0.11) -> None:
        """Darkens what is already drawn under an ellipse by the share `strength`."""
        cx, cy = (np.array([x, y]) @ self._turn + self._offset) / (1 << _SHIFT)
        zoom = math.hypot(*self._matrix[:, 0])
        wide, tall = (int(r * zoom) + 2 for r in (rx, ry))
        left, top = max(0, int(cx) - wide), max(0, int(cy) - tall)
        part = self._picture[top : max(0, int(cy) + tall), left : max(0, int(cx) + wide)]
        if part.size:
            before = part.copy()
            self.ellipse(x, y, rx, ry, (0, 0, 0))
            cv2.addWeighted(part, strength, before, 1 - strength, 0.0, dst=part)
