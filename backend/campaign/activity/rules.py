"""Pure: what each kind of event is about, and how it is told."""

from collections.abc import Callable, Mapping
from typing import Any

from backend.campaign.activity.model import ActivityGroup

Payload = Mapping[str, Any]
_LONGEST = 300
"""Characters of a text that somebody wrote; longer ones are cut."""


class _Values(dict[str, str]):
    """A payload as texts: numbers in thousands, nothing as a dash; older events lack what was added later."""

    def __init__(self, payload: Payload) -> None:
        super().__init__({name: _text(value) for name, value in payload.items()})

    def __missing__(self, name: str) -> str:
        return "–"


def told(kind: str, payload: Payload) -> str:
    """What was done, in words, after the name of who did it.

    >>> told("batch_opened", {"number": 2, "pairs": 20})
    'opened batch 2: 20 pairs'
    >>> told("adjudicated", {"relevance": 3, "reason": "seen at the end"})
    'decided: relevance 3 (“seen at the end”)'
    >>> told("from_another_version", {"a": 1})
    'from_another_version (a 1)'
    """
    if kind not in WORDS:
        values = ", ".join(f"{name} {_text(value)}" for name, value in payload.items())
        return f"{kind} ({values})" if values else kind
    words = WORDS[kind][1]
    said = words.format_map(_Values(payload)) if isinstance(words, str) else words(payload)
    reason = _text(payload.get("reason") or payload.get("why") or "").strip()
    return f"{said} (“{reason}”)" if reason and kind not in _OWN_REASON else said


def kinds_of(group: ActivityGroup) -> list[str]:
    """The kinds of event that belong to a group."""
    return [kind for kind, (of, _) in WORDS.items() if of is group]


