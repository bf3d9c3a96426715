"""Actions that need more than one body: pouring, ringing, lighting, petting."""

import math

from tools.draw_demo import furniture, props
from tools.draw_demo.actor import Actor
from tools.draw_demo.body import Target, fixed
from tools.draw_demo.brush import Brush, Colour, Point
from tools.draw_demo.pet import Dog
from tools.draw_demo.stage import Light, Prop, Scene
from tools.draw_demo.timeline import Track, swing


def turned(point: Point, angle: float) -> Point:
    """A point turned clockwise by `angle` radians about the origin (y down)."""
    cos, sin = math.cos(angle), math.sin(angle)
    return point[0] * cos - point[1] * sin, point[0] * sin + point[1] * cos


def pour(
    actor: Actor,
    vessel: Prop,
    at: Point,
    colour: Colour,
    seconds: float,
    *,
    into: Prop | None = None,
    spout: Point = (33.0, -18.0),
    angle: float = 0.75,
    gap: float = 20.0,
    drops: bool = False,
) -> None:
    """Tip a held vessel so that it flows onto `at` from `gap` pixels above; `into` fills up meanwhile."""
    scene = actor.scene
    side = 1.0 if actor.facing.at(scene.now) >= 0 else -1.0
    dx, dy = turned(spout, angle)
    with scene.aside():
        scene.wait(1.0)
        if into is not None:
            into.level.to(scene.now, scene.now + seconds, 0.85, lambda share: min(1.0, share))

    def flow(brush: Brush, t: float) -> None:
        if vessel.level.at(t) > 0.5:
            props.stream(brush.moved(at[0], at[1] - gap), gap + 4, colour, drops, t)

    scene.add(lambda _t: actor.floor + 1, flow)
    actor.tip(vessel, (at[0] - side * dx, at[1] - gap - dy), seconds, angle)


def answer_phone(actor: Actor, phone: Prop, seconds: float, ring_s: float = 1.0) -> None:
    """The phone rings; it is taken to the ear and spoken into."""
    scene = actor.scene
    phone.level.to(scene.now, scene.now + 0.05, 1.0)
    scene.wait(ring_s)
    actor.take(phone)
    phone.level.to(scene.now, scene.now + 0.05, 0.0)
    actor.reach("near", actor.ear(), 0.5)
    actor.say(seconds)
    scene.wait(seconds)


def floor_lamp(scene: Scene, x: float, base: float) -> tuple[Light, Point]:
    """A lamp that is off, and where its cord hangs."""
    light = Light(x, base - 140, Track(0.0))
    scene.light = light
    scene.add(lambda _t: base, lambda brush, t: furniture.floor_lamp(brush, x, base, light.power.at(t)))
    return light, (x + 8, base - 112)


def switch(actor: Actor, light: Light, cord: Point, power: float) -> None:
    """Pull the cord of a lamp."""
    scene = actor.scene
    lean = actor.lean.at(scene.now)
    actor.lean.to(scene.now, scene.now + 0.5, lean + 0.12)
    actor.reach("near", lambda _t: cord, 0.6)
    actor.reach("near", lambda _t: (cord[0], cord[1] + 6), 0.15)
    light.power.to(scene.now, scene.now + 0.25, power)
    scene.wait(0.4)
    actor.lean.to(scene.now, scene.now + 0.5, lean)


def pet(actor: Actor, dog: Dog, seconds: float) -> None:
    """Bend down and stroke a dog's back."""
    scene = actor.scene
    x, y = dog.x.at(scene.now), dog.floor - 40
    actor.bow(0.85, 0.17)
    actor.nod.to(scene.now, scene.now + 0.4, 0.2)
    actor.reach("near", lambda t: (x + 9 * math.sin(5 * t), y + 1.5 * math.cos(5 * t)), 0.7)
    dog.joy.to(scene.now, scene.now + 0.3, 1.3)
    scene.wait(seconds)
    actor.bow(0.0, 0.0)
    actor.nod.to(scene.now, scene.now + 0.4, 0.0)
    actor.relax(seconds=0.6)


