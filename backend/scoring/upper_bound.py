"""Tell upper bounds from competing systems.

An upper bound uses information that no competing system has, such as the captions of the moments. Tables show it for
comparison: they mark it, but never rank it or call it best.
"""

import re

from backend.core.messages import said

CAPTION = "caption"
"""The name of the baseline that knows the captions, and by default of its run."""
_BESIDE = frozenset(("baseline", "run", "val", "test"))


def is_upper_bound(name: str) -> bool:
    """Return whether a run's name marks it as an upper bound, a run that uses information that no competing system has.

    It does if it has the words "upper" and "bound", or if it is `caption`, perhaps with a word such as "run" or "val".

    >>> [is_upper_bound(name) for name in ("caption", "caption-val", "our upper bound", "caption transformer")]
    [True, True, True, False]
    """
    words = set(re.split(r"[\W_]+", name.casefold())) - {""}
    return words - _BESIDE == {CAPTION} or {"upper", "bound"} <= words


def run_label(name: str, *, upper_bound: bool) -> str:
    """Return a run's name as tables show it.

    >>> run_label("XML", upper_bound=False), run_label("caption", upper_bound=True)
    ('XML', 'caption (upper bound)')
    """
    return said("{name} (upper bound)", name=name) if upper_bound else name
