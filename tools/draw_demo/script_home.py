"""The videos that play indoors at home. Each function writes one scene from its first second to its last."""

from tools.draw_demo import combos, furniture, places, props
from tools.draw_demo.actor import Actor
from tools.draw_demo.brush import Brush, rgb
from tools.draw_demo.pet import Dog
from tools.draw_demo.stage import Scene
from tools.draw_demo.timeline import Track

_COUNTER = 224.0


def evening_lamp() -> Scene:
    """A dark living room, a lamp, a book."""
    scene = Scene("evening_lamp", places.living_room, (70, 42, 560))
    light, cord = combos.floor_lamp(scene, 446, 312)
    scene.front(322, lambda b: furniture.round_table(b, 462, 262, 324, 24))
    book = scene.prop(props.closed_book, 452, 258, 323)
    nora = Actor(scene, "Nora", -50)
    with scene.moment("Nora comes home, turns on the lamp and reads a book on the sofa."):
        with scene.moment("Nora walks to the sofa and sits down."):
            nora.walk(412)
            nora.sit(378, 270)
        scene.wait(0.3)
        with scene.moment("Nora turns on the lamp."):
            combos.switch(nora, light, cord, 1.0)
            nora.lap("near")
        with scene.moment("Nora takes a book from the small table."):
            nora.lean.to(scene.now, scene.now + 0.5, 0.32)
            nora.take(book)
            nora.lean.to(scene.now - 0.5, scene.now, 0.0)
        book.shown.to(scene.now, scene.now, 0.0)
        opened = scene.prop(props.Book(rgb("#4f78a8")), 0, 0)
        opened.shown.to(-1.0, -1.0, 0.0)
        opened.carry(scene.now, nora, "both")
        opened.shown.to(scene.now, scene.now, 1.0)
        with scene.moment("Nora reads a book."):
            opened.level.to(scene.now + 2.0, scene.now + 2.6, 1.0)
            nora.read(4.2)
    return scene


def juice_morning() -> Scene:
    """A man pours juice, a woman comes in."""
    scene = Scene("juice_morning", places.kitchen, (10, 66, 520))
    jug = scene.prop(props.Jug(rgb("#8fb9cc"), props.JUICE), 326, _COUNTER - props.JUG_BASE, 300)
    glass = scene.prop(props.Glass(props.JUICE), 372, _COUNTER - props.GLASS_BASE, 300)
    mug = scene.prop(props.Mug(rgb("#d9534a")), 196, _COUNTER - props.MUG_BASE, 300)
    ben = Actor(scene, "Ben", 288)
    maya = Actor(scene, "Maya", -50, floor=332)
    scene.wait(0.4)
    with scene.moment("Ben pours orange juice from a jug into a glass."):
        ben.take(jug)
        combos.pour(ben, jug, (372, 212), props.JUICE, 1.6, into=glass)
        ben.put(jug, 326, _COUNTER - props.JUG_BASE, depth=300)
    with scene.moment("Ben drinks the juice."):
        ben.walk(326)
        ben.take(glass)
        ben.drink(glass)
        ben.put(glass, 372, _COUNTER - props.GLASS_BASE, depth=300)
    with scene.moment("Maya comes into the kitchen and waves to Ben."):
        maya.walk(140)
        ben.turn(-1)
        maya.wave(1.8)
    with scene.moment("Ben waves."):
        ben.wave(1.6)
    with scene.moment("Maya drinks from a mug."):
        mug.level.to(0, 0.1, 0.6)
        maya.take(mug)
        maya.drink(mug, seconds=1.5)
    return scene


def dog_dinner() -> Scene:
    """A man feeds a dog, a boy strokes it."""
    scene = Scene("dog_dinner", places.kitchen, (90, 70, 510))
    bag = scene.prop(props.food_bag, 300, _COUNTER - props.BAG_BASE, 300)
    bowl = scene.prop(props.bowl, 366, 334, 345)
    dog = Dog(scene, 520, -1.0, floor=338)
    dog.sitting.to(-1.0, -1.0, 1.0)
    oscar = Actor(scene, "Oscar", 150, floor=328)
    theo = Actor(scene, "Theo", -50, floor=334)
    scene.wait(0.3)
    with scene.moment("Oscar feeds the dog and the dog eats from its bowl."):
        with scene.moment("Oscar pours food from a bag into the dog's bowl."):
            oscar.walk(258)
            oscar.take(bag)
            oscar.walk(308)
            oscar.bow(0.6, 0.1)
            combos.pour(
                oscar, bag, (366, 327), rgb("#8a5a34"), 1.5, into=bowl, spout=(0, -20), angle=1.9, gap=42, drops=True
            )
            oscar.bow(0.0, 0.0)
            oscar.hold("near")
        dog.go(415)
        with scene.moment("The dog eats while Oscar puts the bag away."):
            with scene.aside():
                dog.eat(5.0)
                bowl.level.to(scene.now - 1.5, scene.now, 0.2)
            oscar.walk(250)
            oscar.turn(1)
            oscar.put(bag, 300, _COUNTER - props.BAG_BASE, depth=300)
        scene.wait(0.8)
    with scene.moment("Theo walks over to the dog and pets it."):
        with scene.aside():
            scene.wait(0.2)
            oscar.walk(190)
        theo.walk(350)
        combos.pet(theo, dog, 2.2)
    return scene