def eat(actor: Actor, fork: Prop, plate: Prop, bites: int) -> None:
    """Eat from a plate with a fork that is already in hand."""
    scene = actor.scene
    left = plate.level.at(scene.now)
    x, y = plate.at(scene.now)
    side = 1.0 if actor.facing.at(scene.now) >= 0 else -1.0
    for bite in range(bites):
        actor.lean.to(scene.now, scene.now + 0.4, 0.12)
        actor.reach("near", lambda _t: (x - 14 * side, y - 13), 0.45)
        fork.level.to(scene.now, scene.now + 0.05, 1.0)
        plate.level.to(scene.now, scene.now + 0.1, left * (1 - 0.75 * (bite + 1) / bites))
        scene.wait(0.15)
        actor.reach("near", actor.mouth(down=1.5), 0.5)
        actor.say(0.9, 0.7)
        scene.wait(0.2)
        fork.level.to(scene.now, scene.now + 0.05, 0.0)
        actor.lean.to(scene.now, scene.now + 0.4, 0.0)
    actor.reach("near", actor.local("near", 0.2, 0.14), 0.4)


def rain(scene: Scene, start_s: float = 0.0) -> None:
    """Rain in front of everything."""

    def fall(brush: Brush, t: float) -> None:
        if t < start_s:
            return
        for number in range(90):
            # The plastic number spreads drops evenly over the plane (Roberts 2018, R2 sequence).
            x = (number * 0.7548776662 % 1.0) * 680 - 20
            y = ((number * 0.5698402910 + t * 1.15) % 1.0) * 400 - 20
            brush.poly([(x, y), (x + 1.3, y), (x - 2.2, y + 13), (x - 3.5, y + 13)], (226, 238, 246))

    scene.add(lambda _t: 900.0, fall)


def door(scene: Scene, box: tuple[float, float, float, float], paint: Colour, depth: float) -> Track:
    """A closed door in its frame; the track opens it (0 to 1)."""
    opened = Track(0.0)
    scene.add(lambda _t: depth, lambda brush, t: furniture.door_leaf(brush, *box, paint, opened.at(t)))
    return opened


def hug(one: Actor, two: Actor, seconds: float = 2.0) -> None:
    """Two people who stand a quarter of a body apart put their arms around each other."""
    scene = one.scene
    for person, other in ((one, two), (two, one)):
        for side in ("near", "far"):
            x, y = other.chest(scene.now)
            # Not all hands at one height, so that every arm stays visible.
            low = 0.06 + (0.06 if person is one else 0.0) + (0.05 if side == "near" else 0.0)
            goal = (x + 0.04 * other.size * person.facing.at(scene.now), y + low * other.size)
            person.hands[side].to(scene.now, scene.now + 0.6, fixed(goal))
        person.lean.to(scene.now, scene.now + 0.6, 0.1)
    scene.wait(seconds)
    for person in (one, two):
        person.lean.to(scene.now, scene.now + 0.5, 0.0)
    with scene.aside():
        two.relax()
    one.relax()


def type_on(actor: Actor, keyboard: Point, seconds: float) -> None:
    """Type with both hands."""
    now = actor.scene.now

    def keys(shift: float, hertz: float) -> Target:
        return lambda t: (keyboard[0] + shift + 2.5 * math.sin(t * 2.1), keyboard[1] + 2.2 * swing(t, hertz))

    actor.hands["near"].to(now, now + 0.5, keys(-3.0, 4.1))
    actor.hands["far"].to(now, now + 0.5, keys(9.0, 3.5))
    actor.nod.to(now, now + 0.4, 0.12)
    actor.scene.wait(seconds)
    actor.nod.to(actor.scene.now, actor.scene.now + 0.4, 0.0)


def look_out(actor: Actor, seconds: float) -> None:
    """Turn the back to the viewer and look out, one hand at the frame of the window."""
    scene, now = actor.scene, actor.scene.now
    before = actor.facing.at(now)
    actor.facing.to(now, now + 0.3, 0.0)
    actor.away.to(now + 0.2, now + 0.2, 1.0)
    actor.hands["far"].to(now + 0.3, now + 0.9, actor.local("far", 0.15, -0.08))
    scene.wait(seconds)
    actor.away.to(scene.now, scene.now, 0.0)
    actor.facing.to(scene.now, scene.now + 0.35, before)
    actor.relax("far")
