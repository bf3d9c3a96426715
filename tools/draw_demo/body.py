"""A person's body over time: every joint target is a track, and `pose` reads all of them at one instant."""

import math
from collections.abc import Callable

from tools.draw_demo.brush import Brush, Point
from tools.draw_demo.cast import LOOKS
from tools.draw_demo.figure import ANKLE, HIP, Frame, Pose, arm, draw_figure, frame_of
from tools.draw_demo.head import head_radius
from tools.draw_demo.stage import Scene
from tools.draw_demo.timeline import Track, pulse, smooth, swing

Target = Callable[[float], Point]
Wobble = tuple[float, float, float]
"""Reach in x and y (shares of the body height) and frequency in hertz of a back-and-forth movement."""

STEP = 0.31
"""Length of one step as a share of the body height."""
_SIDES = {"near": -1, "far": 1}


def fixed(point: Point) -> Target:
    """A place that does not move."""
    return lambda _t: point


class Hand:
    """Where a hand wants to be: eased changes between targets that may themselves move."""

    def __init__(self, rest: Target) -> None:
        self._pieces: list[tuple[float, float, Target]] = [(-1.0, 0.0, rest)]

    def to(self, start_s: float, end_s: float, target: Target) -> None:
        """Move to `target`, arriving at `end_s`."""
        self._pieces.append((start_s, end_s, target))

    def at(self, t: float) -> Point:
        """The wanted position."""
        last = max((i for i, piece in enumerate(self._pieces) if piece[0] <= t), default=0)
        return self._upto(t, last)

    def _upto(self, t: float, index: int) -> Point:
        start_s, end_s, target = self._pieces[index]
        x, y = target(t)
        if index == 0 or t >= end_s:
            return x, y
        share = smooth((t - start_s) / (end_s - start_s))
        before = self._upto(t, index - 1)
        return before[0] + (x - before[0]) * share, before[1] + (y - before[1]) * share


