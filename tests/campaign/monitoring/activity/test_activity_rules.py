"""How the log is told: entries have the words that a person would say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.monitoring.activity.rules import event_words, grade_words, kinds_of
from backend.core.events import EventGroup, find_events
from backend.core.messages import Said


@given(
    st.sampled_from(list(find_events())), st.dictionaries(st.text(max_size=9), st.none() | st.integers() | st.text())
)
def test_no_payload_is_without_words(kind: str, payload: dict[str, object]) -> None:
    assert event_words(kind, payload)


def test_every_kind_is_of_one_group() -> None:
    assert kinds_of(EventGroup.RESULTS) == [
        *("model_asked", "release_removed", "released", "restored", "run_added", "run_removed", "terms_set"),
        *("truth_added", "truth_removed"),
    ]
    assert kinds_of(EventGroup.GRADES) == [], "grades are rows of their own"
    kinds = [kind for group in EventGroup for kind in kinds_of(group)]
    assert sorted(kinds) == list(find_events())


@pytest.mark.parametrize(
    ("kind", "payload", "words"),
    [
        # A kind that this version does not know, and values of every kind.
        ("later", {}, "later"),
        ("later", {"a": None, "b": True, "c": False}, "later (a –, b yes, c no)"),
        ("later", {"n": 12345, "x": 0.25, "y": 2.0}, "later (n 12,345, x 0.25, y 2)"),
        ("later", {"many": [1, [None, "b  c"]]}, "later (many 1, –, b c)"),
        ("later", {"a": "x" * 300}, f"later (a {'x' * 300})"),
        ("later", {"a": "x" * 301}, f"later (a {'x' * 299}…)"),
        # Codes of the program are read as words.
        ("skipped", {"kind": "cannot_judge"}, "skipped (cannot judge)"),
        ("taken_back", {"what": "re_opened"}, "took back a decision (re-opened)"),
        # Why something was done comes after it, unless its words say it.
        ("batch_declined", {"number": 2, "reason": " all  found "}, "declined batch 2 (“all found”)"),
        ("batch_declined", {"number": 2, "why": "all found"}, "declined batch 2 (“all found”)"),
        ("batch_declined", {"reason": " "}, "declined batch –"),
        ("grade_refused", {"grade": 3, "why": "too late"}, "gave 3, which does not count: too late"),
        # What is told by more than a pattern.
        ("tutorial_switched", {"on": True}, "switched the tutorial on"),
        ("tutorial_switched", {"on": False}, "switched the tutorial off"),
        ("person_suspended", {"suspended": True}, "suspended"),
        ("person_suspended", {}, "suspended"),
        ("person_suspended", {"suspended": False}, "reinstated"),
        ("rewrite_decided", {"published": "Ann  sits.", "text": None}, "rejected every rewrite of “Ann sits.”"),
        ("rewrite_decided", {"published": "Ann.", "text": "A  woman."}, "decided that “Ann.” becomes “A woman.”"),
        (
            "moments_changed",
            {"video": "v", "before": [[0, 1.5], [2, 3]], "after": [[0, 3]]},
            "changed moments of v: 0.00–1.50 s, 2.00–3.00 s became 0.00–3.00 s",
        ),
        ("moments_changed", {"video": "v", "after": [[0, 3]]}, "added moments to v: 0.00–3.00 s"),
        ("moments_changed", {"before": [[0, 3]], "after": []}, "removed moments from –: 0.00–3.00 s"),
        (
            "candidates_chosen",
            {"candidates": 1200, "queries": 6, "encoder": "minilm 0f3a", "pooled": [{"name": "A"}, {"name": "B"}]},
            "chose 1,200 candidates for 6 queries by minilm and pooling A, B",
        ),
        ("candidates_chosen", {"candidates": 9, "queries": 1, "encoder": "e"}, "chose 9 candidates for 1 queries by e"),
        ("candidates_chosen", {"pooled": [{"name": "A"}, "?"]}, "chose – candidates for – queries by pooling A"),
        ("candidates_chosen", {}, "chose – candidates for – queries by –"),
        (
            "candidates_added",
            {"candidates": 30, "pairs": 12, "pooled": [{"name": "A"}]},
            "added 30 candidates by pooling A; 12 pairs were handed out",
        ),
        ("assigned", {}, "assigned any work"),
        ("assigned", {"split": "val", "part": 1, "parts": 3}, "assigned the queries of val, part 1 of 3"),
        (
            "assigned",
            {"queries": 1200, "a_day": 50, "in_all": 1000},
            "assigned 1,200 chosen queries, at most 50 grades a day, at most 1,000 grades in all",
        ),
        ("invited", {"replaced": True}, "made a new sign-in link"),
        ("invited", {}, "made a sign-in link"),
        ("seats_claimed", {"pairs": [7, 8, 9]}, "took 3 pairs to grade"),
        ("seats_returned", {"pairs": [7, 8]}, "gave back 2 pairs"),
        ("seats_returned", {"pairs": 1200}, "gave back 1,200 pairs"),
    ],
)  # fmt: skip
def test_an_event_is_told_as_a_person_would(kind: str, payload: dict[str, object], words: str) -> None:
    assert event_words(kind, payload) == words


@pytest.mark.parametrize(
    ("corrected", "simulated", "imported", "words"),
    [
        (False, False, False, "graded 3"),
        (True, False, False, "corrected the grade to 3"),
        (False, False, True, "graded 3 (imported)"),
        (True, True, True, "corrected the grade to 3 (simulated) (imported)"),
    ],
)
def test_a_grade_is_told_with_where_it_is_from(corrected: bool, simulated: bool, imported: bool, words: str) -> None:
    assert grade_words(3, corrected=corrected, simulated=simulated, imported=imported) == words


def test_words_of_the_program_can_be_told_in_another_language_and_names_of_people_cannot() -> None:
    added = event_words("person_added", {"name": "lead", "role": "lead"})
    assert isinstance(added, Said)
    role, name = added.values["role"], added.values["name"]
    assert isinstance(role, Said)
    assert (role.text, name) == ("lead", "lead")
    assert not isinstance(name, Said)


def test_a_word_that_this_program_does_not_know_is_told_as_it_is() -> None:
    assert event_words("person_added", {"name": "Ana", "role": "guest"}) == "added Ana as guest"