def bedroom_morning() -> Scene:
    """A girl gets up, looks out and dances."""
    scene = Scene("bedroom_morning", places.bedroom, (60, 42, 560))
    opened = Track(0.0)
    scene.add(
        lambda _t: 200.0,
        lambda b, t: furniture.curtains(b, 296, 60, 416, 166, rgb("#e8b0bd"), opened.at(t)),
    )
    teddy = scene.prop(props.teddy, 466, 316, 318)
    zoe = Actor(scene, "Zoe", 226, floor=324)
    zoe.sit(186, 272, seconds=0.02)
    scene.now = 0.4
    with scene.moment("Zoe stretches and yawns on the bed."):
        zoe.stretch(2.6)
    with scene.moment("Zoe gets out of bed, opens the curtains and looks out of the window."):
        with scene.moment("Zoe stands up from the bed."):
            zoe.stand()
        zoe.walk(352)
        with scene.moment("Zoe opens the curtains."):
            zoe.facing.to(scene.now, scene.now + 0.3, 0.0)
            zoe.away.to(scene.now + 0.2, scene.now + 0.21, 1.0)
            for side in ("near", "far"):
                zoe.hands[side].to(scene.now, scene.now + 0.5, zoe.local(side, 0.02, -0.26, spread=0.02))
            scene.wait(0.55)
            opened.to(scene.now, scene.now + 0.9, 1.0)
            for side in ("near", "far"):
                zoe.hands[side].to(scene.now, scene.now + 0.9, zoe.local(side, 0.22, -0.18))
            scene.wait(1.0)
            zoe.relax()
        with scene.moment("Zoe looks out of the window."):
            combos.look_out(zoe, 2.4)
    with scene.moment("Zoe picks up a teddy bear."):
        zoe.walk(430)
        zoe.take(teddy, "both", forward=0.12, down=0.12)
    with scene.moment("Zoe dances with her teddy bear."):
        teddy.carry(scene.now, zoe, "near")
        zoe.dance(3.2)
    return scene


def family_dinner() -> Scene:
    """Two people eat; water is poured, and a girl says good night."""
    scene = Scene("family_dinner", places.dining_room, (50, 48, 540))
    scene.front(318, lambda b: furniture.two_chairs(b, 206, 434, 322))
    scene.front(330, lambda b: furniture.table(b, 240, 400, 252, 328))
    left = scene.prop(props.plate, 276, 249, 331)
    right = scene.prop(props.plate, 364, 249, 331)
    jug = scene.prop(props.Jug(rgb("#8fb9cc"), props.WATER), 330, 252 - props.JUG_BASE, 329)
    glass = scene.prop(props.Glass(props.WATER), 306, 252 - props.GLASS_BASE, 331)
    walter = Actor(scene, "Walter", 246, floor=324)
    nora = Actor(scene, "Nora", 700, -1.0, floor=325)
    zoe = Actor(scene, "Zoe", -50, floor=338)
    walter.sit(208, 272, seconds=0.02)
    forks = [scene.prop(props.fork, 0, 0), scene.prop(props.fork, 0, 0)]
    for plate in (left, right):
        plate.level.to(0, 0.01, 1.0)
    forks[0].carry(-1.0, walter, "near")
    forks[1].shown.to(-1.0, -1.0, 0.0)
    scene.now = 0.2
    walter.reach("near", walter.local("near", 0.2, 0.14), 0.1)
    with scene.moment("Walter eats at the table."):
        combos.eat(walter, forks[0], left, 2)
    with scene.moment("Nora comes in and sits down at the table."):
        nora.walk(396)
        nora.sit(432, 272, -1.0)
    with scene.moment("Nora pours water from a jug into a glass."):
        nora.take(jug)
        combos.pour(nora, jug, (306, 240), props.WATER, 1.5, into=glass, gap=16)
        nora.put(jug, 338, 252 - props.JUG_BASE, depth=329)
    forks[1].carry(scene.now, nora, "near")
    forks[1].shown.to(scene.now, scene.now, 1.0)
    with scene.moment("Nora and Walter eat dinner together."):
        with scene.aside():
            combos.eat(walter, forks[0], left, 2)
        scene.wait(0.3)
        combos.eat(nora, forks[1], right, 2)
    with scene.moment("Zoe comes in and waves to Walter and Nora."):
        zoe.walk(120)
        zoe.wave(1.8)
    return scene


