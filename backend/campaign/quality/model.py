"""How well people judge, as values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MyAgreement:
    """How one person's grades compare with the relevance of pairs that are settled for good. Never about one pair."""

    pairs: int
    equal: float
    """Share of grades that are the relevance."""
    tolerance: int
    """How far a grade may differ from another one in this campaign and still agree."""
    within: float
    """Share of grades that differ from the relevance by at most the tolerance."""
    difference: float
    """Mean of grade minus agreed value (the mean behind a consensus, a lead's relevance); above 0: more generous."""


@dataclass(frozen=True, slots=True)
class MyReply:
    """A lead's reply to a note of the person: nothing in it but their own grade and note, and the lead's words."""

    reply_id: int
    query: str
    grade: int
    note: str
    text: str
    at: float
    is_new: bool


@dataclass(frozen=True, slots=True)
class MyWork:
    """What an annotator may know of their own work. Judgements of earlier campaigns are left out."""

    today: int
    """Pairs graded for the first time since midnight."""
    week: int
    """The same, today and the six days before."""
    in_all: int
    simulated: int
    """How many of them a program made (demonstrations)."""
    days: tuple[tuple[str, int], ...]
    """(`2026-03-14`, pairs) of the last 30 local days, the oldest first."""
    active_s: float
    """Active time of all grades and corrections together."""
    median_s: float | None
    """Median active time of a grade that counts; None without any measured one."""
    grades: tuple[int, ...]
    """How often each grade of the scale was given, the lowest first."""
    skips: int
    settled: int
    """Pairs that `agreement` may speak of."""
    recent: int
    """Pairs that somebody graded so lately that they may take it back: nothing is told of them yet."""
    imported: int
    """Judgements of earlier campaigns."""
    agreement: MyAgreement | None
    """None while `settled` is too small to say anything."""
