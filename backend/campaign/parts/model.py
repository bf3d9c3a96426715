"""What split and join do with the rows of each table, and what they report."""

from dataclasses import dataclass
from enum import StrEnum

from backend.campaign.judging.model import SEATS_CLAIMED
from backend.campaign.nouns import SEATS_RETURNED
from backend.campaign.qualification.exam.model import EXAM_EXPLAINED, EXAM_HANDED_IN, EXAM_STARTED
from backend.campaign.qualification.guideline.practice_pairs import PRACTICE_CHOSEN, PRACTICE_WITHDRAWN
from backend.campaign.qualification.guideline.versions import EXAMPLE_CHOSEN, GUIDELINE_CHANGED
from backend.campaign.review.model import NOTE_ANSWERED
from backend.campaign.selection.batches.model import BATCH_OPENED
from backend.campaign.selection.candidates.model import CANDIDATES_ADDED
from backend.core.events import Event, EventGroup
from backend.core.messages import said


class Joining(StrEnum):
    """How the rows of a table in several parts become those of the joined project."""

    RULE = "rule"
    """The rows are equal in all parts, or joining is refused; those of the first part are taken."""
    RECORD = "record"
    """Rows of the time before the split are the same in all parts. Later ones are of one part, and get a new id."""
    SAME = "same"
    """Rows with the same values in the columns of `key` are one row, in whichever parts they are."""
    LINK = "link"
    """Rows without an id of their own. If several parts have one with the same primary key, the first is taken."""
    LEFT_OUT = "left out"
    """Rows concern one server or one part, or can be computed."""


MAPPED = (Joining.RECORD, Joining.SAME)
"""The kinds of tables whose rows have ids that joining may change."""


@dataclass(frozen=True, slots=True)
class TableRows:
    """What happens with the rows of one table; its columns are those of `docs/schema.md`.

    Attributes:
        joining: how rows of several parts are joined.
        key: for `SAME`: columns by which rows are one. SQL of a row `s`, in which `new(TABLE, COLUMN)` stands for the
            id that a row of TABLE has in the joined project.
        at: SQL of the time of a row, seconds since 1970. New ids follow it, as in one campaign.
        then: SQL by which rows of the same time are ordered.
        equal: columns that must not differ: for `RULE` all that are compared, for `SAME` besides the key.
        words: what the table is called in messages.
        owned: SQL that says whether `split` puts a row into a part, whose queries are in the table `own`.
        in_parts: whether `split` copies rows at all.
        first_only: for `RECORD`: whether a row is left out that an earlier part's row excludes by a unique index.
    """

    joining: Joining
    key: tuple[str, ...] = ()
    at: str = ""
    then: tuple[str, ...] = ()
    equal: tuple[str, ...] = ()
    words: str = ""
    owned: str = "1"
    in_parts: bool = True
    first_only: bool = False


def _rule(words: str, *equal: str) -> TableRows:
    return TableRows(Joining.RULE, equal=equal, words=words)


def _record(at: str, owned: str = "1", *, first_only: bool = False) -> TableRows:
    return TableRows(Joining.RECORD, at=at, owned=owned, first_only=first_only)


_OWN_QUERY = "query_id IN (SELECT query_id FROM own)"
_OWN_PAIR = f"pair_id IN (SELECT pair_id FROM source.pair WHERE {_OWN_QUERY})"
_LINK, _NOWHERE = TableRows(Joining.LINK), TableRows(Joining.LEFT_OUT, in_parts=False)

