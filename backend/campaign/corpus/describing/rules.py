"""Decide what may be done with a description, what is wrong with it, and how many descriptions a video needs.

A description is a moment that an annotator marked in a video, with a sentence.
"""

import re
from collections.abc import Collection, Sequence
from fractions import Fraction
from math import ceil, isfinite

from backend.campaign.corpus.captions.rules import Known, names_in, unknown_names
from backend.campaign.corpus.describing.model import LONGEST_SENTENCE, DescriptionAct, DescriptionStatus
from backend.core.ids import keyed_digest
from backend.core.messages import said, said_n
from backend.core.timespan import decimal_fraction

SAME_SPAN = Fraction(7, 10)
"""From this IoU on, two spans show the same, as where candidates are pooled."""
ALSO_TAKEN = said("Somebody else described these seconds too. Both are kept; the lead chooses.")

_S, _A = DescriptionStatus, DescriptionAct
_MAY = {
    _A.WRITTEN: frozenset({_S.WAITING, _S.RETURNED, _S.WITHDRAWN}),
    _A.WITHDRAWN: frozenset({_S.WAITING, _S.RETURNED, _S.WITHDRAWN}),
    _A.ACCEPTED: frozenset({_S.WAITING}),
    _A.RETURNED: frozenset({_S.WAITING}),
    _A.TAKEN_BACK: frozenset({_S.ACCEPTED, _S.RETURNED}),
}
_FEWEST_WORDS = 3
_PAST = frozenset({"was", "were", "had", "did", "went", "came", "took", "said", "saw"})
_NEXT_SENTENCE = re.compile(r"[.!?]['\"”’)]*\s+\S")


def is_allowed(act: DescriptionAct, status: DescriptionStatus) -> bool:
    """Return whether an action is allowed on a description with this status."""
    return status in _MAY[act]


def description_problem(start_s: float, end_s: float, sentence: str, duration_s: float) -> str | None:
    """Return what is wrong with a description of a video, addressed to its author; None if it is valid.

    >>> description_problem(4.0, 2.0, "A dog runs.", 9.0)
    'the end (2.00 s) is not after the start (4.00 s): mark both again'
    """
    if not (isfinite(start_s) and isfinite(end_s)) or start_s < 0:
        return said("start or end is not a time of this video: mark both again")
    if end_s <= start_s:
        return said(
            "the end ({end_s:.2f} s) is not after the start ({start_s:.2f} s): mark both again",
            end_s=end_s,
            start_s=start_s,
        )
    # Frame times are floats, so the last frame may end a rounding error after the video.
    if end_s > duration_s + 1e-6:
        return said(
            "the end ({end_s:.2f} s) is after the end of the video ({duration_s:.2f} s): mark it again",
            end_s=end_s,
            duration_s=duration_s,
        )
    if not sentence:
        return said("the sentence is empty: write what happens")
    if len(sentence) > LONGEST_SENTENCE:
        return said(
            "the sentence has {length} characters: use at most {longest}",
            length=len(sentence),
            longest=LONGEST_SENTENCE,
        )
    return None


def sentence_notes(sentence: str, cast: dict[str, str], known: Known) -> list[str]:
    """Return hints on how to improve a description's sentence, such as to replace names; they may be ignored.

    `cast` maps the names of characters to the phrases that replace them.

    >>> from backend.campaign.corpus.captions.rules import NOTHING_KNOWN
    >>> sentence_notes("Then Mona laughed. She was happy.", {}, NOTHING_KNOWN)  # doctest: +NORMALIZE_WHITESPACE
    ['"Mona" may be a name: say "a woman", "a man", "somebody".',
     'This is more than one sentence: one is enough.',
     '"was" tells of the past: write what happens now.']
    """
    notes: list[str] = []
    names = names_in(sentence, cast, unknown_names([sentence], cast, known), known)
    if names:
        listed = ", ".join(f'"{name}"' for name in names)
        notes.append(
            said_n(
                '{listed} may be a name: say "a woman", "a man", "somebody".',
                '{listed} may be names: say "a woman", "a man", "somebody".',
                len(names),
                listed=listed,
            )
        )
    if _NEXT_SENTENCE.search(sentence):
        notes.append(said("This is more than one sentence: one is enough."))
    words = re.findall(r"[^\W\d_]+", sentence)
    past = next((word for word in words if word.lower() in _PAST), None)
    if past is not None:
        notes.append(said('"{past}" tells of the past: write what happens now.', past=past))
    # In some scripts, words are not separated.
    if sentence.isascii() and 0 < len(words) < _FEWEST_WORDS:
        notes.append(said("This says very little: who does what?"))
    return notes


def same_span(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Return whether two spans (start, end) of a video count as the same: their IoU, computed exactly, is at least 0.7.

    >>> same_span((0.0, 10.0), (0.0, 7.0)), same_span((0.0, 10.0), (0.0, 6.9))
    (True, False)
    """
    (start, end), (other_start, other_end) = (tuple(map(decimal_fraction, span)) for span in (one, other))
    inter = min(end, other_end) - max(start, other_start)
    return inter >= SAME_SPAN * (max(end, other_end) - min(start, other_start))


def wanted_count(duration_s: float, per_video: int | None, per_minute: float | None) -> int | None:
    """Return how many descriptions a video should have, at least one; None if the lead set no number.

    >>> wanted_count(90.0, None, 2.0), wanted_count(3.0, None, 2.0)
    (3, 1)
    >>> wanted_count(90.0, 5, None), wanted_count(90.0, None, None)
    (5, None)
    """
    if per_minute is not None:
        return max(1, ceil(Fraction(repr(duration_s)) * Fraction(repr(per_minute)) / 60))
    return per_video


def video_order(
    videos: Sequence[tuple[str, int, bool]], returned: Collection[str], mine: Collection[str], me: int, secret: bytes
) -> list[str]:
    """Return the keys of videos in the order in which one annotator should describe them.

    Videos with returned descriptions come first, then those that the person has begun, then new ones. Videos that have
    enough descriptions come last. New videos with the fewest descriptions come before other new ones. Otherwise the
    order differs from person to person, so that people describe the same video only when they must.

    Args:
        videos: (key, number of descriptions by everybody, whether that number is enough) of each video.
        returned: keys of videos with a description of this person that a lead sent back.
        mine: keys of videos in which this person described anything.
        me: the person's id.
        secret: the campaign's secret, from which each person's own order is derived.
    """

    def place(video: tuple[str, int, bool]) -> tuple[int, int, str]:
        key, written, full = video
        rank = 0 if key in returned else 3 if full else 1 if key in mine else 2
        return rank, written if rank == 2 else 0, keyed_digest(secret, "describe", me, key)

    return [key for key, *_ in sorted(videos, key=place)]
