"""The videos that play at work and in the café."""

from tools.draw_demo import combos, furniture, places, props
from tools.draw_demo.actor import Actor
from tools.draw_demo.brush import rgb
from tools.draw_demo.stage import Scene


def office_monday() -> Scene:
    """Typing, a phone call, a box."""
    scene = Scene("office_monday", places.office, (90, 56, 540))
    scene.front(318, lambda b: furniture.chair(b, 352, 322, 1, rgb("#5f7f8f")))
    scene.front(330, lambda b: furniture.table(b, 378, 540, 250, 328, rgb("#d9c3a5")))
    scene.front(331, furniture.computer)
    phone = scene.prop(props.phone, 398, 241, 332)
    mug = scene.prop(props.Mug(rgb("#f2b632")), 0, 0)
    box = scene.prop(props.box, 0, 0)
    ben = Actor(scene, "Ben", 120, 1.0, floor=324)
    nora = Actor(scene, "Nora", 40, 1.0, floor=336)
    mug.rest(-1.0, 536 - 12, 250 - props.MUG_BASE, 332)
    box.carry(-1.0, nora, "both")
    nora.hold("near", "far", forward=0.17, down=0.15, seconds=0.1)
    with scene.moment("Ben walks to his desk, sits down and types."):
        with scene.moment("Ben walks to the desk and sits down."):
            ben.walk(388)
            ben.sit(354, 272)
        with scene.moment("Ben types on a computer."):
            combos.type_on(ben, (396, 246), 3.4)
    ben.lap()
    with scene.moment("Ben answers the phone."):
        combos.answer_phone(ben, phone, 2.6)
    with scene.moment("Nora carries a box into the office and puts it down."):
        with scene.aside():
            ben.put(phone, 398, 241, depth=332)
        nora.walk(190)
        nora.put(box, 238, 336 - props.BOX_BASE, "both", 338)
    with scene.moment("Nora waves to Ben."):
        nora.wave(1.8)
    return scene


def moving_boxes() -> Scene:
    """Boxes carried through an office."""
    scene = Scene("moving_boxes", places.office, (70, 44, 560))
    scene.front(330, lambda b: furniture.table(b, 400, 540, 250, 328, rgb("#d9c3a5")))
    box = scene.prop(props.box, 176, 330 - props.BOX_BASE, 334)
    mug = scene.prop(props.Mug(rgb("#5aa7a0")), 416, 250 - props.MUG_BASE, 332)
    oscar = Actor(scene, "Oscar", 120, 1.0, floor=328)
    maya = Actor(scene, "Maya", 700, -1.0, floor=324)
    scene.wait(0.3)
    with scene.moment("Oscar picks up a box, carries it across the office and puts it on the table."):
        with scene.moment("Oscar picks up a box."):
            oscar.take(box, "both", forward=0.17, down=0.15)
        with scene.moment("Oscar carries a box."):
            oscar.walk(416)
        with scene.moment("Oscar puts the box down on the table."):
            oscar.put(box, 462, 250 - props.BOX_BASE, "both", 331)
    with scene.moment("Maya comes in and claps."):
        maya.walk(570)
        maya.clap(2.4)
    with scene.moment("Oscar drinks from a mug."):
        oscar.walk(384)
        oscar.turn(1)
        oscar.take(mug)
        oscar.drink(mug, seconds=1.5)
    with scene.moment("Oscar dances with the mug in his hand."):
        oscar.dance(2.8)
    return scene


def cafe_meeting() -> Scene:
    """Coffee for one, then for two."""
    scene = Scene("cafe_meeting", places.cafe, (60, 46, 556))
    scene.front(318, lambda b: furniture.two_chairs(b, 214, 382, 322))
    scene.front(330, lambda b: furniture.round_table(b, 298, 252, 328, 52))
    mug = scene.prop(props.Mug(rgb("#ffffff")), 272, 252 - props.MUG_BASE, 332)
    pot = scene.prop(props.Jug(rgb("#55505e"), rgb("#55505e")), 0, 0)
    maya = Actor(scene, "Maya", 60, 1.0, floor=324)
    oscar = Actor(scene, "Oscar", 600, -1.0, floor=335)
    nora = Actor(scene, "Nora", 690, -1.0, floor=325)
    pot.carry(-1.0, oscar, "near")
    oscar.hold("near", seconds=0.1)
    with scene.moment("Maya walks to a table and sits down."):
        maya.walk(248)
        maya.sit(216, 272)
    with scene.moment("Oscar pours coffee from a pot into Maya's mug."):
        oscar.walk(342)
        combos.pour(oscar, pot, (272, 238), props.COFFEE, 1.5, into=mug, gap=20)
        oscar.hold("near")
    with scene.moment("Maya drinks from a mug."):
        with scene.aside():
            oscar.walk(640)
        maya.take(mug)
        maya.drink(mug, seconds=1.5)
        maya.put(mug, 272, 252 - props.MUG_BASE, depth=332)
    with scene.moment("Nora comes in, waves to Maya and sits down at her table."):
        nora.walk(420)
        with scene.moment("Nora waves."):
            nora.wave(1.5)
        nora.walk(346)
        nora.sit(380, 272, -1.0)
    with scene.moment("Nora and Maya talk at the table."):
        nora.say(1.6)
        nora.gesture("near", 0.2, 0.08, (0.03, 0.04, 1.2), 1.6)
        maya.say(1.5)
        nora.lap("near")
        maya.gesture("near", 0.2, 0.06, (0.03, 0.04, 1.2), 1.3)
        maya.lap("near")
    return scene


WORK = (office_monday, moving_boxes, cafe_meeting)
