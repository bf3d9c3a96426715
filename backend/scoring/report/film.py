"""The pictures in a report's case view: which moments get a strip of frames, each once, within a budget of bytes.

Reads: nothing; whoever asks for a report brings the pictures. Writes: nothing.
"""

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from backend.core.progress import Progress

Film = Callable[[str, float, float], bytes | None]
"""A strip of frames (WebP) of a video's moment, start and end in seconds; None where there is none."""

BUDGET = 5_000_000
"""Characters of all strips together, so that the page stays below 6 MB: most mail servers refuse 10."""

_MEANING = (
    "A picture is a frame of its moment. Point at a card, or move to its link, and six frames play, evenly spaced over "
    "the moment (unless your system asks for less motion)."
)


def add_strips(
    kinds: Sequence[Mapping[str, Any]],
    film: Film,
    *,
    budget: int = BUDGET,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Give every card of the cases that is not folded away the number of its strip; equal moments share one.

    First ranks come first in all cases, so that where the budget ends it is the deep ranks that go without.

    Returns:
        For the template: the `strips` in base64, and `words` about what is shown and what is missing.
    """
    strips: list[str] = []
    cards: dict[tuple[str, float, float], list[dict[str, Any]]] = {}
    for _, card in sorted(_cards(kinds), key=lambda placed: placed[0]):
        cards.setdefault(card["span"], []).append(card)
    unseen = without = used = 0
    for done, (span, same) in enumerate(cards.items()):
        if progress:
            progress("drawing pictures of moments", done, len(cards))
        if used >= budget:
            unseen = len(cards) - done
            break
        picture = film(*span)
        if picture is None:
            without += 1
            continue
        for card in same:
            card["strip"] = len(strips)
        strips.append(base64.b64encode(picture).decode())
        used += len(strips[-1])
    if progress:
        progress("drawing pictures of moments", len(cards), len(cards))
    words = [_MEANING] if strips else []
    if without:
        words.append(f"{without:,} of {len(cards):,} moments have no picture: no video of the project shows them.")
    if unseen:
        words.append(f"The pictures end at {budget / 1e6:g} MB; {unseen:,} moments further down have none.")
    return {"strips": strips, "words": " ".join(words)}


def _cards(kinds: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """What is open to view, each with its place in its lane."""
    for case in (case for kind in kinds for case in kind["cases"]):
        for lane in (case["moments"], *(run["first"] for run in case["runs"])):
            yield from enumerate(lane)