def _text(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _switched(what: str, name: str = "on") -> Callable[[Payload], str]:
    return lambda payload: f"switched {what} {'on' if payload.get(name) else 'off'}"


def _suspended(payload: Payload) -> str:
    return "suspended" if payload.get("suspended", True) else "let work again"


def _rewritten(payload: Payload) -> str:
    if payload.get("text") is None:
        return f"rejected every rewrite of “{_text(payload.get('published'))}”"
    return f"decided that “{_text(payload.get('published'))}” reads “{_text(payload['text'])}”"


def _moments(payload: Payload) -> str:
    def spans(name: str) -> str:
        return ", ".join(f"{start:.2f}–{end:.2f} s" for start, end in payload.get(name) or ())

    went, came = spans("before"), spans("after")
    what = f"made {came} of {went}" if went and came else f"added {came}" if came else f"removed {went}"
    return f"{what} among the moments of {_text(payload.get('video'))}"


def _chosen(payload: Payload) -> str:
    # The encoder with its hashes is in the candidates' record; its name says which it is.
    values, encoder = _Values(payload), str(payload.get("encoder") or "").partition(" ")[0]
    by = " and ".join(filter(None, [encoder, _runs(payload)])) or "–"
    return f"chose {values['candidates']} candidates for {values['queries']} queries by {by}"


def _added(payload: Payload) -> str:
    values = _Values(payload)
    return f"added {values['candidates']} candidates by {_runs(payload)}; {values['pairs']} pairs were handed out"


def _runs(payload: Payload) -> str:
    """The runs that were pooled, if any, in words."""
    names = [_text(run.get("name")) for run in payload.get("pooled") or [] if isinstance(run, dict)]
    return f"pooling {', '.join(names)}" if names else ""


def _assigned(payload: Payload) -> str:
    parts = [
        f"the queries of {_text(payload['split'])}" if payload.get("split") else "",
        f"part {_text(payload.get('part'))} of {_text(payload['parts'])}" if payload.get("parts") else "",
        f"{_text(payload['queries'])} chosen queries" if payload.get("queries") else "",
        f"at most {_text(payload['a_day'])} grades a day" if payload.get("a_day") else "",
        f"at most {_text(payload['in_all'])} grades in all" if payload.get("in_all") else "",
    ]
    return f"assigned {', '.join(filter(None, parts)) or 'any work'}"


def _replaced(payload: Payload) -> str:
    return "made a new sign-in link" if payload.get("replaced") else "made a sign-in link"


_G = ActivityGroup
_OWN_REASON = frozenset({"captions_rewritten", "grade_refused", "description_refused"})
WORDS: Mapping[str, tuple[ActivityGroup, str | Callable[[Payload], str]]] = {
    "corpus_imported": (_G.MATERIAL, "imported {file}: {videos} videos, {moments} moments, {captions} captions"),
    "videos_registered": (_G.MATERIAL, "took videos from the folder {folder}: {videos} new"),
    "moments_proposed": (_G.MATERIAL, "proposed moments of {videos} videos by {by}: {moments} new, {gone} went"),
    "moments_changed": (_G.MATERIAL, _moments),
    "moments_taken": (_G.MATERIAL, "took moments of {videos} videos from {file}: {moments} new, {gone} went"),
    "videos_looked_at": (_G.MATERIAL, "looked at {videos} videos anew: {wrong} with something wrong"),
    "captions_rewritten": (_G.MATERIAL, "rewrote captions: {accepted} accepted, {waiting} wait for a person"),
    "rewrite_decided": (_G.MATERIAL, _rewritten),
    "rewrite_taken_back": (_G.MATERIAL, "took a decision on “{published}” back"),
    "queries_drawn": (_G.MATERIAL, "drew queries: {val} val, {test} test, {train} train (seed {seed})"),
    "queries_added": (_G.MATERIAL, "added queries from {file}: {val} val, {test} test, {train} train"),
    "queries_taken_back": (_G.MATERIAL, "took the queries back: {val} val, {test} test, {train} train"),
    "query_changed": (_G.MATERIAL, "changed the query “{before}” to “{text}” ({split})"),
    "queries_removed": (_G.MATERIAL, "removed {queries} queries: {texts}"),
    "candidates_chosen": (_G.MATERIAL, _chosen),
    "candidates_added": (_G.MATERIAL, _added),
    "pool_check_made": (_G.MATERIAL, "began a check of pools: {queries} queries, {pairs} pairs"),
    "judgements_imported": (_G.MATERIAL, "imported {rows} judgements of {pairs} pairs from {file}"),
    "describing_opened": (_G.MATERIAL, "opened describing: people {people}, videos {videos} (– for all)"),
    "describing_closed": (_G.MATERIAL, "closed describing"),
    "describing_reworded": (_G.TRAINING, "wrote version {version} of the guideline for describers"),
    "description_accepted": (_G.MATERIAL, "accepted “{sentence}” for {video}, {start_s}–{end_s} s"),
    "description_returned": (_G.MATERIAL, "sent a description back: “{words}”"),
    "description_taken_back": (_G.MATERIAL, "took back what was {what}"),
    "batch_opened": (_G.DECISIONS, "opened batch {number}: {pairs} pairs"),
    "batch_undone": (_G.DECISIONS, "took batch {number} back: {pairs} pairs"),
    "batch_declined": (_G.DECISIONS, "declined batch {number}"),
    "batch_decline_ended": (_G.DECISIONS, "let batch {number} be decided about again"),
    "batch_rule_changed": (
        _G.DECISIONS,
        "changed the rule about next batches: of the last {last}, a mean of {mean}, or {finds} graded {grade} or more",
    ),
    "adjudicated": (_G.DECISIONS, "decided: relevance {relevance}"),
    "discard_confirmed": (_G.DECISIONS, "confirmed the discard"),
    "re_opened": (_G.DECISIONS, "re-opened the pair for two more people"),
    "taken_back": (_G.DECISIONS, "took a decision back ({what})"),
    "offered_again": (_G.DECISIONS, "offered the pair again to {people} who had skipped it"),
    "clip_restored": (_G.DECISIONS, "let the clip be handed out again"),
    "note_answered": (_G.DECISIONS, "replied to a note"),
    "example_chosen": (_G.TRAINING, "chose the example of {grade}: “{note}”"),
    "example_withdrawn": (_G.TRAINING, "withdrew the example of {grade}"),
    "guideline_changed": (_G.TRAINING, "wrote version {version} of the guideline ({changed})"),
    "tutorial_switched": (_G.TRAINING, _switched("the tutorial")),
    "practice_chosen": (_G.TRAINING, "chose a practice pair for grade {grade}"),
    "practice_withdrawn": (_G.TRAINING, "withdrew a practice pair of grade {grade}"),
    "exam_set": (_G.TRAINING, "set an exam of {items} pairs; at most {most_missed} % may be missed"),
    "exam_ended": (_G.TRAINING, "ended the exam"),
    "exam_closed": (_G.TRAINING, "closed the round; {finished} people had finished"),
    "exam_used": (_G.TRAINING, "let {judgements} first answers about {pairs} pairs count as judgements"),
    "exam_explained": (_G.TRAINING, "explained an item: “{explanation}”"),
    "exam_started": (_G.TRAINING, "began the exam, attempt {number}"),
    "exam_handed_in": (_G.TRAINING, "handed in the exam, attempt {number}: {answers} answers"),
    "exam_retake": (_G.TRAINING, "let somebody try the exam again"),
    "exam_exempted": (_G.TRAINING, "exempted somebody from the exam"),
    "gold_set": (_G.TRAINING, "set gold: {pairs} pairs, a share of {share}"),
    "gold_ended": (_G.TRAINING, "ended gold"),
    "gold_warned": (_G.TRAINING, "warned by gold: {within} of {answers} answers were right"),
    "gold_paused": (_G.TRAINING, "paused by gold: {within} of {answers} answers were right"),
    "person_added": (_G.PEOPLE, "added {name} as {role}"),
    "person_suspended": (_G.PEOPLE, _suspended),
    "person_paused": (_G.PEOPLE, "paused"),
    "person_unpaused": (_G.PEOPLE, "let go on"),
    "assigned": (_G.PEOPLE, _assigned),
    "unassigned": (_G.PEOPLE, "assigned nothing in particular any more"),
    "identity_bound": (_G.PEOPLE, "bound the account to {issuer}"),
    "password_set": (_G.PEOPLE, "set a password"),
    "invited": (_G.PEOPLE, _replaced),
    "signed_out_everywhere": (_G.PEOPLE, "signed out everywhere: {sessions} sessions"),
    "released": (_G.RESULTS, "froze a release {name}"),
    "terms_set": (_G.RESULTS, "set the licence {licence} and the citation"),
    "truth_added": (_G.RESULTS, "kept the ground truth {name}: {queries} queries"),
    "truth_removed": (_G.RESULTS, "removed the ground truth {name}"),
    "run_added": (_G.RESULTS, "kept the run {name}: {queries} queries"),
    "run_removed": (_G.RESULTS, "removed the run {name}"),
    "restored": (_G.RESULTS, "put the database back from {file}; the state before is kept as {kept}"),
    "escalated": (_G.DESK, "escalated: {grades} do not agree"),
    "de_escalated": (_G.DESK, "no longer escalated: {grades} agree"),
    "grade_refused": (_G.DESK, "gave {grade}, which was not taken: {why}"),
    "description_refused": (_G.DESK, "described “{sentence}”, which was not taken: {why}"),
    "skipped": (_G.DESK, "skipped ({kind})"),
    "clip_reported": (_G.DESK, "reported a clip that cannot be shown"),
    "seats_claimed": (_G.DESK, lambda payload: f"took pairs in hand: {len(payload.get('pairs') or ())}"),
    "seats_returned": (_G.DESK, lambda payload: f"gave pairs back: {_returned(payload)}"),
}


def _returned(payload: Payload) -> str:
    pairs = payload.get("pairs")
    return _text(len(pairs) if isinstance(pairs, list) else pairs)
