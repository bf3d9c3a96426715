"""What people do: each method schedules one action at the scene's clock and moves the clock past it."""

import math

from tools.draw_demo.body import Body, Target, Wobble
from tools.draw_demo.brush import Point
from tools.draw_demo.figure import HIP
from tools.draw_demo.stage import Prop
from tools.draw_demo.timeline import gliding

_BOTH = ("near", "far")


class Actor(Body):
    """A person who can act."""

    def turn(self, facing: float, seconds: float = 0.35) -> None:
        """Face left (-1), the viewer (0) or right (1)."""
        self.facing.to(self.scene.now, self.scene.now + seconds, facing)
        self.scene.wait(seconds)

    def walk(self, to: float, pace: float = 0.66) -> None:
        """Walk to `to`; `pace` in body heights a second."""
        start_s, here = self.scene.now, self.x.at(self.scene.now)
        direction = math.copysign(1.0, to - here)
        if abs(self.facing.at(start_s) - direction) > 0.1:
            self.facing.to(start_s, start_s + 0.3, direction)
            start_s += 0.2
        seconds = abs(to - here) / (pace * self.size) + 0.35
        end_s = start_s + seconds
        self.x.to(start_s, end_s, to, gliding(min(0.35, 0.4 / seconds)))
        self.stride.to(start_s, start_s + min(0.35, seconds / 3), 1.0)
        self.stride.to(end_s - min(0.45, seconds / 3), end_s, 0.0)
        self.scene.now = end_s

    def reach(self, side: str, target: Target, seconds: float = 0.5) -> None:
        """Move one hand."""
        self.hands[side].to(self.scene.now, self.scene.now + seconds, target)
        self.scene.wait(seconds)

    def hold(self, *sides: str, forward: float = 0.17, down: float = 0.13, seconds: float = 0.5) -> None:
        """Bring hands in front of the body."""
        for side in sides:
            self.hands[side].to(
                self.scene.now, self.scene.now + seconds, self.local(side, forward, down, spread=forward * 0.5)
            )
        self.scene.wait(seconds)

    def relax(self, *sides: str, seconds: float = 0.5) -> None:
        """Let hands hang; both unless named."""
        for side in sides or _BOTH:
            self.hands[side].to(self.scene.now, self.scene.now + seconds, self.rest(side))
        self.scene.wait(seconds)

    def gesture(self, side: str, forward: float, down: float, wobble: Wobble, seconds: float) -> None:
        """Hold a moving hand for a while."""
        now = self.scene.now
        self.hands[side].to(now, now + 0.35, self.local(side, forward, down, wobble))
        self.scene.wait(seconds)

    def wave(self, seconds: float = 2.0) -> None:
        """Wave with a raised hand."""
        self.say(seconds * 0.6, 0.7)
        self.gesture("near", 0.215, -0.17, (0.055, 0.012, 2.2), seconds)
        self.relax("near")

    def say(self, seconds: float, loudness: float = 0.8) -> None:
        """Move the lips for a while from now on; takes no time."""
        self.talking.append((self.scene.now, self.scene.now + seconds, loudness))

    def bow(self, lean: float, drop: float, seconds: float = 0.6) -> None:
        """Lean by `lean` radians and sink by `drop` body heights; takes no time."""
        end_s = self.scene.now + seconds
        self.lean.to(self.scene.now, end_s, lean)
        self.drop.to(self.scene.now, end_s, drop * self.size)

    def _stoop(self, point: Point, seconds: float) -> bool:
        """Go down far enough for a hand to reach a low point."""
        seated = self.drop.at(self.scene.now) > 0.1 * self.size
        low = point[1] > self.floor - 0.36 * self.size and not seated
        if low:
            self.bow(0.75, 0.15, seconds)
        return low

    def take(self, prop: Prop, side: str = "near", *, forward: float = 0.17, down: float = 0.13) -> None:
        """Take a thing from where it lies into one hand, or into "both"."""
        scene, sides = self.scene, _BOTH if side == "both" else (side,)
        place = prop.at(scene.now)
        low = self._stoop(place, 0.7)
        seconds = 0.75 if low else 0.55
        for one in sides:
            self.hands[one].to(scene.now, scene.now + seconds, lambda _t: place)
        scene.wait(seconds)
        prop.carry(scene.now, self, side)
        scene.wait(0.1)
        if low:
            self.bow(0.0, 0.0, 0.7)
        self.hold(*sides, forward=forward, down=down, seconds=0.7)

    def put(self, prop: Prop, x: float, y: float, side: str = "near", depth: float | None = None) -> None:
        """Put what is held down at (x, y) and let go."""
        scene, sides = self.scene, _BOTH if side == "both" else (side,)
        low = self._stoop((x, y), 0.7)
        for one in sides:
            self.hands[one].to(scene.now, scene.now + 0.65, lambda _t: (x, y))
        scene.wait(0.65)
        prop.rest(scene.now, x, y, depth)
        if low:
            self.bow(0.0, 0.0, 0.7)
        self.relax(*sides, seconds=0.6)

    def give(self, prop: Prop, other: "Actor") -> None:
        """Hand a thing over with both hands."""
        scene = self.scene
        for one in _BOTH:
            self.hands[one].to(scene.now, scene.now + 0.6, self.local(one, 0.26, 0.1))
        x, y, _ = self.grip("both", scene.now + 0.6)
        for one in _BOTH:
            other.hands[one].to(scene.now + 0.2, scene.now + 0.8, lambda _t: (x, y))
        scene.wait(1.1)
        prop.carry(scene.now, other, "both")
        with scene.aside():
            other.hold("near", "far", forward=0.16, down=0.14)
        self.relax()

    def sit(self, x: float, seat_y: float, facing: float = 1.0, seconds: float = 1.1) -> None:
        """Sit down on a seat at (x, seat_y), the feet staying where they are."""
        scene = self.scene
        if abs(self.facing.at(scene.now) - facing) > 0.1:
            self.turn(facing)
        end_s, here = scene.now + seconds, self.x.at(scene.now)
        self.x.to(scene.now, end_s, x)
        self.feet.to(scene.now, end_s, here - x)
        self.drop.to(scene.now, end_s, seat_y - 0.05 * self.size - (self.floor - HIP * self.size))
        self.lean.to(scene.now, scene.now + seconds * 0.5, 0.4)
        self.lean.to(scene.now + seconds * 0.55, end_s, -0.04)
        lap = self.local("near", 0.15, 0.22), self.local("far", 0.17, 0.22)
        for side, target in zip(_BOTH, lap, strict=True):
            self.hands[side].to(scene.now + 0.3, end_s, target)
        scene.wait(seconds)

    def stand(self, seconds: float = 1.0) -> None:
        """Get up from a seat."""
        scene, end_s = self.scene, self.scene.now + seconds
        self.lean.to(scene.now, scene.now + seconds * 0.4, 0.5)
        self.lean.to(scene.now + seconds * 0.45, end_s, 0.0)
        self.x.to(scene.now, end_s, self.x.at(scene.now) + self.feet.at(scene.now))
        self.feet.to(scene.now, end_s, 0.0)
        self.drop.to(scene.now, end_s, 0.0)
        self.relax(seconds=seconds)

    def lap(self, *sides: str) -> None:
        """Rest hands on the lap while seated."""
        for side in sides or _BOTH:
            self.hands[side].to(self.scene.now, self.scene.now + 0.5, self.local(side, 0.16, 0.22))
        self.scene.wait(0.5)

    def drink(self, prop: Prop, side: str = "near", seconds: float = 1.3) -> None:
        """Drink from what the hand holds."""
        scene = self.scene
        self.reach(side, self.mouth(), 0.6)
        prop.angle.to(scene.now, scene.now + 0.35, -0.85)
        self.nod.to(scene.now, scene.now + 0.35, -0.22)
        scene.wait(seconds)
        prop.angle.to(scene.now, scene.now + 0.3, 0.0)
        self.nod.to(scene.now, scene.now + 0.3, 0.0)
        prop.level.to(scene.now, scene.now + 0.3, prop.level.at(scene.now) * 0.5)
        self.hold(side)

    def tip(self, prop: Prop, above: Point, seconds: float, angle: float = 0.75, side: str = "near") -> None:
        """Hold a vessel at `above`, tip it for `seconds` (its `level` says it is flowing), and right it."""
        scene = self.scene
        self.reach(side, lambda _t: above, 0.6)
        prop.angle.to(scene.now, scene.now + 0.4, angle)
        scene.wait(0.3)
        prop.level.to(scene.now, scene.now + 0.15, 1.0)
        scene.wait(seconds)
        prop.level.to(scene.now, scene.now + 0.15, 0.0)
        prop.angle.to(scene.now, scene.now + 0.4, 0.0)
        scene.wait(0.4)

    def throw(self, prop: Prop, other: "Actor", arc: float = 50.0) -> None:
        """Throw what both hands hold; the other catches it with both hands."""
        scene = self.scene
        self.lean.to(scene.now, scene.now + 0.45, -0.12)
        prop.carry(scene.now, self, "near")
        self.hands["near"].to(scene.now, scene.now + 0.5, self.local("near", -0.14, -0.16))
        self.hands["far"].to(scene.now, scene.now + 0.5, self.local("far", 0.2, 0.02))
        scene.wait(0.55)
        self.hands["near"].to(scene.now, scene.now + 0.22, self.local("near", 0.24, -0.17))
        self.lean.to(scene.now, scene.now + 0.25, 0.2)
        scene.wait(0.2)
        for side in _BOTH:
            other.hands[side].to(scene.now, scene.now + 0.5, other.local(side, 0.22, 0.0))
        caught_s = scene.now + 0.85
        x, y, _ = other.grip("both", caught_s)
        prop.fly(scene.now, caught_s, (x, y), arc)
        prop.carry(caught_s, other, "both")
        self.lean.to(scene.now + 0.25, scene.now + 0.7, 0.0)
        with scene.aside():
            scene.wait(0.3)
            self.relax()
        scene.wait(0.85)
        other.hold("near", "far", forward=0.15, down=0.16, seconds=0.45)

    def kick(self, prop: Prop, target: Point, arc: float = 14.0) -> None:
        """Kick a ball that lies in front of the feet."""
        scene = self.scene
        self.kicking.append((scene.now, scene.now + 1.0))
        scene.wait(0.55)
        prop.fly(scene.now, scene.now + 0.9, target, arc)
        prop.angle.to(scene.now, scene.now + 0.9, prop.angle.at(scene.now) + 8.0)
        scene.wait(0.9)

    def read(self, seconds: float) -> None:
        """Look down at what both hands hold."""
        self.nod.to(self.scene.now, self.scene.now + 0.4, 0.28)
        self.hold("near", "far", forward=0.19, down=0.1, seconds=0.5)
        self.scene.wait(seconds - 0.9)
        self.nod.to(self.scene.now, self.scene.now + 0.4, 0.0)
        self.scene.wait(0.4)

    def dance(self, seconds: float) -> None:
        """Dance on the spot, facing the viewer."""
        scene = self.scene
        if abs(self.facing.at(scene.now)) > 0.3:
            self.facing.to(scene.now, scene.now + 0.35, 0.12)
        self.dancing.append((scene.now, scene.now + seconds))
        self.hands["near"].to(scene.now, scene.now + 0.5, self.local("near", 0.15, -0.04, (0.03, 0.13, 1.1)))
        self.hands["far"].to(scene.now, scene.now + 0.5, self.local("far", 0.15, -0.04, (-0.03, -0.13, 1.1)))
        scene.wait(seconds - 0.5)
        self.relax()

    def clap(self, seconds: float) -> None:
        """Clap in front of the chest."""
        now = self.scene.now
        self.hands["near"].to(now, now + 0.35, self.local("near", 0.19, 0.04, (0.028, 0.03, 2.5), spread=-0.03))
        self.hands["far"].to(now, now + 0.35, self.local("far", 0.19, 0.06, (-0.028, -0.03, 2.5), spread=-0.03))
        self.scene.wait(seconds)
        self.relax()

    def stretch(self, seconds: float = 2.2) -> None:
        """Stretch both arms up and yawn."""
        now = self.scene.now
        for side, forward in zip(_BOTH, (0.08, 0.0), strict=True):
            self.hands[side].to(now, now + 0.8, self.local(side, forward, -0.3, spread=0.14))
        self.lean.to(now, now + 0.8, -0.14)
        self.talking.append((now + 0.3, now + seconds - 0.4, 1.0))
        self.scene.wait(seconds - 0.6)
        self.lean.to(self.scene.now, self.scene.now + 0.5, 0.0)
        self.relax(seconds=0.6)

    def jump(self, times: int = 2) -> None:
        """Jump on the spot with raised arms."""
        now = self.scene.now
        for side in _BOTH:
            self.hands[side].to(now, now + 0.3, self.local(side, 0.1, -0.26, spread=0.14))
        for number in range(times):
            start_s = now + number * 0.72
            self.drop.to(start_s, start_s + 0.2, self.size * 0.05)
            self.drop.to(start_s + 0.2, start_s + 0.34, 0.0)
            self.lift.to(start_s + 0.2, start_s + 0.42, self.size * 0.15)
            self.lift.to(start_s + 0.44, start_s + 0.66, 0.0)
        self.scene.wait(times * 0.72)
        self.relax()

    def knock(self, point: Point, times: int = 3) -> None:
        """Knock on a door at `point`."""
        back = (point[0] - 9 * self.facing.at(self.scene.now), point[1] + 2)
        self.reach("near", lambda _t: back, 0.5)
        for _ in range(times):
            self.reach("near", lambda _t: point, 0.12)
            self.reach("near", lambda _t: back, 0.2)