class Body:
    """The tracks of one person in one scene."""

    def __init__(self, scene: Scene, name: str, x: float, facing: float = 1.0, floor: float = 326.0) -> None:
        self.scene = scene
        self.name = name
        self.look = LOOKS[name]
        self.size = self.look.height
        self.floor = floor
        self.x, self.feet, self.drop, self.lift = Track(x), Track(0.0), Track(0.0), Track(0.0)
        self.facing, self.away = Track(facing), Track(0.0)
        self.lean, self.nod, self.stride = Track(0.0), Track(0.0), Track(0.0)
        self.hands = {side: Hand(self.rest(side)) for side in _SIDES}
        self.talking: list[tuple[float, float, float]] = []
        self.dancing: list[tuple[float, float]] = []
        self.kicking: list[tuple[float, float]] = []
        self._cached: tuple[float, Pose, Frame] | None = None
        scene.add(lambda _t: floor, self.draw, self._shadow)

    def rest(self, side: str) -> Target:
        """A hanging hand that swings with the steps."""

        def target(t: float) -> Point:
            sway = 0.13 * self.stride.at(t) * math.sin(2 * math.pi * self._phase(t)) * -_SIDES[side]
            return self.local(side, 0.03 + sway, 0.298 - abs(sway) * 0.12, spread=0.035)(t)

        return target

    def local(
        self, side: str, forward: float, down: float, wobble: Wobble | None = None, spread: float | None = None
    ) -> Target:
        """A point relative to the shoulder, in shares of the body height; sideways when facing the viewer."""
        sign = _SIDES[side]
        outward = abs(forward) if spread is None else spread

        def target(t: float) -> Point:
            pose, frame = self._state(t)
            shoulder = frame.near_shoulder if side == "near" else frame.far_shoulder
            dx = dy = 0.0
            if wobble:
                wave = swing(t, wobble[2])
                dx, dy = wobble[0] * wave, wobble[1] * wave
            turned = pose.facing
            x = turned * (forward + dx) + (1 - abs(turned)) * sign * (outward + dx)
            return shoulder[0] + self.size * x, shoulder[1] + self.size * (down + dy)

        return target

    def mouth(self, down: float = 0.75) -> Target:
        """In front of the lips, or lower."""
        return lambda t: self._by_head(t, 0.95, down)

    def ear(self) -> Target:
        """At the ear."""
        return lambda t: self._by_head(t, -0.42, 0.3)

    def _by_head(self, t: float, forward: float, down: float) -> Point:
        pose, frame = self._state(t)
        radius = head_radius(self.look)
        return frame.head[0] + pose.facing * forward * radius, frame.head[1] + down * radius

    def chest(self, t: float) -> Point:
        """The middle of the shoulders."""
        return self._state(t)[1].chest

    def _phase(self, t: float) -> float:
        # One cycle is two steps; tied to the distance covered, so that feet do not slide.
        return self.x.at(t) * math.copysign(1.0, self.facing.at(t)) / (2 * STEP * self.size)

    def _foot(self, t: float, near: bool) -> tuple[Point, float]:
        side = -1 if near else 1
        facing, stride = self.facing.at(t), self.stride.at(t)
        phase = (self._phase(t) + (0.0 if near else 0.5)) % 1.0
        if phase < 0.5:
            forward, lift, pitch = 0.5 - 2 * phase, 0.0, max(0.0, phase - 0.38) * 3.5
        else:
            share = smooth((phase - 0.5) * 2)
            forward, lift = share - 0.5, math.sin(math.pi * (phase - 0.5) * 2)
            pitch = 0.5 * (1 - share) - 0.25 * lift * share
        apart = side * self.size * (0.02 * facing + 0.06 * (1 - abs(facing)))
        x = self.x.at(t) + self.feet.at(t) + apart + math.copysign(1.0, facing) * forward * STEP * self.size * stride
        y = (
            self.floor
            - self.size * ANKLE
            - lift * stride * self.size * 0.045
            - self.lift.at(t)
            - (0.0 if near else 2.0)
        )
        pitch *= stride
        if near:
            for start_s, end_s in self.kicking:
                back = pulse(t, start_s, start_s + (end_s - start_s) * 0.55, 0.3)
                out = pulse(t, start_s + (end_s - start_s) * 0.45, end_s, 0.2)
                x += facing * self.size * (0.24 * out - 0.2 * back)
                y -= self.size * (0.1 * out + 0.07 * back)
        for start_s, end_s in self.dancing:
            y -= self.size * 0.05 * pulse(t, start_s, end_s) * max(0.0, side * swing(t - start_s, 1.1))
        return (x, y), pitch

    def _state(self, t: float) -> tuple[Pose, Frame]:
        if self._cached is None or self._cached[0] != t:
            pose = self.pose(t)
            self._cached = (t, pose, frame_of(self.look, pose))
        return self._cached[1], self._cached[2]

    def pose(self, t: float) -> Pose:
        """The body at one instant."""
        size, stride = self.size, self.stride.at(t)
        sag = stride * size * (0.006 + 0.024 * math.cos(2 * math.pi * self._phase(t)) ** 2)
        x, lean = self.x.at(t), self.lean.at(t) + 0.05 * stride
        breath = 0.004 * swing(t + size, 0.3) * size
        for start_s, end_s in self.dancing:
            strength = pulse(t, start_s, end_s)
            x += strength * size * 0.05 * swing(t - start_s, 1.1)
            sag += strength * size * 0.022 * (1 - math.cos(4 * math.pi * 2.2 * (t - start_s) / 2))
        near, near_pitch = self._foot(t, near=True)
        far, far_pitch = self._foot(t, near=False)
        hip = (x, self.floor - HIP * size + sag + self.drop.at(t) - self.lift.at(t) - breath * 0.3)
        mouth = max((amount * pulse(t, a, b, 0.12) * abs(swing(t, 2.3)) for a, b, amount in self.talking), default=0.0)
        # A blink every few seconds, at a moment of its own for each person.
        blink = (t + size * 0.37) % 3.1 < 0.13
        away = self.away.at(t) > 0.5
        return Pose(hip, self.facing.at(t), lean, self.nod.at(t), near, far, near_pitch, far_pitch, away, mouth, blink)

    def reached(self, side: str, t: float) -> Point:
        """Where a hand really is: its target as far as the arm goes."""
        pose, frame = self._state(t)
        shoulder = frame.near_shoulder if side == "near" else frame.far_shoulder
        return arm(self.look, pose, shoulder, self.hands[side].at(t), _SIDES[side])[1]

    def grip(self, side: str, t: float) -> tuple[float, float, float]:
        """Position and facing of what is carried, in one hand or between "both"."""
        facing = 1.0 if self.facing.at(t) >= 0 else -1.0
        if side == "both":
            (x0, y0), (x1, y1) = self.reached("near", t), self.reached("far", t)
            return (x0 + x1) / 2, (y0 + y1) / 2, facing
        return *self.reached(side, t), facing

    def draw(self, brush: Brush, t: float) -> None:
        """Draw the person with everything they carry."""
        if not -80 < self.x.at(t) < 720:
            return
        pose, _ = self._state(t)
        carried = self.scene.carried_by(self, t)

        def hold(sides: tuple[str, ...]) -> Callable[[Point], None]:
            def paint(_hand: Point) -> None:
                for side, prop in carried:
                    if side in sides:
                        prop.draw(brush, t)

            return paint

        near, far = self.hands["near"].at(t), self.hands["far"].at(t)
        draw_figure(brush, self.look, pose, near, far, hold(("near", "both")), hold(("far",)))

    def _shadow(self, brush: Brush, t: float) -> None:
        x = self.x.at(t) + self.feet.at(t) * 0.6
        if -80 < x < 720:
            grown = 1 - self.lift.at(t) / 120
            brush.shadow(x, self.floor, self.size * 0.2 * grown, self.size * 0.034 * grown)
