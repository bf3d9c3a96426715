"""Build the messages that ask a language model for rewrites of captions, and read its answers.

There are two named prompts, and users may bring one in a file. An answer counts only as a whole: if it merges two lines
or omits one, all later lines may belong to the wrong captions.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from backend.core.errors import InputError
from backend.core.messages import said
from backend.core.reading import on_disk
from backend.core.text_files import decode_text

LONGEST_PROMPT = 20_000
"""The most bytes that a prompt's file may have. The prompt is sent, and paid for, with every request."""

_LINE = re.compile(r"(\d{1,9})\s*[.):]\s*(\S.*)")
_QUOTES = {'"': '"', "“": "”", "'": "'"}
_WORD = re.compile(r"\w+")
_COMMON = """
    a an the another other and are at by for from group guy girl boy he her him his in is it man men of on one people
    person s she some somebody someone that their them then they three to two while who with woman women"""
_COMMON_WORDS = frozenset(_COMMON.split())
"""Words that any rewrite may have, so that they do not tell to which caption it belongs."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a language model is told before the captions.

    Attributes:
        version: the name that provenance records; another text has another version.
        instruction: what to do.
        examples: captions and their rewrites, shown as an earlier exchange; may be empty.
        numbered: whether captions are sent, and expected back, under numbers. Otherwise one line is one caption.
    """

    version: str
    instruction: str = field(repr=False)
    examples: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    numbered: bool = True

    def conversation(self, captions: Sequence[str]) -> list[dict[str, str]]:
        """Return the messages of the chat protocol that ask for rewrites of some captions.

        They are the instruction, the example captions and the answer to them (if there are examples), and the captions.
        """
        messages = [{"role": "system", "content": self.instruction}]
        if self.examples:
            asked, answered = zip(*self.examples, strict=True)
            messages += [
                {"role": "user", "content": self._lines(asked)},
                {"role": "assistant", "content": self._lines(answered)},
            ]
        return [*messages, {"role": "user", "content": self._lines(captions)}]

    def read_answer(self, answer: str, captions: Sequence[str]) -> list[str]:
        """Return the rewrites in an answer, one for each caption; an empty list if it does not match the captions.

        See `read_numbered` and `read_lines`.
        """
        return (read_numbered if self.numbered else read_lines)(answer, captions)

    def _lines(self, texts: Sequence[str]) -> str:
        return numbered(texts) if self.numbered else "\n".join(" ".join(text.split()) for text in texts)


def numbered(lines: Sequence[str]) -> str:
    r"""Return lines with their numbers, from 1; a line break inside a caption becomes a space.

    >>> numbered(["A cat.", "A dog."])
    '1. A cat.\n2. A dog.'
    """
    return "\n".join(f"{number}. {' '.join(line.split())}" for number, line in enumerate(lines, start=1))


def read_numbered(answer: str, captions: Sequence[str]) -> list[str]:
    r"""Return the rewrites in an answer with numbers; an empty list if it does not match the captions.

    An answer has to have exactly one numbered line for each caption, in order. For a single caption, a single line
    without a number is accepted too. Lines without a number are ignored otherwise.

    >>> read_numbered("Here you are:\n1. A cat.\n\n2) A dog.", ["Tom.", "Rex."])
    ['A cat.', 'A dog.']
    >>> read_numbered("1. A cat and a dog.", ["Tom.", "Rex."])
    []
    >>> read_numbered('"A cat."', ["Tom."])
    ['A cat.']
    """
    lines = _filled_lines(answer)
    matches = [match for line in lines if (match := _LINE.fullmatch(line))]
    if [int(match[1]) for match in matches] == list(range(1, len(captions) + 1)):
        return [_unquoted(match[2], caption) for match, caption in zip(matches, captions, strict=True)]
    if len(captions) == len(lines) == 1 and not matches:
        return [_unquoted(lines[0], captions[0])]
    return []


def read_lines(answer: str, captions: Sequence[str]) -> list[str]:
    r"""Return the rewrites in an answer with one line for each caption; an empty list if it does not match them.

    The number of lines alone does not prove their order: a merged line and a line of greeting together give it too. So
    in an answer for several captions, each line also has to share a word with its caption, and with no other caption
    more. Articles, pronouns and words such as `person` do not count. A refused answer costs only further requests,
    because its captions are asked one by one.

    >>> read_lines("A woman sits.\nA man reads a book.", ["Ann sits.", "Bob reads a book."])
    ['A woman sits.', 'A man reads a book.']
    >>> read_lines("Here you are:\nA woman sits, and a man reads a book.", ["Ann sits.", "Bob reads a book."])
    []
    """
    lines = _filled_lines(answer)
    if len(lines) != len(captions):
        return []
    matches = [_LINE.fullmatch(line) for line in lines]
    if [match and int(match[1]) for match in matches] == list(range(1, len(captions) + 1)):
        lines = [match[2] for match in matches if match]
    rewrites = [_unquoted(line, caption) for line, caption in zip(lines, captions, strict=True)]
    return rewrites if len(captions) == 1 or _in_order(rewrites, captions) else []


