"""The same work, done in one campaign or in its parts, gives the same release, agreement, hours and flags."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from backend.campaign.doctor.examination import doctor
from backend.campaign.monitoring.hours.report import hours
from backend.campaign.monitoring.quality.agreement_board import agreement_board
from backend.campaign.monitoring.quality.flags import flags
from backend.campaign.nouns import OPERATOR
from split_worlds import EVERYBODY, World, released

PAIRS, WHO, GRADES = st.integers(0, 59), st.integers(0, 5), st.integers(0, 4)
ACTS = st.one_of(
    st.tuples(st.just("grade"), PAIRS, WHO, GRADES),
    # Few pairs and extreme grades: many disputes, second rounds and discards.
    st.tuples(st.just("grade"), st.sampled_from((0, 20, 40)), WHO, st.sampled_from((0, 4))),
    st.tuples(
        st.sampled_from(("adjudicate", "re-open", "confirm", "take back")), st.sampled_from((0, 20, 40)), WHO, GRADES
    ),
    st.tuples(st.sampled_from(("block", "reword", "open")), PAIRS, WHO, GRADES),
)


def run(world: World, acts: list[tuple[str, int, int, int]]) -> None:
    for what, number, who, grade in acts:
        where = list(world.pairs(world.one))[number]
        match what:
            case "grade":
                world.grade(where, EVERYBODY[who], grade)
            case "block":
                world.block(where)
            case "reword":
                world.reword()
            case "open":
                world.open_next(where[0])
            case _:
                world.lead_acts(where, what, grade)


@given(
    acts=st.lists(ACTS, min_size=5, max_size=40),
    parts=st.integers(2, 3),
)
@settings(
    max_examples=16,
    phases=[Phase.generate, Phase.reuse],  # to shrink a failure takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_parts_give_what_one_campaign_gives(
    new_world: Callable[..., World], acts: list[tuple[str, int, int, int]], parts: int
) -> None:
    with TemporaryDirectory() as place:
        world = new_world(Path(place), parts)
        first = list(world.pairs(world.one))
        for where in (first[0], first[21], first[59]):  # a release needs a relevance, hours need work
            world.grade(where, "Anna", 3)
            world.grade(where, "Boris", 3)
        run(world, acts)
        joined, _ = world.joined()
        assert released(joined, world.folder / "r-joined") == released(world.one, world.folder / "r-one")
        for figures in (agreement_board, flags, hours):
            both: list[Any] = [figures(project, OPERATOR) for project in (world.one, joined)]
            assert both[0] == both[1], figures
        assert [doctor(project, now=world.now).findings for project in (joined, *world.parts)] == [()] * (parts + 1)
        for project in (joined, world.one, *world.parts):
            project.store.close()