def living_party() -> Scene:
    """Music, dancing, clapping."""
    scene = Scene("living_party", places.music_room, (60, 34, 576))
    maya = Actor(scene, "Maya", 440, 1.0, floor=322)
    nora = Actor(scene, "Nora", 276, 1.0, floor=330)
    ben = Actor(scene, "Ben", 386, -1.0, floor=330)
    oscar = Actor(scene, "Oscar", 150, 1.0, floor=318)
    oscar.sit(110, 258, seconds=0.02)
    scene.now = 0.3
    playing = Track(0.0)

    def notes(b: Brush, t: float) -> None:
        for number in range(3):
            rise = (t * 0.6 + number / 3) % 1.0
            if playing.at(t) > 0.5:
                x, y = 588 - 16 * rise + 14 * number, 196 - 70 * rise
                b.ellipse(x, y, 4, 3.2, rgb("#55505e"))
                b.stroke([(x + 3.2, y), (x + 3.2, y - 14), (x + 9, y - 11)], 1.8, rgb("#55505e"))

    scene.add(lambda _t: 319.0, notes)
    with scene.moment("Maya walks to the radio and turns on the music."):
        maya.walk(546)
        maya.reach("near", lambda _t: (586, 220), 0.5)
        playing.to(scene.now, scene.now + 0.1, 1.0)
        scene.wait(0.3)
        maya.relax()
    with scene.moment("Nora and Ben dance while Maya turns around and claps."):
        with scene.aside(), scene.moment("Nora and Ben dance."):
            with scene.aside():
                ben.dance(5.0)
            nora.dance(5.0)
        scene.wait(0.6)
        maya.turn(-1)
        with scene.moment("Maya claps."):
            maya.clap(3.6)
    with scene.moment("Oscar gets up from the sofa and starts to dance."):
        oscar.stand()
        oscar.walk(178)
        oscar.dance(2.8)
    with scene.moment("Ben hugs Nora."):
        nora.turn(1)
        ben.turn(-1, 0.3)
        ben.walk(309)
        combos.hug(ben, nora)
    return scene


def quiet_afternoon() -> Scene:
    """A phone call on the sofa."""
    scene = Scene("quiet_afternoon", places.living_room, (30, 42, 560))
    scene.front(322, lambda b: furniture.round_table(b, 462, 262, 324, 26))
    phone = scene.prop(props.phone, 450, 254, 323)
    walter = Actor(scene, "Walter", 116, 0.0, floor=316)
    walter.away.to(-1.0, -1.0, 1.0)
    maya = Actor(scene, "Maya", 700, -1.0)
    scene.wait(0.1)
    with scene.moment("Walter looks out of the window."):
        walter.hands["far"].to(scene.now, scene.now + 0.8, walter.local("far", 0.15, -0.06))
        scene.wait(2.6)
    with scene.moment("Maya walks to the sofa and sits down."):
        maya.walk(416)
        maya.sit(384, 270)
    with scene.moment("Maya answers the phone."):
        maya.lean.to(scene.now + 0.9, scene.now + 1.4, 0.3)
        combos.answer_phone(maya, phone, 2.8)
        maya.lean.to(scene.now - 2.8, scene.now - 2.3, 0.0)
    with scene.moment("Walter turns around and walks over to Maya, who is still on the phone."):
        maya.say(3.0)
        walter.away.to(scene.now, scene.now + 0.01, 0.0)
        walter.facing.to(scene.now, scene.now + 0.3, 1.0)
        walter.relax("far", seconds=0.4)
        walter.walk(262)
    with scene.moment("Walter waves."):
        walter.wave(1.8)
    return scene


HOME = (evening_lamp, juice_morning, dog_dinner, bedroom_morning, family_dinner, living_party, quiet_afternoon)
