"""What is said to a model: nothing changes under the same name, and an answer is read whole or not at all."""

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from backend.language import prompt

WORDS = st.text(st.characters(categories=["L", "Zs", "P"]), max_size=20).map(lambda text: f"a{text}b")


def test_whoever_changes_the_prompt_gives_it_another_name() -> None:
    text = "\n".join(prompt.conversation(["A cat."]))
    assert (prompt.PROMPT_VERSION, sha256(text.encode()).hexdigest()[:16]) == ("prompt-1", "818abf4aca12e0a6")


def test_no_example_has_a_name_in_its_answer_and_all_else_of_it_stays() -> None:
    for asked, answered in prompt.EXAMPLES:
        capitals = {word.strip(".,") for word in answered.split()[1:] if word[0].isupper()}
        assert capitals == set(), asked


@given(st.lists(WORDS, min_size=1, max_size=12))
def test_lines_under_their_numbers_are_read_back(texts: list[str]) -> None:
    captions = [f"caption {number}" for number in range(len(texts))]
    assert prompt.read(prompt.numbered(texts), captions) == [" ".join(text.split()) for text in texts]


@given(st.lists(WORDS, min_size=2, max_size=12), st.data())
def test_an_answer_with_a_line_too_few_or_out_of_order_is_none(texts: list[str], data: st.DataObject) -> None:
    lines = prompt.numbered(texts).splitlines()
    left_out = data.draw(st.integers(0, len(lines) - 1))
    assert prompt.read("\n".join(lines[:left_out] + lines[left_out + 1 :]), texts) == []
    assert prompt.read("\n".join(reversed(lines)), texts) == []


def test_quotation_marks_around_all_of_an_answer_go_unless_the_caption_has_them() -> None:
    assert prompt.read('1. "A man waves."', ["Tom waves."]) == ["A man waves."]
    assert prompt.read('1. "Stop!"', ['"Stop!"']) == ['"Stop!"']
