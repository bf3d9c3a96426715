"""What a language model is told before the captions, and which of its answers count."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.errors import InputError
from backend.language import prompts
from backend.language.prompts import LONGEST_PROMPT, PROMPT_1, PROMPTS, TVR_RANKING, prompt_of, read_lines

WORDS = st.text(st.characters(categories=["L", "Zs", "P"]), max_size=20).map(lambda text: f"a{text}b")


@pytest.mark.parametrize(("version", "digest"), [("prompt-1", "818abf4aca12e0a6"), ("tvr-ranking", "9bea28c46b2c68bb")])
def test_whoever_changes_a_prompt_gives_it_another_name(version: str, digest: str) -> None:
    text = "\n".join(message["content"] for message in PROMPTS[version].conversation(["A cat."]))
    assert (PROMPTS[version].version, sha256(text.encode()).hexdigest()[:16]) == (version, digest)


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
def test_no_example_has_a_name_in_its_answer(prompt: prompts.Prompt) -> None:
    for asked, answered in prompt.examples:
        capitals = {word.strip(".,") for word in answered.split()[1:] if word[0].isupper()}
        assert capitals == set(), asked


def test_the_prompt_of_the_paper_has_its_facts() -> None:
    """Figure 3 of the paper: six series, words of the gender, nothing added, the lines alone, and three examples."""
    for series in ("Friends", "The Big Bang Theory", "How I Met Your Mother", "House M.D.", "Grey's Anatomy", "Castle"):
        assert series in TVR_RANKING.instruction
    assert "gender" in TVR_RANKING.instruction
    assert len(TVR_RANKING.examples) == 3
    system, asked, answered, captions = TVR_RANKING.conversation(["Ross\nwaves.", "Amy sits."])
    assert [message["role"] for message in (system, asked, answered, captions)] == [
        *("system", "user", "assistant", "user"),
    ]
    assert captions["content"] == "Ross waves.\nAmy sits."
    assert len(asked["content"].splitlines()) == len(answered["content"].splitlines()) == 3
    assert TVR_RANKING.read_answer(answered["content"], asked["content"].splitlines()) == [
        answer for _, answer in TVR_RANKING.examples
    ]


@given(st.lists(WORDS, min_size=1, max_size=12))
def test_lines_under_their_numbers_are_read_back(texts: list[str]) -> None:
    captions = [f"caption {number}" for number in range(len(texts))]
    assert PROMPT_1.read_answer(prompts.numbered(texts), captions) == [" ".join(text.split()) for text in texts]


CAPTIONS = ["Ross opens a door.", "Amy reads a letter.", "Raj feeds the dog.", "Cuddy drinks coffee."]
REWRITES = ["A man opens a door.", "A woman reads a letter.", "A man feeds the dog.", "A woman drinks coffee."]


@pytest.mark.parametrize(
    "lines",
    [
        REWRITES,
        [f"{number}. {line}" for number, line in enumerate(REWRITES, 1)],
        [f'"{line}"' for line in REWRITES],
        ["", *REWRITES, "  "],
    ],
    ids=["lines", "numbers", "quotes", "blank lines"],
)
def test_an_answer_of_lines_is_read(lines: list[str]) -> None:
    assert read_lines("\n".join(lines), CAPTIONS) == REWRITES


MERGED = "A man opens a door and a woman reads a letter."


@pytest.mark.parametrize(
    "lines",
    [
        [],
        REWRITES[:3],
        [*REWRITES, "Done."],
        [MERGED, *REWRITES[2:]],
        # as many lines as captions, but two are merged
        ["Here are the lines:", MERGED, *REWRITES[2:]],
        [MERGED, *REWRITES[2:], "I hope that this helps."],
        [MERGED, REWRITES[2], "A woman drinks.", "There is coffee."],
        [MERGED, REWRITES[2], REWRITES[2], REWRITES[3]],
        [f"{number}. {line}" for number, line in enumerate([MERGED, *REWRITES[2:], "Done."], 1)],
        # all lines, in another order
        [REWRITES[1], REWRITES[0], *REWRITES[2:]],
        [*REWRITES[1:], REWRITES[0]],
    ],
)
def test_an_answer_of_lines_whose_order_is_not_sure_counts_for_nothing(lines: list[str]) -> None:
    assert read_lines("\n".join(lines), CAPTIONS) == []


def test_a_caption_alone_may_be_told_in_other_words() -> None:
    assert read_lines("Somebody unlocks an entrance.", CAPTIONS[:1]) == ["Somebody unlocks an entrance."]
    assert read_lines("Sure!\nSomebody unlocks an entrance.", CAPTIONS[:1]) == []


@pytest.mark.long
def test_no_merged_line_of_tvr_moves_another_one_and_no_good_answer_is_refused(shared: Path) -> None:
    """Names are cut out here without any rule: what is left of each caption stands for its rewrite."""
    lines = (shared / "data/tvr/tvr_val_release.jsonl").read_text("utf-8").splitlines()
    texts = [*dict.fromkeys(line["desc"].strip() for line in map(json.loads, lines) if line["type"] == "v")]
    rewrites = [" ".join(["Someone", *(word for word in text.split()[1:] if word.islower())]) for text in texts]
    refused = moved = 0
    for start in range(0, len(texts) - 10, 10):
        captions, good = texts[start : start + 10], rewrites[start : start + 10]
        refused += read_lines("\n".join(good), captions) != good
        place = start // 10 % 9
        merged = [*good[:place], f"{good[place]} and {good[place + 1]}", *good[place + 2 :]]
        moved += read_lines("\n".join(["Here are the lines:", *merged]), captions) != []
        moved += read_lines("\n".join([*merged, "Done."]), captions) != [] and place < 8
    assert (refused <= 8, moved) == (True, 0)  # of 805


def test_a_prompt_of_ones_own_is_named_by_its_file_and_content(tmp_path: Path) -> None:
    file = tmp_path / "my prompt.txt"
    file.write_bytes(b"\xef\xbb\xbfLeave out names.\n")
    prompt = prompt_of(str(file))
    assert prompt.version == f"my-prompt@{sha256(file.read_bytes()).hexdigest()[:12]}"
    assert prompt.conversation(["A cat.", "A dog."]) == [
        {"role": "system", "content": "Leave out names."},
        {"role": "user", "content": "A cat.\nA dog."},
    ]
    file.write_text("Leave out all names.")
    assert prompt_of(str(file)).version != prompt.version
    assert prompt_of("tvr-ranking") is TVR_RANKING


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the prompt is empty: write what the model should do"),
        (b" \n", "the prompt is empty"),
        (b"x" * (LONGEST_PROMPT + 1), "longer than 20,000 bytes, and every request would send it: shorten it"),
        (b"caf\xe9", "is not UTF-8"),
        (b"PK\x03\x04zip", "my.txt"),
        (b"a\0b", "my.txt"),
    ],
    ids=["empty", "blank", "long", "latin-1", "archive", "NUL"],
)
def test_a_file_that_is_no_prompt_is_refused_by_name(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "my.txt").write_bytes(content)
    with pytest.raises(InputError) as refusal:
        prompt_of(str(tmp_path / "my.txt"))
    assert said in str(refusal.value)


def test_a_prompt_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"tvr-rank: is neither a prompt nor a file: give .* prompt-1, tvr-ranking"):
        prompt_of("tvr-rank")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        prompt_of(str(tmp_path))
