"""From a module to the same module with all its mutants inside, one of which can be switched on."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_TEXT = re.compile(r'"[^"]*"')


@dataclass(frozen=True, slots=True)
class Mutant:
    """One small fault, by the function that it is in and its number there; `old` and `new` are what changes."""

    name: str
    old: str
    new: str


def mutate(path: str, code: str) -> tuple[str, list[Mutant]]:
    """The module with its mutants, as mutmut writes it, and these; only code in functions is mutated.

    Args:
        path: The module, as a path from the root.
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
    """The lines that differ, without those around them."""
    turns = [turn for turn in SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if turn[0] != "equal"]
    old = " ".join(" ".join(before[low:high]) for _, low, high, _, _ in turns)
    new = " ".join(" ".join(after[low:high]) for _, _, _, low, high in turns)
    return old, new


def only_words(mutant: Mutant) -> bool:
    """Whether nothing but a sentence changes: a text with a blank in it, such as what an error says.

    >>> only_words(Mutant("m.x_f__mutmut_1", 'raise ValueError("no grade")', 'raise ValueError("NO GRADE")'))
    True
    >>> only_words(Mutant("m.x_f__mutmut_2", 'return "val"', 'return "VAL"'))
    False
    """
    return _without_sentences(mutant.old) == _without_sentences(mutant.new)


def _without_sentences(line: str) -> str:
    return _TEXT.sub(lambda text: '""' if " " in text[0] else text[0], line)
