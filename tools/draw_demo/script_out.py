"""The videos that play outdoors."""

from tools.draw_demo import combos, furniture, places, props
from tools.draw_demo.actor import Actor
from tools.draw_demo.brush import rgb
from tools.draw_demo.pet import Dog
from tools.draw_demo.stage import Scene

_GRASS = 334.0


def playground_catch() -> Scene:
    """Two children and a ball."""
    scene = Scene("playground_catch", places.playground, (96, 84, 480))
    theo = Actor(scene, "Theo", 230, 1.0, floor=_GRASS)
    zoe = Actor(scene, "Zoe", 440, -1.0, floor=_GRASS)
    ball = scene.prop(props.ball, 262, _GRASS - props.BALL_BASE, 336)
    scene.wait(0.3)
    with scene.moment("Theo picks up the ball."):
        theo.take(ball, "both", forward=0.15, down=0.16)
    with scene.moment("Theo and Zoe play catch."):
        with scene.moment("Theo throws a ball and Zoe catches it."):
            theo.throw(ball, zoe)
        with scene.moment("Zoe throws the ball back and Theo catches it."):
            zoe.throw(ball, theo)
    theo.put(ball, 258, _GRASS - props.BALL_BASE, "both", 336)
    with scene.moment("Theo kicks the ball and Zoe picks it up."):
        with scene.moment("Theo kicks the ball to Zoe."):
            theo.kick(ball, (412, _GRASS - props.BALL_BASE))
        zoe.take(ball, "both", forward=0.15, down=0.16)
    with scene.moment("Theo jumps up and down."):
        theo.jump(3)
    with scene.moment("Zoe walks away with the ball."):
        with scene.aside():
            scene.wait(0.4)
            theo.wave(2.0)
        zoe.walk(640)
    return scene


def park_book() -> Scene:
    """An old man reads on a bench, a woman passes with her dog."""
    scene = Scene("park_book", places.park, (60, 46, 556))
    scene.front(322, lambda b: furniture.bench(b, 440, 322))
    book = scene.prop(props.Book(rgb("#c9605a")), 0, 0)
    book.shown.to(-1.0, -1.0, 0.0)
    walter = Actor(scene, "Walter", 190, 1.0, floor=330)
    nora = Actor(scene, "Nora", -60, 1.0, floor=340)
    with scene.moment("Walter walks to the bench, sits down and reads a book."):
        with scene.moment("Walter walks to the bench and sits down."):
            walter.walk(452)
            walter.sit(420, 276)
        book.carry(scene.now, walter, "both")
        with scene.moment("Walter reads a book."):
            book.shown.to(scene.now + 0.3, scene.now + 0.32, 1.0)
            book.level.to(scene.now + 2.0, scene.now + 2.6, 1.0)
            walter.read(4.0)
    dog = Dog(scene, -110, 1.0, floor=350)
    with scene.moment("Nora walks a dog through the park and waves to Walter."):
        with scene.moment("Nora walks through the park with her dog."):
            with scene.aside():
                dog.go(318, 112)
            nora.walk(260)
        with scene.moment("Nora waves."):
            nora.wave(2.0)
        dog.sitting.to(scene.now - 1.2, scene.now - 0.8, 1.0)
    with scene.moment("Walter waves back to Nora."):
        walter.wave(1.6)
    with scene.moment("Nora bends down and pets her dog."):
        combos.pet(nora, dog, 2.0)
    return scene


