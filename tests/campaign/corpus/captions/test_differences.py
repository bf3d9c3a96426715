"""What a rewrite changed, by examples counted by hand, and what holds of any two texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.corpus.captions.model import Piece
from backend.campaign.corpus.captions.rules.comparing import differences, gender_of, replacement_words, summary

# Published text, imprecise text, what is marked in each, and the replacement words that a person counts in it.
EXAMPLES = [
    ("Rachel sits down.", "A woman sits down.", ["Rachel"], ["A woman"], ["a woman"]),
    ("Phoebe and Rachel hug.", "Two people hug.", ["Phoebe and Rachel"], ["Two people"], ["two people"]),
    (
        "Phoebe and Rachel hug.",
        "A woman and another woman hug.",
        ["Phoebe", "Rachel"],
        ["A woman", "another woman"],
        ["a woman", "another woman"],
    ),
    ("House takes Wilson's lunch.", "A man takes another man's lunch.", ["House", "Wilson"], ["A man", "another man"],
     ["a man", "another man"]),
    # An article that stayed belongs to the new noun; an adjective does not.
    ("The Castle waves to Amy.", "The man waves to a woman.", ["Castle", "Amy"], ["man", "a woman"],
     ["the man", "a woman"]),
    ("He sees an upset Amy.", "He sees an upset woman.", ["Amy"], ["woman"], ["woman"]),
    # Without anything in its place, and nothing but a capital.
    ("Joey sits. Then he leaves.", "Then he leaves.", ["Joey sits."], [], []),
    ("then he leaves.", "Then he leaves.", ["then"], ["Then"], []),
    ("then he sees Amy.", "Then he sees a woman.", ["then", "Amy"], ["Then", "a woman"], ["a woman"]),
    ("He leaves.", "He leaves.", [], [], []),
    ("佩佩跳舞。", "一个女人跳舞。", ["佩佩跳舞"], ["一个女人跳舞"], ["一个女人跳舞"]),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "gone", "new", "words"), EXAMPLES)
def test_differences_and_replacement_words(
    before: str, after: str, gone: list[str], new: list[str], words: list[str]
) -> None:
    marked = [[piece.text for piece in text if piece.changed] for text in differences(before, after)]
    assert marked == [gone, new]
    assert sorted(summary([(before, after, 1)]).replacements) == sorted((word, words.count(word)) for word in {*words})


def test_a_corpus_is_counted_by_captions() -> None:
    # By hand: 3 + 2 + 1 + 1 = 7 captions, 3 + 1 + 1 = 5 changed; 3*3 + 2*2 + 1*4 + 1*6 = 23 words before,
    # 3*4 + 2*2 + 1*3 + 1*8 = 27 after.
    found = summary(
        [
            ("Rachel sits down.", "A woman sits down.", 3),
            ("Rain falls.", "Rain falls.", 2),
            ("Ross and Rachel hug.", "Two people hug.", 1),
            ("Ross sees Amy; Zoe sees nobody.", "A man sees a woman; someone sees nobody.", 1),
        ]
    )
    assert (found.captions, found.changed) == (7, 5)
    assert (found.words_before, found.words_after) == pytest.approx((23 / 7, 27 / 7))
    # The most frequent first, then by the alphabet.
    assert found.replacements == (("a woman", 4), ("a man", 1), ("someone", 1), ("two people", 1))


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        # Tables 2 and Figure 3 of the paper
        ("Eric and Dr. Gregory were having a conversation.", "Two people were having a conversation.", "two people"),
        ("Rachel is shoving a tie into Chandler's mouth.", "A girl is shoving a tie into guy's mouth.", "girl guy"),
        ("Demming agree to meet with Beckett later.", "A man agrees to meet with woman later.", "man agrees woman"),
        ("Raj mocks Leonard and Priya and rolls his eyes.", "A person mocks two people and rolls his/her eyes.",
         "person two people her"),
        # only capitals, an article, a sign: no word
        ("Then he sits.", "then he sits!", ""),
        ("An apple falls on Ross.", "The apple falls on a man.", "man"),
        ("Carl waves.", "An old man waves.", "old man"),
        # a word that was there is no replacement, even if it is one elsewhere
        ("A man hands Joey a cup.", "A man hands a man a cup.", "man"),
        ("A man sees Joey and another man.", "A man sees another man and another man.", "another man"),
        # left out, and nothing changed
        ("His daughter Amy waves.", "His daughter waves.", ""),
        ("Rain falls.", "Rain falls.", ""),
    ],
)  # fmt: skip
def test_replacement_words_counted_by_hand(before: str, after: str, words: str) -> None:
    assert sorted(replacement_words(before, after)) == sorted(words.split())


def test_words_are_counted_by_captions_with_their_gender() -> None:
    pairs = [("Rachel sits.", "A woman sits.", 3), ("Ross and Amy hug.", "Two people hug.", 1)]
    found = summary([*pairs, ("Amy waves.", "A woman waves.", 1)], [("rules-4", 5)])
    assert [(word.word, word.gender, word.count) for word in found.words] == [
        *(("woman", "F", 4), ("people", "N", 1), ("two", "N", 1)),
    ]
    assert (found.replaced, found.replaced_per_caption, found.versions) == (6, 6 / 5, (("rules-4", 5),))
    assert summary([]).replaced_per_caption == 0


def test_the_genders_of_the_papers_table() -> None:
    """Table 3 of the paper, all twelve words."""
    genders = dict.fromkeys(["man", "guy"], "M") | dict.fromkeys(["woman", "her"], "F")
    neutral = ["person", "two", "people", "someone", "some", "doctor", "other", "they"]
    for word, gender in (genders | dict.fromkeys(neutral, "N")).items():
        assert gender_of(word) == gender, word
    assert [gender_of(word) for word in ("men", "women", "ladies", "girls", "his", "she")] == [*"MFFFMF"]


def test_a_word_that_comes_often_is_found_again_too() -> None:
    song = " la" * 200
    one, other = differences(f"Rachel{song}", f"A woman{song}")
    assert (one, other) == ((Piece("Rachel", True), Piece(song, False)), (Piece("A woman", True), Piece(song, False)))


def test_nothing_rewritten_is_no_division_by_nothing() -> None:
    assert summary([]) == type(summary([]))(0, 0, 0.0, 0.0, ())


def test_texts_of_up_to_300_words_are_compared_word_by_word() -> None:
    song = " la" * 299
    assert [piece.text for piece in differences(f"Ann{song}", f"She{song}")[1] if piece.changed] == ["She"]


def test_long_texts_are_not_compared_word_by_word() -> None:
    before = "Ann, " * 150
    one, other = differences(before, before + "and leaves.")
    assert [piece.changed for piece in one] == [True, False]
    assert [(piece.text, piece.changed) for piece in other] == [(before + "and leaves.", True)]
    assert not any(piece.changed for side in differences(before * 9, before * 9) for piece in side)


TEXTS = st.text(st.sampled_from("ab A'’s-. \n\t佩é"), max_size=40) | st.text(max_size=40)


@given(TEXTS, TEXTS)
def test_pieces_are_the_texts_and_what_is_not_marked_is_the_same_words(before: str, after: str) -> None:
    one, other = differences(before, after)
    assert ("".join(piece.text for piece in one), "".join(piece.text for piece in other)) == (before, after)
    assert unmarked(one) == unmarked(other)
    assert all(piece.text.strip() == piece.text for piece in (*one, *other) if piece.changed)


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert not any(piece.changed for side in differences(text, text) for piece in side)


def unmarked(pieces: tuple[Piece, ...]) -> str:
    return "".join("".join(piece.text for piece in pieces if not piece.changed).split())
