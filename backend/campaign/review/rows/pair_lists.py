"""SQL to count and page the lists of pairs that leads review, such as discarded or skipped pairs. Reads only."""

from backend.campaign.nouns import Verdict
from backend.campaign.review.model import ReviewList, ReviewPage, ReviewRow
from backend.core.ids import PairId, PairKey, QueryId
from backend.core.messages import from_stored, said
from backend.store.engine import Database, like_pattern

_SHOWN_AS_RIGHT = {
    "example": said("as an example in the guideline"),
    "practice": said("in practice"),
    "gold": said("as gold"),
    "": "",
}
_CONFIRMED = "p.pair_id IN (SELECT pair_id FROM confirmed_discard)"
# A subquery by pair, because SQLite ignores the index of verdicts where a condition names two of them.
_OPEN_CASES = "p.pair_id IN (SELECT pair_id FROM consensus WHERE verdict IN ('escalated', 'discarded'))"
_UNANSWERED = (
    "SELECT 1 FROM standing_note n WHERE n.pair_id = p.pair_id AND NOT EXISTS "
    "(SELECT 1 FROM note_reply r WHERE r.judgement_id = n.judgement_id)"
)
# How far the furthest grade of a model is from the relevance; of grades for the query's present text.
_MODEL_DISTANCE = (
    "(SELECT max(abs(g.grade - c.relevance)) FROM model_grade g WHERE g.pair_id = p.pair_id AND g.query = q.text "
    "AND g.outcome = 'graded')"
)
_MODEL_APART = 2
# The condition and the order of each list: the newest grade, skip or note comes first. Pairs at which a model differs
# come in the order in which a look at them pays most: the furthest apart, then those of which people were the least
# sure, then the best ranked, which count most in measures.
_BY_GRADE = "(SELECT max(graded_at) FROM judgement j WHERE j.pair_id = p.pair_id) DESC"
_LISTS = {
    ReviewList.TO_DECIDE: (f"{_OPEN_CASES} AND NOT {_CONFIRMED}", _BY_GRADE),
    ReviewList.DISCARDED: (f"c.verdict = 'discarded' AND NOT {_CONFIRMED}", _BY_GRADE),
    ReviewList.ESCALATED: ("c.verdict = 'escalated'", _BY_GRADE),
    ReviewList.DECIDED: ("c.verdict = 'adjudicated'", _BY_GRADE),
    ReviewList.CONFIRMED: (f"c.verdict = 'discarded' AND {_CONFIRMED}", _BY_GRADE),
    ReviewList.SKIPPED: (
        "p.pair_id IN (SELECT pair_id FROM skip WHERE lifted_at IS NULL)",
        "coalesce(c.verdict, 'escalated') <> 'escalated', "
        "(SELECT max(skip_id) FROM skip k WHERE k.pair_id = p.pair_id AND k.lifted_at IS NULL) DESC",
    ),
    ReviewList.NOTES: (
        "p.pair_id IN (SELECT pair_id FROM standing_note)",
        f"NOT EXISTS ({_UNANSWERED}), (SELECT max(judgement_id) FROM standing_note n WHERE n.pair_id = p.pair_id) DESC",
    ),
    ReviewList.MODEL: (
        f"c.verdict = 'consensus' AND {_MODEL_DISTANCE} >= {_MODEL_APART}",
        f"{_MODEL_DISTANCE} DESC, "
        "(SELECT max(s.grade) - min(s.grade) FROM standing s WHERE s.pair_id = p.pair_id) DESC, p.rank",
    ),
    ReviewList.BLOCKED: (
        "f.moment_id IS NOT NULL",
        "coalesce(c.verdict, 'escalated') <> 'escalated', f.reported_at DESC",
    ),
}
_NOTE = (
    "(SELECT n.text FROM standing_note n WHERE n.pair_id = p.pair_id ORDER BY EXISTS "
    "(SELECT 1 FROM note_reply r WHERE r.judgement_id = n.judgement_id), n.judgement_id DESC LIMIT 1)"
)
_FROM = (
    "FROM pair p JOIN query q USING (query_id) JOIN moment m USING (moment_id) JOIN video v USING (video_id) "
    "LEFT JOIN consensus c USING (pair_id) LEFT JOIN clip_fault f USING (moment_id) WHERE {where} AND {found}"
)
_FOUND = "(q.text LIKE :text ESCAPE '!' OR v.name LIKE :text ESCAPE '!')"


