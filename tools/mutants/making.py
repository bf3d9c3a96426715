"""Make the mutants of a module: one module that contains all of them, of which one at a time can be switched on."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_TEXT = re.compile(r'"[^"]*"')


@dataclass(frozen=True, slots=True)
class Mutant:
    """One small fault in a function.

    Attributes:
        name: the name of the function with the number of the mutant in it.
        old: the lines that change.
        new: what they become.
    """

    name: str
    old: str
    new: str


def mutate(path: str, code: str) -> tuple[str, list[Mutant]]:
    """Return the code of a module with all its mutants inside, as mutmut writes it, and the list of these mutants.

    Only code in functions is mutated.

    Args:
        path: The module's file, as a path from the repository's root.
        code: Its text.
    """
    from mutmut.mutation.file_mutation import mutate_file_contents

    made = mutate_file_contents(path, code)
    lines = made.code.splitlines()
    module = path.removesuffix(".py").replace("/", ".")

    def function(name: str) -> list[str]:
        span = made.line_span_by_function_name[name]
        return [line.strip().replace(name, "") for line in lines[span.start - 1 : span.end]]

    mutants = []
    for name in made.mutant_names:
        original = function(name.rpartition("__mutmut_")[0] + "__mutmut_orig")
        mutants.append(Mutant(f"{module}.{name}", *_changed(original, function(name))))
    return made.code, mutants


def _changed(before: list[str], after: list[str]) -> tuple[str, str]:
    """Return the lines that differ, before and after, each joined into one text."""
    turns = [turn for turn in SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if turn[0] != "equal"]
    old = " ".join(" ".join(before[low:high]) for _, low, high, _, _ in turns)
    new = " ".join(" ".join(after[low:high]) for _, _, _, low, high in turns)
    return old, new


def only_words(mutant: Mutant) -> bool:
    """Return whether a mutant changes only a text with a space in it, such as an error message.

    >>> only_words(Mutant("m.x_f__mutmut_1", 'raise ValueError("no grade")', 'raise ValueError("NO GRADE")'))
    True
    >>> only_words(Mutant("m.x_f__mutmut_2", 'return "val"', 'return "VAL"'))
    False
    """
    return _without_sentences(mutant.old) == _without_sentences(mutant.new)


def _without_sentences(line: str) -> str:
    return _TEXT.sub(lambda text: '""' if " " in text[0] else text[0], line)