def park_fetch() -> Scene:
    """A man plays with a dog."""
    scene = Scene("park_fetch", places.park, (20, 46, 556))
    ball = scene.prop(props.small_ball, 0, 0, 345)
    oscar = Actor(scene, "Oscar", 150, 1.0, floor=332)
    maya = Actor(scene, "Maya", 660, -1.0, floor=326)
    dog = Dog(scene, 214, -1.0, floor=342, coat=rgb("#6d4a3a"))
    dog.sitting.to(-1.0, -1.0, 1.0)
    dog.joy.to(-1.0, -1.0, 1.0)
    ball.carry(-0.5, oscar, "near")
    oscar.hold("near", seconds=0.2)
    scene.wait(0.3)
    with scene.moment("Oscar plays with the dog: he throws a ball and the dog brings it back."):
        with scene.moment("Oscar throws a ball and the dog runs after it."):
            oscar.lean.to(scene.now, scene.now + 0.45, -0.12)
            oscar.reach("near", oscar.local("near", -0.14, -0.18), 0.5)
            oscar.lean.to(scene.now, scene.now + 0.2, 0.18)
            oscar.reach("near", oscar.local("near", 0.24, -0.18), 0.22)
            ball.fly(scene.now, scene.now + 1.1, (486, 334), 90)
            oscar.lean.to(scene.now + 0.3, scene.now + 0.8, 0.0)
            with scene.aside():
                scene.wait(0.4)
                oscar.relax("near")
            dog.go(436, 190)
        dog.head.to(scene.now, scene.now + 0.3, 1.0)
        scene.wait(0.5)
        ball.carry(scene.now, dog, "mouth")
        dog.head.to(scene.now, scene.now + 0.3, 0.0)
        scene.wait(0.3)
        with scene.moment("The dog brings the ball back to Oscar."):
            dog.go(222, 170)
    with scene.moment("Oscar pets the dog."):
        oscar.walk(160)
        combos.pet(oscar, dog, 2.0)
    with scene.moment("Maya comes along the path and waves."):
        maya.walk(430)
        maya.wave(1.8)
    with scene.moment("Maya walks over to Oscar and hugs him."):
        with scene.aside():
            dog.go(60, 120)
        maya.walk(204)
        combos.hug(oscar, maya, 2.0)
    return scene


def front_door() -> Scene:
    """A visitor with a present."""
    scene = Scene("front_door", places.street, (130, 60, 510))
    opened = combos.door(scene, (486, 112, 420, 306), rgb("#3f7f86"), 307)
    present = scene.prop(props.present, 0, 0)
    maya = Actor(scene, "Maya", 90, 1.0, floor=328)
    walter = Actor(scene, "Walter", 444, -0.9, floor=304)
    present.carry(-1.0, maya, "far")
    maya.hold("far", forward=0.16, down=0.15, seconds=0.1)
    with scene.moment("Maya walks to the door with a present and knocks."):
        maya.walk(376)
        with scene.moment("Maya knocks on the door."):
            maya.knock((428, 206), 4)
            maya.relax("near")
    with scene.moment("Walter opens the door."):
        opened.to(scene.now, scene.now + 1.1, 1.0)
        scene.wait(0.7)
        with scene.aside():
            walter.say(1.4)
            walter.wave(1.2)
        maya.turn(1)
        scene.wait(1.5)
    with scene.moment("Maya gives Walter a present."):
        maya.walk(398)
        maya.give(present, walter)
    with scene.moment("Maya waves goodbye and walks away."):
        maya.walk(340)
        maya.turn(1)
        with scene.moment("Maya waves."):
            maya.wave(1.6)
        maya.walk(70)
    with scene.moment("Walter goes inside with the present and closes the door."):
        now = scene.now
        walter.facing.to(now, now + 0.4, 0.0)
        walter.away.to(now + 0.3, now + 0.3, 1.0)
        present.shown.to(now + 0.3, now + 0.3, 0.0)
        walter.x.to(now, now + 0.5, 453)
        walter.relax(seconds=0.4)
        scene.wait(0.3)
        opened.to(scene.now, scene.now + 1.1, 0.0)
        scene.wait(1.2)
    return scene


