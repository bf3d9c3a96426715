"""What a language model is told, and how its answer is read.

Captions go out as numbered lines and come back under their numbers. An answer counts only as a whole: one that merges
two lines or leaves one out may have moved all that follow it to the wrong caption.
"""

import re
from collections.abc import Sequence

PROMPT_VERSION = "prompt-1"
"""Names the text below; whoever changes a word of it gives it another name."""

INSTRUCTION = """\
Each numbered line describes a short moment of a video. Rewrite every line so that somebody could have written it who \
watched the moment without sound and knows nobody in it.
1. A name of a person (first name, family name, nickname, with or without a title) becomes what can be seen: a man, a \
woman, a boy, a girl, a child. Where neither the name nor the line tells which, write a person.
2. Several people who do the same thing together become one group: two people, two men, three women, a group of people.
3. Who is spoken of again in the same line is the man, the woman, the person, he, she or they.
4. Everything else stays: what is done and in which order, things, colours, places, the tense.
5. Add nothing that the line does not say, and leave nothing out. One line stays one line.
6. A line that names nobody comes back word for word.
Answer with the same numbers, one rewritten line after each, and with nothing else."""

EXAMPLES = (
    ("Marta hands Dr. Okafor a blue folder and leaves.", "A woman hands a person a blue folder and leaves."),
    ("Tom and Ines are talking in the kitchen.", "Two people are talking in the kitchen."),
    ("Luca's phone rings while Luca is asleep on the couch.", "A man's phone rings while he is asleep on the couch."),
    ("A red car stops in front of the hospital.", "A red car stops in front of the hospital."),
    ("Aunt Ruth, Paul, Gia and Ben raise their glasses.", "A group of people raise their glasses."),
)

_LINE = re.compile(r"(\d{1,9})\s*[.):]\s*(\S.*)")
_QUOTES = {'"': '"', "“": "”", "'": "'"}


def numbered(lines: Sequence[str]) -> str:
    r"""Lines under their numbers, from 1; a line break inside a caption becomes a space.

    >>> numbered(["A cat.", "A dog."])
    '1. A cat.\n2. A dog.'
    """
    return "\n".join(f"{number}. {' '.join(line.split())}" for number, line in enumerate(lines, start=1))


def conversation(captions: Sequence[str]) -> tuple[str, str, str, str]:
    """What is said for some captions: the instruction, examples and their answer as if given before, the captions."""
    asked, answered = zip(*EXAMPLES, strict=True)
    return INSTRUCTION, numbered(asked), numbered(answered), numbered(captions)


def read(answer: str, captions: Sequence[str]) -> list[str]:
    r"""The rewrites in an answer, one a caption; none at all if the answer is not one line under each number.

    To a single caption a single line without its number is an answer too.

    >>> read("Here you are:\n1. A cat.\n\n2) A dog.", ["Tom.", "Rex."])
    ['A cat.', 'A dog.']
    >>> read("1. A cat and a dog.", ["Tom.", "Rex."])
    []
    >>> read('"A cat."', ["Tom."])
    ['A cat.']
    """
    lines = [line.strip() for line in answer.splitlines() if line.strip()]
    found = [match for line in lines if (match := _LINE.fullmatch(line))]
    if [int(match[1]) for match in found] == list(range(1, len(captions) + 1)):
        return [_unquoted(match[2], caption) for match, caption in zip(found, captions, strict=True)]
    if len(captions) == len(lines) == 1 and not found:
        return [_unquoted(lines[0], captions[0])]
    return []


def _unquoted(text: str, caption: str) -> str:
    """Without quotation marks around all of it, unless the caption has them there as well."""
    quoted = len(text) > 2 and _QUOTES.get(text[0]) == text[-1]
    return text[1:-1].strip() if quoted and not caption.strip().startswith(text[0]) else text
