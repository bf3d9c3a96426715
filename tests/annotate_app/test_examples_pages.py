"""Examples of the guideline on the lead's pages, and the way their clips leave the server."""

import json
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from annotate_app.shared.player import guideline
from backend.campaign.judging.queue import block_clip
from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.guideline.rules import Example
from backend.campaign.qualification.guideline.versions import choose_example, examples_chosen
from backend.campaign.review.adjudicating import adjudicate
from backend.core.ids import PairKey
from quick_cutter import CONTENT, UNREADABLE
from reading import read
from served import Browser, blocked, client, rename_video
from small_project import ESCALATED, TEXTS, SmallProject
from support import NOW, new_campaign

__all__ = ["client"]  # fixtures

Open = Callable[..., AppTest]
NOTE, REASON = "She puts it down in full view.", "The *whole* quarrel is there."


@pytest.fixture
def decided(real_project: SmallProject) -> PairKey:
    """The only pair of the list Decided: relevance 3, by a lead."""
    pair = real_project.pair(3, ESCALATED[0]).pair
    adjudicate(real_project.project, real_project.lead, pair, 3, REASON, now=NOW)
    return pair


@pytest.fixture
def shown(real_project: SmallProject) -> Example:
    """The example of 3 that stands: a pair that people settled."""
    choose_example(real_project.project, real_project.lead, real_project.pair(1, 3).pair, 3, NOTE, now=NOW)
    (example,) = chosen(real_project)
    assert example.showing
    return example


@pytest.fixture
def open_decided(open_page_of: Open, decided: PairKey) -> Callable[[], AppTest]:
    """Opens the list Decided as the lead."""
    return lambda: open_page_of("disputes", show="decided")


def chosen(small: SmallProject) -> list[Example]:
    """The examples that stand."""
    return examples_chosen(small.project, OPERATOR)


def show(app: AppTest) -> None:
    next(button for button in app.button if button.label == "Show to annotators").click().run()
    assert not app.exception


def written(app: AppTest) -> str:
    return "\n".join(text.value for kind in ("markdown", "caption") for text in app.get(kind))


def test_a_decided_pair_becomes_an_example_with_the_reason_as_its_note(
    open_decided: Open, real_project: SmallProject, decided: PairKey
) -> None:
    app = open_decided()
    assert app.text_input(key=f"example-note-{decided}").value == REASON
    show(app)
    (example,) = chosen(real_project)
    assert (example.grade, example.pair, example.note) == (3, decided, REASON)
    assert "The guideline shows this as the example of grade 3. “The \\*whole\\* quarrel is there\\.”" in written(app)
    assert [read(one.value) for one in app.success] == ["Annotators now see this pair as the example of 3."]
    assert not [button for button in app.button if button.label == "Show to annotators"]


def test_a_note_in_other_words_counts(open_decided: Open, real_project: SmallProject, decided: PairKey) -> None:
    app = open_decided()
    app.text_input(key=f"example-note-{decided}").input(NOTE)
    show(app)
    assert [example.note for example in chosen(real_project)] == [NOTE]


def test_the_lead_reads_which_example_a_choice_replaces(
    open_decided: Open, real_project: SmallProject, decided: PairKey, shown: Example
) -> None:
    app = open_decided()
    assert f"It replaces “{TEXTS[0]}”." in written(app)
    show(app)
    assert [example.pair for example in chosen(real_project)] == [decided]


def test_a_refusal_is_said_at_the_pair(open_decided: Open, real_project: SmallProject, decided: PairKey) -> None:
    app = open_decided()
    app.text_input(key=f"example-note-{decided}").input(" ")
    show(app)
    refusal = "an example needs a note: say in one sentence why it deserves this grade"
    assert [read(error.value) for error in app.error] == [refusal]
    assert chosen(real_project) == []


def test_an_example_is_withdrawn_where_it_is_shown(
    open_decided: Open, real_project: SmallProject, decided: PairKey
) -> None:
    choose_example(real_project.project, real_project.lead, decided, 3, NOTE, now=NOW)
    app = open_decided()
    app.button(key=f"example-withdraw-3-{decided}").click().run()
    assert not app.exception
    assert chosen(real_project) == []


def test_an_example_whose_relevance_changed_says_that_it_does_not_show(
    open_decided: Open, real_project: SmallProject, decided: PairKey
) -> None:
    project, lead = real_project.project, real_project.lead
    choose_example(project, lead, decided, 3, NOTE, now=NOW)
    adjudicate(project, lead, decided, 1, "Only a part of it.", seen=1, now=NOW)
    app = open_decided()
    assert "Chosen as the example of grade 3, but not shown: its relevance is 1 now" in written(app)
    assert [button.label for button in app.button if button.label == "Show to annotators"] == ["Show to annotators"]


def test_a_pair_without_a_relevance_or_a_clip_cannot_be_chosen(
    open_decided: Open, open_page_of: Open, real_project: SmallProject, decided: PairKey
) -> None:
    block_clip(real_project.project, real_project.lead, decided, "damaged", now=NOW)
    for app in (open_decided(), open_page_of("disputes", case=real_project.pair(3, ESCALATED[1]).pair)):
        assert [button for button in app.button if button.label == "Adjudicate"]
        assert not [button for button in app.button if button.label == "Show to annotators"]


def test_a_browser_gets_the_words_and_the_address_of_an_example_and_nothing_else() -> None:
    example = Example(7, 3, PairKey("qqsecretqq"), "A woman puts a cup down", NOTE, True)
    grades = guideline(new_campaign(), [example])["grades"]
    assert [grade["shown"] is not None for grade in grades] == [False, False, False, True, False]
    assert grades[3]["shown"] == {"query": example.query, "note": NOTE, "clip": "/examples/3.mp4?v=7"}
    assert "qqsecretqq" not in json.dumps(grades)


# The route


@pytest.mark.parametrize("who", ["Ana", "Lea"])
def test_everybody_who_is_signed_in_gets_the_clip(client: Browser, shown: Example, who: str) -> None:
    client.signed_in(who)
    for path in (f"/examples/3.mp4?v={shown.version}", "/examples/3.mp4"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "video/mp4")
        assert answer.content == CONTENT
        assert answer.headers["cache-control"] == "private, no-cache"
    part = client.get("/examples/3.mp4", headers={"Range": "bytes=256-257"})
    assert (part.status_code, part.content) == (206, b"\x00\x01")


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize(
    "path", ["/examples/2.mp4", "/examples/3.mp4?v=6", "/examples/3.mp4?v=x", "/examples/9.mp4", "/examples/x.mp4"]
)
def test_what_is_no_example_is_not_there(client: Browser, path: str) -> None:
    assert client.signed_in("Ana").get(path).status_code == 404


def test_an_example_that_does_not_show_has_no_clip(client: Browser, real_project: SmallProject, shown: Example) -> None:
    block_clip(real_project.project, real_project.lead, shown.pair, "damaged", now=NOW)
    assert client.signed_in("Ana").get(f"/examples/3.mp4?v={shown.version}").status_code == 404


def test_an_annotator_does_not_learn_the_file_of_an_example_that_cannot_be_cut(
    client: Browser, real_project: SmallProject, shown: Example
) -> None:
    rename_video(real_project, shown.pair, UNREADABLE)
    answer = client.signed_in("Ana").get("/examples/3.mp4")
    assert (answer.status_code, "friends" in answer.text) == (404, False)
    assert shown.pair not in blocked(real_project)