TABLES: dict[str, TableRows] = {
    # Rules that decide what a grade means and what a relevance is.
    "campaign": _rule(
        said("the settings of grading"),
        *("batch_size", "tolerance", "rule_version", "seats", "further_seats", "rounding", "example_query"),
    ),
    "scale": _rule(said("the scale"), "grade", "label", "meaning", "detail", "example"),
    "guideline": _rule(said("the guideline"), "kind", "position", "title", "text"),
    "guideline_version": _rule(said("the versions of the guideline"), "version", "words"),
    "batch_rule": _rule(said("the rule for next batches"), "version", "last", "mean", "finds", "grade"),
    "describing_guideline": _rule(said("the guideline for describing"), "version", "text"),
    # The corpus, the people and the training set, which all parts have.
    "video": TableRows(
        Joining.SAME,
        key=("s.name",),
        equal=("duration_s", "fps_num", "fps_den", "width_px", "height_px", "has_audio", "sha256"),
        words=said("the video"),
    ),
    "moment": TableRows(Joining.SAME, key=("new(video, video_id)", "s.start_s", "s.end_s"), words=said("the moment")),
    "caption": TableRows(
        Joining.SAME,
        key=("new(moment, moment_id)", "s.kind", "s.rule_version", "s.text"),
        equal=("accepted", "external_id"),
        words=said("the caption"),
    ),
    "annotator": TableRows(
        Joining.SAME, key=("name_key(s.name)",), at="s.created_at", equal=("role", "simulated"), words=said("the user")
    ),
    "source": TableRows(
        Joining.SAME,
        key=("s.part", "s.kind", "s.name"),
        at="s.added_at",
        equal=("sha256",),
        words=said("the source of candidates"),
    ),
    "practice": TableRows(
        Joining.SAME,
        key=("new(moment, moment_id)", "s.query"),
        at="s.chosen_at",
        equal=("grade",),
        words=said("the practice pair"),
    ),
    "description": TableRows(Joining.SAME, key=("s.description_key",), words=said("the description")),
    "query": TableRows(Joining.LINK, owned=f"split = 'train' OR {_OWN_QUERY}"),
    "candidate": TableRows(Joining.LINK, owned="query_id IN (SELECT query_id FROM query)"),
    "candidate_source": TableRows(Joining.LINK, owned="query_id IN (SELECT query_id FROM query)"),
    "identity": _LINK,
    "guideline_seen": _LINK,
    "rewrite_answer": _LINK,
    "shot": _LINK,
    "video_check": _LINK,
    "clip_fault": _LINK,
    "describing_person": _LINK,
    "describing_video": _LINK,
    "describing_seen": _LINK,
    "rewrite_request": _record("s.at"),
    "describing_choice": _record("s.chosen_at"),
    "description_act": _record("s.at"),
    "practice_answer": _record("s.answered_at"),
    "terms": _record("s.set_at"),
    "pause": _record("s.paused_at", first_only=True),
    "event": _record("s.at"),
    # Work on the pairs of the part's own queries.
    "batch": TableRows(
        Joining.SAME,
        key=("s.query_id", "s.number"),
        at="s.opened_at",
        then=("(SELECT q.position FROM query q WHERE q.query_id = s.query_id)", "s.query_id"),
        owned=_OWN_QUERY,
    ),
    "pair": TableRows(Joining.SAME, key=("s.pair_key",), at="new(batch, batch_id)", owned=_OWN_QUERY),
    "seat": TableRows(Joining.LINK, owned=_OWN_PAIR),
    "declined_batch": _record("s.declined_at", _OWN_QUERY),
    "example": _record("s.chosen_at", _OWN_PAIR, first_only=True),
    "judgement": _record("s.graded_at"),
    "adjudication": _record("s.decided_at"),
    "ruling": _record("s.ruled_at"),
    "skip": _record("s.skipped_at"),
    "model_grade": _record("s.asked_at", _OWN_PAIR),
    "note": _LINK,
    "note_reply": _record("s.replied_at"),
    "reply_read": _LINK,
    # Qualification of people within a part.
    "exam": _record("s.set_at"),
    "exam_item": _record("new(exam, exam_id)"),
    "exam_attempt": _record("s.started_at"),
    "exam_attempt_item": _LINK,
    "exam_answer": _LINK,
    "answer_note": _LINK,
    "exam_ruling": _record("s.ruled_at"),
    "gold_pair": _LINK,
    "gold_seat": _LINK,
    "gold_answer": _record("s.graded_at"),
    "gold_rhythm": _LINK,
    "gold_finding": _record("s.found_at"),
    # What concerns one part alone.
    "invitation": TableRows(Joining.LEFT_OUT),
    "assignment": TableRows(Joining.LEFT_OUT),
    "assigned_query": TableRows(Joining.LEFT_OUT, owned=_OWN_QUERY),
    **dict.fromkeys(("release", "release_removal", "kept_truth", "kept_run", "pool_check", "pool_place"), _NOWHERE),
    # What is derived, what a server shares of the moment, and what no copy has.
    **dict.fromkeys(("consensus", "agenda", "session", "sign_in_attempt", "known_browser", "desk_window"), _NOWHERE),
    **dict.fromkeys(("draft", "job", "campaign_secret", "personal_token"), _NOWHERE),
    **dict.fromkeys(("webhook", "webhook_known", "webhook_delivery"), _NOWHERE),
}
"""What happens with the rows of every table of a project. A test compares the names with the schema."""

WORK: dict[str, str] = {
    "judgement": said("grades"),
    "adjudication": said("adjudications"),
    "skip": said("skips"),
    "exam": said("an exam or a calibration round"),
    "gold_pair": said("gold questions"),
    "pool_check": said("a check of pools"),
}
"""Tables whose rows belong to pairs of several parts at once, or to browsers: a project with any is not split."""

SUBJECTS = ("pair", "moment", "annotator", "exam", "exam_item", "caption")
"""Kinds of subjects of events that are followed by the id of a row, such as `pair:12`."""
PAYLOAD_IDS = {
    (SEATS_CLAIMED, "pairs"): "pair",
    (SEATS_RETURNED, "pairs"): "pair",
    (EXAMPLE_CHOSEN, "replaced"): "pair",
    (EXAM_EXPLAINED, "pair"): "pair",
    (EXAM_STARTED, "exam"): "exam",
    (EXAM_HANDED_IN, "exam"): "exam",
    (PRACTICE_CHOSEN, "moment"): "moment",
    (PRACTICE_WITHDRAWN, "moment"): "moment",
    (NOTE_ANSWERED, "judgement"): "judgement",
}
"""By event and key of its payload: the table of whose rows the number, or the numbers, are ids."""
ORDERS = {
    BATCH_OPENED: ("'$.last'", "'$.on_screen'"),
    CANDIDATES_ADDED: ("'$.last'",),
    GUIDELINE_CHANGED: ("'$.judgement'",),
}
"""By event, the JSON paths of what tells by ids what came before it. Joined rows are in the order of time, so
times tell."""
NUMBERS = {("gold_answer", "after_judgement"): "judgement"}
"""Columns that hold an id of another table's row, or 0, without a foreign key."""


@dataclass(frozen=True, slots=True)
class PartOfSplit:
    """A part of a split project, as its event says.

    Attributes:
        split: a random text that all parts of one split have.
        number: the number of the part, from 1.
        parts: how many parts there are.
        last: the largest id of each table in the part just after the split.
    """

    split: str
    number: int
    parts: int
    last: dict[str, int]


PARTS_JOINED = Event("parts_joined", EventGroup.MATERIAL, said("joined {parts} parts"))
"""split, parts: of the parts"""
