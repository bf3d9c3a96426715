"""The event log: who did what, when, and why, for everything that matters later. Append-only."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

import msgspec

from backend.core.ids import AnnotatorId
from backend.core.messages import as_text
from backend.core.typed_text import has_nul_escape
from backend.store.engine import Database, checked


class EventKind(StrEnum):
    """Every kind of event, with what its payload holds."""

    CORPUS_IMPORTED = "corpus_imported"
    """file, format, videos, moments, captions"""
    VIDEOS_REGISTERED = "videos_registered"
    """folder, videos: how many are new, not_taken: files"""
    MOMENTS_PROPOSED = "moments_proposed"
    """by (shots, windows), videos, moments: how many are new, gone: proposed before and used by nothing"""
    MOMENTS_CHANGED = "moments_changed"
    """video, before, after: starts and ends (s) of the moments that went and came"""
    MOMENTS_TAKEN = "moments_taken"
    """file, videos, moments: how many are new, gone"""
    VIDEOS_LOOKED_AT = "videos_looked_at"
    """videos, wrong: how many have something wrong, moved: how many, accepted: names of those with a new content"""
    CAPTIONS_REWRITTEN = "captions_rewritten"
    """rule_version, accepted, waiting, after_retry, by_hand, requests, tokens_in, tokens_out, encoder, tagger"""
    REWRITE_DECIDED = "rewrite_decided"
    """published, text: null if it was rejected, captions: how many had the published text"""
    REWRITE_TAKEN_BACK = "rewrite_taken_back"
    """published, text, captions, as it was decided"""
    QUERIES_DRAWN = "queries_drawn"
    """seed, val, test, train, removed, merged, repeats (keep, merge), spread_over (video, show), show_of"""
    QUERIES_ADDED = "queries_added"
    """file, val, test, train: a person's own"""
    QUERIES_TAKEN_BACK = "queries_taken_back"
    """val, test, train, candidates, pairs: what went"""
    QUERY_CHANGED = "query_changed"
    """before, text, split: of a query without candidates"""
    QUERIES_REMOVED = "queries_removed"
    """queries: how many, texts: of queries without candidates"""
    CANDIDATES_CHOSEN = "candidates_chosen"
    """encoder (null without captions), queries, candidates; with probes also probed, probe_pairs, seed; with runs also
    pooled (name, sha256 and depth of each), iou, moments: how many are new"""
    CANDIDATES_ADDED = "candidates_added"
    """pooled, iou, moments, queries, candidates, pairs: what later runs found beside the lists"""
    POOL_CHECK_MADE = "pool_check_made"
    """sha256 of the file of pools, seed, queries, pairs"""
    BATCH_OPENED = "batch_opened"
    """number, pairs, rule: its version, says: what it said, reason if a lead gave one"""
    BATCH_UNDONE = "batch_undone"
    """number, pairs, reason: as if it had never been opened"""
    BATCH_DECLINED = "batch_declined"
    """number, rule, says, reason"""
    BATCH_DECLINE_ENDED = "batch_decline_ended"
    """number, reason: a declined batch is to be decided about again"""
    BATCH_RULE_CHANGED = "batch_rule_changed"
    """version, last, mean, finds, grade, reason"""
    SEATS_CLAIMED = "seats_claimed"
    """pairs, in the order in which they are shown"""
    SEATS_RETURNED = "seats_returned"
    """pairs, why"""
    ESCALATED = "escalated"
    """grades that do not agree"""
    DE_ESCALATED = "de_escalated"
    """grades after a correction, before anybody else had sat down"""
    GRADE_REFUSED = "grade_refused"
    """grade, event_key, why, note if there is one: kept here so that nothing a person typed is lost"""
    SKIPPED = "skipped"
    """kind, reason"""
    OFFERED_AGAIN = "offered_again"
    """people: how many had skipped the pair"""
    SKIPS_LIFTED = "skips_lifted"
    """skips: how many of this person's, reports_only: of broken clips alone, clips: how many are handed out again"""
    JUDGEMENTS_IMPORTED = "judgements_imported"
    """file, sha256, pairs_file, rows, pairs, people, sent_on: pairs that were given two further seats"""
    NOTE_ANSWERED = "note_answered"
    """judgement: the one whose note a lead replied to"""
    CLIP_REPORTED = "clip_reported"
    """reason"""
    CLIP_RESTORED = "clip_restored"
    """(empty): a lead hands the moment out again"""
    ADJUDICATED = "adjudicated"
    """relevance, reason"""
    DISCARD_CONFIRMED = "discard_confirmed"
    """reason, which may be empty"""
    RE_OPENED = "re_opened"
    """reason: two more people grade the pair"""
    TAKEN_BACK = "taken_back"
    """what (decided, discard_confirmed, re_opened) and its reason, why"""
    EXAMPLE_CHOSEN = "example_chosen"
    """grade, note, replaced: the pair that was shown before"""
    EXAMPLE_WITHDRAWN = "example_withdrawn"
    """grade"""
    GUIDELINE_CHANGED = "guideline_changed"
    """version, reason, changed: what of it has other words"""
    TUTORIAL_SWITCHED = "tutorial_switched"
    """on: whether newcomers are shown the tutorial"""
    PRACTICE_CHOSEN = "practice_chosen"
    """query, moment, grade, explanation"""
    PRACTICE_WITHDRAWN = "practice_withdrawn"
    """query, moment, grade"""
    EXAM_SET = "exam_set"
    """source, seed, items, queries, most_missed, exempted: how many people who had graded before; key: where from"""
    EXAM_ENDED = "exam_ended"
    """replaced: whether another exam took its place"""
    EXAM_CLOSED = "exam_closed"
    """key (median, own), finished: how many people, items that have a key"""
    EXAM_USED = "exam_used"
    """pairs, judgements: first answers that count as judgements from now on"""
    EXAM_EXPLAINED = "exam_explained"
    """pair, explanation"""
    EXAM_STARTED = "exam_started"
    """exam, number: the person's how manyeth attempt"""
    EXAM_HANDED_IN = "exam_handed_in"
    """exam, number, answers; where the exam has its key also missed, passed"""
    EXAM_RETAKE = "exam_retake"
    """after_attempt: a lead lets somebody try again"""
    EXAM_EXEMPTED = "exam_exempted"
    """reason: why somebody needs no exam"""
    GOLD_SET = "gold_set"
    """source, pairs, share, window, fewest, warn, pause"""
    GOLD_ENDED = "gold_ended"
    """(empty)"""
    GOLD_WARNED = "gold_warned"
    """answers, within: the person is told at the next pairs"""
    GOLD_PAUSED = "gold_paused"
    """answers, within"""
    PERSON_ADDED = "person_added"
    """name, role"""
    PERSON_SUSPENDED = "person_suspended"
    """suspended"""
    PERSON_PAUSED = "person_paused"
    """reason; no actor where the program paused somebody by a rule"""
    PERSON_UNPAUSED = "person_unpaused"
    """(empty): a lead lets somebody go on"""
    ASSIGNED = "assigned"
    """split, part, parts, queries: how many chosen by name, a_day, in_all; what is null is not said"""
    UNASSIGNED = "unassigned"
    """(empty): somebody grades whatever there is again"""
    IDENTITY_BOUND = "identity_bound"
    """issuer"""
    PASSWORD_SET = "password_set"
    """(empty)"""
    INVITED = "invited"
    """replaced: how many older links became void; a lead made a new one for somebody who is here already"""
    SIGNED_OUT_EVERYWHERE = "signed_out_everywhere"
    """sessions: how many ended"""
    DESCRIBING_OPENED = "describing_opened"
    """people, videos: how many, null for all; per_video, per_minute: how many descriptions, null for any"""
    DESCRIBING_CLOSED = "describing_closed"
    """(empty): nobody may describe"""
    DESCRIPTION_REFUSED = "description_refused"
    """event_key, why, kind, video, start_s, end_s, sentence: kept here so that nothing a person typed is lost"""
    DESCRIPTION_ACCEPTED = "description_accepted"
    """video, start_s, end_s, sentence: what became a caption; author; edited: whether the lead changed the words"""
    DESCRIPTION_RETURNED = "description_returned"
    """words: what the lead wrote to the author; author"""
    DESCRIPTION_TAKEN_BACK = "description_taken_back"
    """what: accepted, or returned"""
    DESCRIBING_REWORDED = "describing_reworded"
    """version, reason: what describers are told from now on"""
    RELEASED = "released"
    """name, sha256 of the manifest, file: where it is kept; again: whether the same was kept already"""
    TERMS_SET = "terms_set"
    """licence, citation, reason"""
    TRUTH_ADDED = "truth_added"
    """name, file, sha256, queries, moments"""
    TRUTH_REMOVED = "truth_removed"
    """name, file, sha256"""
    RUN_ADDED = "run_added"
    """name, file, sha256, queries, moments, videos: the SHA-256 of the map that named its videos"""
    RUN_REMOVED = "run_removed"
    """name, file, sha256"""
    RESTORED = "restored"
    """file: the copy that the database was put back from; kept: where the state before lies"""


def record(
    db: Database,
    kind: EventKind,
    *,
    at: float,
    actor: AnnotatorId | None,
    subject: str,
    payload: Mapping[str, object] | None = None,
) -> None:
    """Write one event, inside the transaction of the act that it tells of.

    Raises:
        TextRefused: the payload has NUL, which PostgreSQL could not read from JSON.
    """
    told = msgspec.json.encode(payload or {}, enc_hook=as_text).decode()
    if has_nul_escape(told):
        checked(["\0"])
    db.conn.execute(
        "INSERT INTO event (at, actor, kind, subject, payload) VALUES (?, ?, ?, ?, ?)",
        [at, actor, kind, subject, told],
    )


class _Actor(Protocol):
    @property
    def annotator_id(self) -> AnnotatorId | None: ...


def note(db: Database, kind: EventKind, by: _Actor, subject: str, /, *, now: float, **payload: object) -> None:
    """Write one event of what a person, or the command line, did: `record`, with the payload as keywords."""
    record(db, kind, at=now, actor=by.annotator_id, subject=subject, payload=payload)