def counts(db: Database) -> dict[ReviewList, int]:
    """Return how many pairs are in each list for leads; for the list of notes, how many notes have no reply."""
    sizes: dict[ReviewList, int] = {
        name: _count(db, name, "") for name in ReviewList if name not in (ReviewList.NOTES, ReviewList.TO_DECIDE)
    }
    waiting: int = db.conn.execute(
        "SELECT count(*) FROM standing_note n WHERE NOT EXISTS "
        "(SELECT 1 FROM note_reply r WHERE r.judgement_id = n.judgement_id)"
    ).fetchone()[0]
    to_decide = sizes[ReviewList.DISCARDED] + sizes[ReviewList.ESCALATED]
    return {name: {ReviewList.NOTES: waiting, ReviewList.TO_DECIDE: to_decide, **sizes}[name] for name in ReviewList}


def page(db: Database, review_list: ReviewList, search: str, *, start: int, size: int) -> ReviewPage:
    """Return up to `size` pairs of a list for leads, whose query or video name contains the text `search`.

    The page starts at position `start` of the matching pairs, counted from 0.
    """
    where, order = _LISTS[review_list]
    note = _NOTE if review_list is ReviewList.NOTES else "''"
    rows = db.conn.execute(
        "SELECT p.pair_id, p.pair_key, p.query_id, q.text, v.name, m.start_s, m.end_s, coalesce(c.verdict, 'open'), "
        f"c.relevance, p.pair_id IN (SELECT pair_id FROM re_opened), coalesce(f.reason, ''), {note} "
        f"{_FROM.format(where=where, found=_FOUND if search else 'TRUE')} "
        f"ORDER BY {order}, p.pair_id LIMIT :size OFFSET :start",
        {"text": like_pattern(search), "size": size, "start": start},
    ).fetchall()
    cases = tuple(
        ReviewRow(
            *(PairKey(r[1]), QueryId(r[2]), r[3], r[4], r[5], r[6], Verdict(r[7]), r[8]),
            *(_grades(db, PairId(r[0])), bool(r[9]), from_stored(r[10]), r[11]),
        )
        for r in rows
    )
    return ReviewPage(cases, start, _count(db, review_list, search))


def reasons(db: Database, limit: int) -> list[str]:
    """Return the `limit` reasons that leads gave most recently for decisions, newest first, without repetitions."""
    rows = db.conn.execute(
        "SELECT reason FROM lead_act WHERE kind <> 'taken_back' AND reason <> '' AND lead_id IS NOT NULL "
        "GROUP BY reason ORDER BY max(at) DESC LIMIT ?",
        [limit],
    )
    return [row[0] for row in rows]


def shown_as_right(db: Database, pair_id: PairId) -> str:
    """Return where annotators were shown the right grade of a pair, in words; an empty text if nowhere.

    Exams are left out: an exam shows right grades only to those who took it, and they are never handed its pairs.
    """
    row = db.conn.execute(
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM example WHERE pair_id = p.pair_id) "
        "THEN 'example' "
        "WHEN EXISTS (SELECT 1 FROM practice r WHERE r.moment_id = p.moment_id AND r.query = q.text COLLATE NOCASE) "
        "THEN 'practice' "
        "WHEN EXISTS (SELECT 1 FROM gold_pair WHERE pair_id = p.pair_id) THEN 'gold' ELSE '' END "
        "FROM pair p JOIN query q USING (query_id) WHERE p.pair_id = ?",
        [pair_id],
    ).fetchone()
    return _SHOWN_AS_RIGHT[row[0]]


def _count(db: Database, review_list: ReviewList, search: str) -> int:
    source = _FROM.format(where=_LISTS[review_list][0], found=_FOUND if search else "TRUE")
    count: int = db.conn.execute(f"SELECT count(*) {source}", {"text": like_pattern(search)}).fetchone()[0]
    return count


def _grades(db: Database, pair_id: PairId) -> tuple[int, ...]:
    rows = db.conn.execute("SELECT grade FROM standing WHERE pair_id = ? ORDER BY seat_no", [pair_id])
    return tuple(row[0] for row in rows)
