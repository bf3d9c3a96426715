r"""Run a regular expression that a person typed, in a process that can be stopped.

Python's `re` holds the interpreter lock while it matches, and a pattern such as `(\w+)+!` takes exponential time. In
the server's process it would freeze the server. A separate process keeps the exact meaning of `re` and has limits.
"""

import json
import subprocess
import sys
from collections.abc import Sequence

from backend.core.errors import ProjectError

LONGEST = 500
"""The most characters of a pattern."""
CPU_S = 1
"""Seconds of processor time for all texts together: 10,000 names of videos take 0.01 s."""
WALL_S = 10.0
"""Limit in seconds on a busy machine, or where processor time cannot be limited (Windows)."""
MEMORY_BYTES = 1 << 29

_CHILD = f"""
import json, re, sys
try:
    import os, resource
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, ({CPU_S}, {CPU_S}))
    resource.setrlimit(resource.RLIMIT_AS, ({MEMORY_BYTES}, {MEMORY_BYTES}))
except (ImportError, OSError, ValueError):
    pass
pattern, texts = json.load(sys.stdin)
try:
    compiled = re.compile(pattern)
    group = 1 if compiled.groups else 0
    answer = [(match[group] or "") if (match := compiled.search(text)) else None for text in texts]
except (re.error, OverflowError, RecursionError) as error:
    answer = str(error)
json.dump(answer, sys.stdout)
"""


def first_groups(pattern: str, texts: Sequence[str]) -> list[str | None]:
    r"""Return what the pattern's first group matches in each text; None for a text without a match.

    If the pattern has no group, the whole match counts.

    Raises:
        ProjectError: the pattern is no regular expression, longer than `LONGEST`, or takes too much time or memory.

    >>> first_groups(r"(\w+)_s\d", ["castle_s01", "x"])
    ['castle', None]
    """
    if len(pattern) > LONGEST:
        raise ProjectError.said("This pattern is too long: write at most {longest} characters.", longest=LONGEST)
    request = json.dumps([pattern, list(texts)]).encode()
    command = [sys.executable, "-I", "-S", "-c", _CHILD]
    try:
        done = subprocess.run(command, input=request, capture_output=True, timeout=WALL_S, check=False)
        answer: str | list[str | None] | None = json.loads(done.stdout) if done.returncode == 0 else None
    except subprocess.TimeoutExpired:
        answer = None
    if answer is None:
        raise ProjectError.said(
            "This pattern takes too long: {pattern}. Write a simpler one, without a repeat inside a repeat such as "
            r"(\w+)+.",
            pattern=pattern,
        )
    if isinstance(answer, str):
        raise ProjectError.said(
            "This pattern is not a regular expression: {pattern} ({error}).", pattern=pattern, error=answer
        )
    return answer