def _in_order(rewrites: Sequence[str], captions: Sequence[str]) -> bool:
    caption_words = [_telling_words(caption) for caption in captions]
    for number, rewrite in enumerate(rewrites):
        words = _telling_words(rewrite)
        shared = [len(words & others) for others in caption_words]
        if shared[number] < max(1, *shared):
            return False
    return True


def _telling_words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)} - _COMMON_WORDS


def _filled_lines(answer: str) -> list[str]:
    return [line.strip() for line in answer.splitlines() if line.strip()]


def _unquoted(text: str, caption: str) -> str:
    """Remove quotation marks around the whole text, unless the caption has them too."""
    quoted = len(text) > 2 and _QUOTES.get(text[0]) == text[-1]
    return text[1:-1].strip() if quoted and not caption.strip().startswith(text[0]) else text


PROMPT_1 = Prompt(
    "prompt-1",
    """\
Each numbered line describes a short moment of a video. Rewrite every line so that somebody could have written it who \
watched the moment without sound and knows nobody in it.
1. A name of a person (first name, family name, nickname, with or without a title) becomes what can be seen: a man, a \
woman, a boy, a girl, a child. Where neither the name nor the line tells which, write a person.
2. Several people who do the same thing together become one group: two people, two men, three women, a group of people.
3. Who is spoken of again in the same line is the man, the woman, the person, he, she or they.
4. Everything else stays: what is done and in which order, things, colours, places, the tense.
5. Add nothing that the line does not say, and leave nothing out. One line stays one line.
6. A line that names nobody comes back word for word.
Answer with the same numbers, one rewritten line after each, and with nothing else.""",
    (
        ("Marta hands Dr. Okafor a blue folder and leaves.", "A woman hands a person a blue folder and leaves."),
        ("Tom and Ines are talking in the kitchen.", "Two people are talking in the kitchen."),
        (
            "Luca's phone rings while Luca is asleep on the couch.",
            "A man's phone rings while he is asleep on the couch.",
        ),
        ("A red car stops in front of the hospital.", "A red car stops in front of the hospital."),
        ("Aunt Ruth, Paul, Gia and Ben raise their glasses.", "A group of people raise their glasses."),
    ),
)
"""ReelRank's own prompt, for any corpus."""

TVR_RANKING = Prompt(
    "tvr-ranking",
    """\
The following lines are descriptions of moments, one a line, from six television series: Friends, The Big Bang Theory, \
How I Met Your Mother, House M.D., Grey's Anatomy and Castle. Take every character's name out of them. In its place, \
write personal words of the character's gender, as far as you can tell it from the name.
- The line means the same afterwards, and says nothing that it did not say before.
- Where you cannot tell the gender, write a person, someone or people.
- Give back only the rewritten lines, each on a line of its own, in the same order.""",
    (
        ("Monica pours coffee into Ross's cup.", "A woman pours coffee into a guy's cup."),
        (
            "Foreman refuse to talk to Cuddy until she sits down.",
            "A man refuses to talk to a woman until she sits down.",
        ),
        (
            "Lily runs to Ted, Barney, and Robin's booth with a letter in her hand.",
            "A woman runs to some people's booth with a letter in her hand.",
        ),
    ),
    numbered=False,
)
"""What TVR-Ranking (appendix A, Figure 3) asked of ChatGPT 3.5, in other words: the same series, instructions and kinds
of examples. It fits captions of these series only."""

DEFAULT_PROMPT = PROMPT_1
PROMPTS = {prompt.version: prompt for prompt in (PROMPT_1, TVR_RANKING)}
"""The named prompts by name. Whoever changes a word of one gives it another name."""


def prompt_of(name: str) -> Prompt:
    """Return the prompt with this name, or else the prompt in the text file at this path.

    A file has the instruction alone: write examples into it. Captions follow it in a message of their own, one a line,
    and the answer must have one line for each. The version of such a prompt is the file's name without its ending, and
    the first 12 digits of the SHA-256 of its content, such as `my-prompt@9f86d081884c`.

    Raises:
        InputError: there is neither; or the file is empty, longer than `LONGEST_PROMPT`, or not UTF-8 text.
    """
    if name in PROMPTS:
        return PROMPTS[name]
    path = on_disk(Path(name))
    try:
        with path.open("rb") as file:
            data = file.read(LONGEST_PROMPT + 1)
    except FileNotFoundError:
        known = ", ".join(PROMPTS)
        raise InputError.single(
            path,
            said("is neither a prompt nor a file: give the path of a text file, or one of {known}", known=known),
        ) from None
    except OSError as error:
        raise InputError.single(path, said("cannot be read: {strerror}", strerror=error.strerror)) from None
    if len(data) > LONGEST_PROMPT:
        raise InputError.single(
            path,
            said(
                "the prompt is longer than {longest:,} bytes, and every request would send it: shorten it",
                longest=LONGEST_PROMPT,
            ),
        )
    if not data.strip():
        raise InputError.single(path, said("the prompt is empty: write what the model should do with each line"))
    text = decode_text(data, str(path)).strip()
    return Prompt(f"{'-'.join(path.stem.split())}@{sha256(data).hexdigest()[:12]}", text, numbered=False)
