"""Describe each kind of event in words. Pure."""

from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any

from backend.campaign.monitoring.activity.model import ActivityGroup
from backend.core.messages import joined, said

Payload = Mapping[str, Any]
_LONGEST = 300
"""Characters of a text that somebody wrote; longer ones are cut."""


def told(kind: str, payload: Payload) -> str:
    """Return what was done, in words that follow the name of who did it.

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
    what = _filled(words, payload) if isinstance(words, str) else words(payload)
    reason = _text(payload.get("reason") or payload.get("why") or "").strip()
    return said("{what} (“{reason}”)", what=what, reason=reason) if reason and kind not in _OWN_REASON else what


def graded(grade: int, *, corrected: bool, simulated: bool, imported: bool) -> str:
    """Return what somebody did with a grade, in words.

    >>> graded(3, corrected=False, simulated=True, imported=False)
    'graded 3 (simulated)'
    """
    what = said("corrected the grade to {grade}", grade=grade) if corrected else said("graded {grade}", grade=grade)
    what = said("{what} (simulated)", what=what) if simulated else what
    return said("{what} (imported)", what=what) if imported else what


def kinds_of(group: ActivityGroup) -> list[str]:
    """Return the kinds of event that belong to a group."""
    return [kind for kind, (of, _) in WORDS.items() if of is group]


def _filled(words: str, payload: Payload) -> str:
    """The words with what the payload has of their values; older events lack what was added later."""
    names = [name for _, name, _, _ in Formatter().parse(words) if name]
    values = {name: _text(payload.get(name)) for name in names}
    return said(words, **{name: _CODES.get(one, one) if name in _CODED else one for name, one in values.items()})


def _text(value: object) -> str:
    """A value of a payload: numbers in thousands, nothing as a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return _YES if value else _NO
    if isinstance(value, int):
        return said("{number:,}", number=value)
    if isinstance(value, float):
        return said("{number:g}", number=value)
    if isinstance(value, list):
        return joined(", ", map(_text, value))
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _switched(payload: Payload) -> str:
    return said("switched the tutorial on") if payload.get("on") else said("switched the tutorial off")


def _suspended(payload: Payload) -> str:
    return said("suspended") if payload.get("suspended", True) else said("let work again")


def _rewritten(payload: Payload) -> str:
    published = _text(payload.get("published"))
    if payload.get("text") is None:
        return said("rejected every rewrite of “{published}”", published=published)
    return said("decided that “{published}” reads “{text}”", published=published, text=_text(payload["text"]))


def _moments(payload: Payload) -> str:
    def spans(name: str) -> str:
        return ", ".join(f"{start:.2f}–{end:.2f} s" for start, end in payload.get(name) or ())

    went, came, video = spans("before"), spans("after"), _text(payload.get("video"))
    if went and came:
        return said("made {came} of {went} among the moments of {video}", came=came, went=went, video=video)
    if came:
        return said("added {came} among the moments of {video}", came=came, video=video)
    return said("removed {went} among the moments of {video}", went=went, video=video)


def _chosen(payload: Payload) -> str:
    # The encoder with its hashes is in the candidates' record; its name says which it is.
    encoder, runs = str(payload.get("encoder") or "").partition(" ")[0], _runs(payload)
    by = said("{encoder} and {runs}", encoder=encoder, runs=runs) if encoder and runs else encoder or runs or "–"
    return said(
        "chose {candidates} candidates for {queries} queries by {by}",
        candidates=_text(payload.get("candidates")),
        queries=_text(payload.get("queries")),
        by=by,
    )


def _added(payload: Payload) -> str:
    return said(
        "added {candidates} candidates by {runs}; {pairs} pairs were handed out",
        candidates=_text(payload.get("candidates")),
        runs=_runs(payload),
        pairs=_text(payload.get("pairs")),
    )


def _runs(payload: Payload) -> str:
    """The runs that were pooled, if any, in words."""
    names = [_text(run.get("name")) for run in payload.get("pooled") or [] if isinstance(run, dict)]
    return said("pooling {runs}", runs=", ".join(names)) if names else ""


def _assigned(payload: Payload) -> str:
    parts = [
        said("the queries of {split}", split=_text(payload["split"])) if payload.get("split") else "",
        said("part {part} of {parts}", part=_text(payload.get("part")), parts=_text(payload["parts"]))
        if payload.get("parts")
        else "",
        said("{queries} chosen queries", queries=_text(payload["queries"])) if payload.get("queries") else "",
        said("at most {grades} grades a day", grades=_text(payload["a_day"])) if payload.get("a_day") else "",
        said("at most {grades} grades in all", grades=_text(payload["in_all"])) if payload.get("in_all") else "",
    ]
    work = joined(", ", filter(None, parts)) or said("any work")
    return said("assigned {work}", work=work)