def rainy_street() -> Scene:
    """Rain, an umbrella and a phone call."""
    scene = Scene("rainy_street", places.rainy_street, (0, 56, 530))
    combos.rain(scene)
    umbrella = scene.prop(props.umbrella, 0, 0)
    phone = scene.prop(props.phone, 0, 0)
    phone.shown.to(-1.0, -1.0, 0.0)
    nora = Actor(scene, "Nora", -40, 1.0, floor=330)
    ben = Actor(scene, "Ben", 660, -1.0, floor=336)
    umbrella.carry(-1.0, nora, "far")
    nora.hold("far", forward=0.1, down=0.2, seconds=0.1)
    nora.walk(110)
    with scene.moment("Nora opens an umbrella in the rain."):
        nora.hold("far", forward=0.15, down=0.07, seconds=0.6)
        umbrella.level.to(scene.now, scene.now + 0.5, 1.0)
        scene.wait(0.9)
    with scene.moment("Nora walks along the street with an umbrella."):
        nora.walk(230)
    with scene.moment("Nora answers the phone."):
        phone.carry(scene.now, nora, "near")
        phone.level.to(scene.now, scene.now + 0.02, 1.0)
        phone.shown.to(scene.now + 0.1, scene.now + 0.12, 1.0)
        nora.hold("near", forward=0.16, down=0.08, seconds=0.6)
        scene.wait(0.5)
        phone.level.to(scene.now, scene.now + 0.02, 0.0)
        nora.reach("near", nora.ear(), 0.5)
        nora.say(2.6)
        scene.wait(2.8)
    phone.shown.to(scene.now + 0.45, scene.now + 0.46, 0.0)
    nora.relax("near")
    with scene.moment("Ben runs through the rain and gets under Nora's umbrella."):
        ben.walk(282, 1.25)
    with scene.moment("Ben and Nora walk away under the umbrella."):
        with scene.aside():
            ben.walk(-70, 0.62)
        scene.wait(0.1)
        nora.walk(-110, 0.655)
    return scene


def garden_flowers() -> Scene:
    """Watering, sweeping, a bunch of flowers."""
    scene = Scene("garden_flowers", places.garden, (40, 39, 570))
    can = scene.prop(props.watering_can, 200, 330 - props.CAN_BASE, 332)
    broom = scene.prop(props.broom, 0, 0)
    flowers = scene.prop(props.flowers, 0, 0)
    flowers.shown.to(-1.0, -1.0, 0.0)
    scene.front(326, lambda b: furniture.pot_plant(b, 330, 326, 1.15))
    walter = Actor(scene, "Walter", 168, 1.0, floor=330)
    maya = Actor(scene, "Maya", 560, -1.0, floor=336)
    zoe = Actor(scene, "Zoe", 690, -1.0, floor=342)
    broom.carry(-1.0, maya, "near")
    maya.hold("near", "far", forward=0.16, down=0.12, seconds=0.1)
    scene.wait(0.3)
    with scene.moment("Walter picks up a watering can and waters the plant."):
        walter.take(can)
        walter.walk(254)
        with scene.moment("Walter waters the plant."):
            combos.pour(walter, can, (330, 262), props.WATER, 2.4, spout=(36, -4), angle=0.5, gap=44, drops=True)
    with scene.moment("Maya sweeps the garden path with a broom while Walter watches."):
        with scene.aside():
            walter.put(can, 292, 330 - props.CAN_BASE, depth=332)
        now = scene.now
        maya.hands["near"].to(now, now + 0.4, maya.local("near", 0.16, 0.14, (0.07, 0.0, 0.9)))
        maya.hands["far"].to(now, now + 0.4, maya.local("far", 0.12, 0.02, (0.03, 0.0, 0.9)))
        maya.lean.to(now, now + 0.4, 0.14)
        scene.wait(3.4)
        maya.lean.to(scene.now, scene.now + 0.4, 0.0)
        maya.hold("near", "far", forward=0.16, down=0.12)
    with scene.moment("Zoe picks flowers and gives them to Walter."):
        with scene.aside():
            zoe.walk(470, 0.8)
        maya.walk(660)
        with scene.moment("Zoe bends down and picks flowers."):
            zoe.bow(0.75, 0.15)
            zoe.reach("near", lambda _t: (448, 316), 0.7)
            scene.wait(0.3)
            flowers.carry(scene.now, zoe, "near")
            flowers.shown.to(scene.now, scene.now, 1.0)
            zoe.bow(0.0, 0.0)
            zoe.hold("near")
        with scene.moment("Zoe gives the flowers to Walter."):
            zoe.walk(326, 0.9)
            zoe.give(flowers, walter)
    return scene


OUT = (
    playground_catch,
    park_book,
    park_fetch,
    front_door,
    rainy_street,
    garden_flowers,
)
