"""A dog: trots, eats, wags."""

import math

from tools.draw_demo.brush import Brush, Colour, rgb, shade
from tools.draw_demo.stage import Scene
from tools.draw_demo.timeline import Track, gliding, swing


class Dog:
    """One dog in one scene; `head` runs from 1 (at the ground) over 0 to -1 (looking up)."""

    def __init__(
        self, scene: Scene, x: float, facing: float = 1.0, floor: float = 334.0, coat: Colour | None = None
    ) -> None:
        self.scene = scene
        self.floor = floor
        self.coat = coat or rgb("#b9793f")
        self.x, self.facing, self.head = Track(x), Track(facing), Track(0.0)
        self.trot, self.joy, self.sitting = Track(0.0), Track(0.35), Track(0.0)
        scene.add(lambda _t: floor, self.draw, self._shadow)

    def go(self, to: float, pace: float = 120.0) -> None:
        """Trot to `to`; `pace` in pixels a second."""
        scene, here = self.scene, self.x.at(self.scene.now)
        direction = math.copysign(1.0, to - here)
        self.facing.to(scene.now, scene.now + 0.3, direction)
        self.sitting.to(scene.now, scene.now + 0.2, 0.0)
        seconds = abs(to - here) / pace + 0.3
        self.x.to(scene.now, scene.now + seconds, to, gliding(min(0.3, 0.3 / seconds)))
        self.trot.to(scene.now, scene.now + 0.2, 1.0)
        self.trot.to(scene.now + seconds - 0.25, scene.now + seconds, 0.0)
        scene.wait(seconds)

    def eat(self, seconds: float) -> None:
        """Eat from the ground."""
        scene = self.scene
        self.head.to(scene.now, scene.now + 0.4, 1.0)
        self.joy.to(scene.now, scene.now + 0.4, 1.0)
        scene.wait(seconds)
        self.head.to(scene.now, scene.now + 0.4, 0.0)
        scene.wait(0.4)

    def grip(self, side: str, t: float) -> tuple[float, float, float]:
        """Position and facing of what the mouth holds."""
        facing = 1.0 if self.facing.at(t) >= 0 else -1.0
        x, y = self._face(t)
        return self.x.at(t) + facing * (x + 17), self.floor + y + 5, facing

    def _face(self, t: float) -> tuple[float, float]:
        down = self.head.at(t)
        sit = self.sitting.at(t)
        if down > 0:
            return 30 + 3 * down, -42 + 25 * down + (1.2 * math.sin(t * 20) if down > 0.9 else 0.0)
        return 30 - 3 * sit + 2 * down, -42 + 4 * down - 7 * sit

    def draw(self, brush: Brush, t: float) -> None:
        """Draw the dog with what it carries."""
        facing = 1.0 if self.facing.at(t) >= 0 else -1.0
        b = brush.moved(self.x.at(t), self.floor, flip=facing < 0)
        coat, dark, sit = self.coat, shade(self.coat, 0.82), self.sitting.at(t)
        trot = self.trot.at(t)
        phase = self.x.at(t) * facing / 42.0 * 2 * math.pi
        rump = (-20.0 + 4 * sit, -25 + 11 * sit)
        wag = self.joy.at(t) * swing(t, 3.4)
        b.capsule(rump, (rump[0] - 13 - 3 * wag, rump[1] - 15 - 4 * abs(wag)), 4, 2.5, coat)
        for offset, shift, colour in ((math.pi, 4.0, dark), (0.0, 0.0, coat)):
            for x, hip_y, extra in ((-18 + shift, rump[1] + 6, 0.0), (14 + shift, -22.0, math.pi * 0.9)):
                step = trot * math.sin(phase + offset + extra)
                lift = trot * max(0.0, math.cos(phase + offset + extra)) * 5
                forward = 9 * sit if x < 0 else 0.0
                b.capsule((x, hip_y), (x + 8 * step + forward, -3 - lift), 5.5, 3.6, colour)
                b.ellipse(x + 8 * step + forward + 1.5, -2.5 - lift, 4.6, 2.8, colour)
        shoulder = (15.0, -27 - 4 * sit)
        b.capsule(rump, shoulder, 11, 12, coat)
        x, y = self._face(t)
        b.capsule((shoulder[0] + 2, shoulder[1] - 3), (x - 2, y + 2), 9.5, 7.5, coat)
        if self.head.at(t) < 0.4:
            b.box(x - 12, y + 5, x - 5, y + 10, rgb("#c94b4b"), 2)
        b.ellipse(x, y, 11, 10, coat)
        b.capsule((x + 4, y + 3), (x + 14, y + 4), 6, 4.6, shade(coat, 1.18))
        b.ellipse(x + 18, y + 1.5, 2.6, 2.2, rgb("#2d2a32"))
        b.ellipse(x + 4.5, y - 2.5, 1.6, 2.0, rgb("#2d2a32"))
        b.capsule((x - 4, y - 6), (x - 8, y + 6), 4.6, 5.2, dark)
        for _, prop in self.scene.carried_by(self, t):
            prop.draw(brush, t)

    def _shadow(self, brush: Brush, t: float) -> None:
        brush.shadow(self.x.at(t), self.floor, 38, 6)
