"""Tell upper bounds from systems that compete.

An upper bound knows what no competing system can know, such as the captions of the moments. It is a line to compare
with: tables mark it, give it no place and never mark it as best.
"""

import re

from backend.core.messages import said

CAPTION = "caption"
"""The baseline that has seen the captions; its run is called so unless somebody renames it."""
_BESIDE = frozenset(("baseline", "run", "val", "test"))


def is_upper_bound(name: str) -> bool:
    """Return whether a run's name says that it is an upper bound: that of the caption baseline, or in words.

    >>> [is_upper_bound(name) for name in ("caption", "caption-val", "our upper bound", "caption transformer")]
    [True, True, True, False]
    """
    words = set(re.split(r"[\W_]+", name.casefold())) - {""}
    return words - _BESIDE == {CAPTION} or {"upper", "bound"} <= words


def run_label(name: str, *, upper_bound: bool) -> str:
    """Return a run's name as every table shows it.

    >>> run_label("XML", upper_bound=False), run_label("caption", upper_bound=True)
    ('XML', 'caption (upper bound)')
    """
    return said("{name} (upper bound)", name=name) if upper_bound else name