def _replaced(payload: Payload) -> str:
    return said("made a new sign-in link") if payload.get("replaced") else said("made a sign-in link")


_YES, _NO = said("yes"), said("no")
_CODED = frozenset({"by", "kind", "role", "what"})
"""Values that are words of the program, where those of other names are of people."""
_CODES: Mapping[str, str] = {
    code: code
    for code in (
        *(said("annotator"), said("lead"), said("shots"), said("windows")),
        *(said("skip"), said("cannot_judge"), said("broken_clip")),
        *(said("decided"), said("discard_confirmed"), said("re_opened"), said("accepted"), said("returned")),
    )
}
_G = ActivityGroup
_OWN_REASON = frozenset({"captions_rewritten", "grade_refused", "description_refused"})
WORDS: Mapping[str, tuple[ActivityGroup, str | Callable[[Payload], str]]] = {
    "corpus_imported": (_G.MATERIAL, said("imported {file}: {videos} videos, {moments} moments, {captions} captions")),
    "videos_registered": (_G.MATERIAL, said("took videos from the folder {folder}: {videos} new")),
    "moments_proposed": (_G.MATERIAL, said("proposed moments of {videos} videos by {by}: {moments} new, {gone} went")),
    "moments_changed": (_G.MATERIAL, _moments),
    "moments_taken": (_G.MATERIAL, said("took moments of {videos} videos from {file}: {moments} new, {gone} went")),
    "videos_looked_at": (_G.MATERIAL, said("looked at {videos} videos anew: {wrong} with something wrong")),
    "captions_rewritten": (_G.MATERIAL, said("rewrote captions: {accepted} accepted, {waiting} wait for a person")),
    "rewrite_decided": (_G.MATERIAL, _rewritten),
    "rewrite_taken_back": (_G.MATERIAL, said("took a decision on “{published}” back")),
    "queries_drawn": (_G.MATERIAL, said("drew queries: {val} val, {test} test, {train} train (seed {seed})")),
    "queries_added": (_G.MATERIAL, said("added queries from {file}: {val} val, {test} test, {train} train")),
    "queries_taken_back": (_G.MATERIAL, said("took the queries back: {val} val, {test} test, {train} train")),
    "query_changed": (_G.MATERIAL, said("changed the query “{before}” to “{text}” ({split})")),
    "queries_removed": (_G.MATERIAL, said("removed {queries} queries: {texts}")),
    "candidates_chosen": (_G.MATERIAL, _chosen),
    "candidates_added": (_G.MATERIAL, _added),
    "pool_check_made": (_G.MATERIAL, said("began a check of pools: {queries} queries, {pairs} pairs")),
    "judgements_imported": (_G.MATERIAL, said("imported {rows} judgements of {pairs} pairs from {file}")),
    "describing_opened": (_G.MATERIAL, said("opened describing: people {people}, videos {videos} (– for all)")),
    "describing_closed": (_G.MATERIAL, said("closed describing")),
    "describing_reworded": (_G.TRAINING, said("wrote version {version} of the guideline for describers")),
    "description_accepted": (_G.MATERIAL, said("accepted “{sentence}” for {video}, {start_s}–{end_s} s")),
    "description_returned": (_G.MATERIAL, said("sent a description back: “{words}”")),
    "description_taken_back": (_G.MATERIAL, said("took back what was {what}")),
    "batch_opened": (_G.DECISIONS, said("opened batch {number}: {pairs} pairs")),
    "batch_undone": (_G.DECISIONS, said("took batch {number} back: {pairs} pairs")),
    "batch_declined": (_G.DECISIONS, said("declined batch {number}")),
    "batch_decline_ended": (_G.DECISIONS, said("let batch {number} be decided about again")),
    "batch_rule_changed": (
        _G.DECISIONS,
        said(
            "changed the rule about next batches: of the last {last}, a mean of {mean}, or {finds} graded {grade} "
            "or more"
        ),
    ),
    "adjudicated": (_G.DECISIONS, said("decided: relevance {relevance}")),
    "discard_confirmed": (_G.DECISIONS, said("confirmed the discard")),
    "re_opened": (_G.DECISIONS, said("re-opened the pair for two more people")),
    "taken_back": (_G.DECISIONS, said("took a decision back ({what})")),
    "offered_again": (_G.DECISIONS, said("offered the pair again to {people} who had skipped it")),
    "skips_lifted": (_G.DECISIONS, said("undid {skips} skips and reports, and showed {clips} clips again")),
    "clip_restored": (_G.DECISIONS, said("let the clip be handed out again")),
    "note_answered": (_G.DECISIONS, said("replied to a note")),
    "example_chosen": (_G.TRAINING, said("chose the example of {grade}: “{note}”")),
    "example_withdrawn": (_G.TRAINING, said("withdrew the example of {grade}")),
    "guideline_changed": (_G.TRAINING, said("wrote version {version} of the guideline ({changed})")),
    "tutorial_switched": (_G.TRAINING, _switched),
    "practice_chosen": (_G.TRAINING, said("chose a practice pair for grade {grade}")),
    "practice_withdrawn": (_G.TRAINING, said("withdrew a practice pair of grade {grade}")),
    "exam_set": (_G.TRAINING, said("set an exam of {items} pairs; at most {most_missed} % may be missed")),
    "exam_ended": (_G.TRAINING, said("ended the exam")),
    "exam_closed": (_G.TRAINING, said("closed the round; {finished} people had finished")),
    "exam_used": (_G.TRAINING, said("let {judgements} first answers about {pairs} pairs count as judgements")),
    "exam_explained": (_G.TRAINING, said("explained an item: “{explanation}”")),
    "exam_started": (_G.TRAINING, said("began the exam, attempt {number}")),
    "exam_handed_in": (_G.TRAINING, said("handed in the exam, attempt {number}: {answers} answers")),
    "exam_retake": (_G.TRAINING, said("let somebody try the exam again")),
    "exam_exempted": (_G.TRAINING, said("exempted somebody from the exam")),
    "gold_set": (_G.TRAINING, said("set gold: {pairs} pairs, a share of {share}")),
    "gold_ended": (_G.TRAINING, said("ended gold")),
    "gold_warned": (_G.TRAINING, said("warned by gold: {within} of {answers} answers were right")),
    "gold_paused": (_G.TRAINING, said("paused by gold: {within} of {answers} answers were right")),
    "person_added": (_G.PEOPLE, said("added {name} as {role}")),
    "person_suspended": (_G.PEOPLE, _suspended),
    "person_paused": (_G.PEOPLE, said("paused")),
    "person_unpaused": (_G.PEOPLE, said("let go on")),
    "assigned": (_G.PEOPLE, _assigned),
    "unassigned": (_G.PEOPLE, said("assigned nothing in particular any more")),
    "identity_bound": (_G.PEOPLE, said("bound the account to {issuer}")),
    "password_set": (_G.PEOPLE, said("set a password")),
    "invited": (_G.PEOPLE, _replaced),
    "signed_out_everywhere": (_G.PEOPLE, said("signed out everywhere: {sessions} sessions")),
    "released": (_G.RESULTS, said("froze a release {name}")),
    "terms_set": (_G.RESULTS, said("set the licence {licence} and the citation")),
    "truth_added": (_G.RESULTS, said("kept the ground truth {name}: {queries} queries")),
    "truth_removed": (_G.RESULTS, said("removed the ground truth {name}")),
    "run_added": (_G.RESULTS, said("kept the run {name}: {queries} queries")),
    "run_removed": (_G.RESULTS, said("removed the run {name}")),
    "restored": (_G.RESULTS, said("put the database back from {file}; the state before is kept as {kept}")),
    "escalated": (_G.DESK, said("escalated: {grades} do not agree")),
    "de_escalated": (_G.DESK, said("no longer escalated: {grades} agree")),
    "grade_refused": (_G.DESK, said("gave {grade}, which was not taken: {why}")),
    "description_refused": (_G.DESK, said("described “{sentence}”, which was not taken: {why}")),
    "skipped": (_G.DESK, said("skipped ({kind})")),
    "clip_reported": (_G.DESK, said("reported a clip that cannot be shown")),
    "seats_claimed": (
        _G.DESK,
        lambda payload: said("took pairs in hand: {pairs}", pairs=len(payload.get("pairs") or ())),
    ),
    "seats_returned": (_G.DESK, lambda payload: said("gave pairs back: {pairs}", pairs=_returned(payload))),
}


def _returned(payload: Payload) -> str:
    pairs = payload.get("pairs")
    return _text(len(pairs) if isinstance(pairs, list) else pairs)
