"""The event log: who did what, when, and why, for everything that matters later. Append-only."""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from backend.ground.ids import AnnotatorId
from backend.store.engine import Database


class EventKind(StrEnum):
    """Every kind of event, with what its payload holds."""

    CORPUS_IMPORTED = "corpus_imported"
    """file, format, videos, moments, captions"""
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
    CANDIDATES_CHOSEN = "candidates_chosen"
    """encoder, queries, candidates; with probes also probed, probe_pairs, seed"""
    POOL_CHECK_MADE = "pool_check_made"
    """sha256 of the file of pools, seed, queries, pairs"""
    BATCH_OPENED = "batch_opened"
    """number, pairs"""
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
    PERSON_ADDED = "person_added"
    """name, role"""
    PERSON_SUSPENDED = "person_suspended"
    """suspended"""
    PERSON_PAUSED = "person_paused"
    """reason; no actor where the program paused somebody by a rule"""
    PERSON_UNPAUSED = "person_unpaused"
    """(empty): a lead lets somebody go on"""
    IDENTITY_BOUND = "identity_bound"
    """issuer"""
    PASSWORD_SET = "password_set"
    """(empty)"""
    INVITED = "invited"
    """replaced: how many older links became void; a lead made a new one for somebody who is here already"""
    SIGNED_OUT_EVERYWHERE = "signed_out_everywhere"
    """sessions: how many ended"""
    RELEASED = "released"
    """sha256 of the manifest"""
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
    """Write one event, inside the transaction of the act that it tells of."""
    db.conn.execute(
        "INSERT INTO event (at, actor, kind, subject, payload) VALUES (?, ?, ?, ?, ?)",
        [at, actor, kind, subject, msgspec.json.encode(payload or {}).decode()],
    )
