"""Run the SQL for rewritten captions, leads' decisions on them, and the stored answers of language models."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.campaign.corpus.captions.model import (
    CAPTION_CORRECTED,
    REWRITE_DECIDED,
    AcceptedCaption,
    Correction,
    RewriteCounts,
    TakenDecision,
    Usage,
)
from backend.campaign.corpus.importing.rows import CaptionRow, captions_where
from backend.core.ids import AnnotatorId, MomentId
from backend.core.messages import from_stored, to_stored
from backend.store.engine import Database, insert_returning_id, like_pattern

BY_HAND = "by-hand"
"""The rule version of rewrites that a person wrote."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A caption without specifics such as names, made from the published caption `source`.

    A rewrite that is not accepted waits for a lead's decision; `reason` says why. `rule_version` names the rules or the
    model. `attempts` is the number of attempts that the rewriter made. `similarity` is the cosine to the published
    text; None if the rewriter had no answer, and `text` is then the published text.
    """

    source: CaptionRow
    text: str
    rule_version: str
    attempts: int
    similarity: float | None
    accepted: bool
    reason: str = ""


def searchable_captions(db: Database) -> list[CaptionRow]:
    """Return the captions in which candidates for queries are searched: accepted rewrites, or else published captions.

    A published caption is included only if it has no accepted rewrite.
    """
    return captions_where(
        db,
        # NOT IN is computed once; a correlated query took a quarter of an hour for 100,000 captions.
        "(kind = 'rewritten' AND accepted = 1) OR (kind = 'published' AND caption_id NOT IN "
        "(SELECT source_caption_id FROM caption WHERE kind = 'rewritten' AND accepted = 1))",
    )


def rewritten_captions(db: Database) -> list[CaptionRow]:
    """Return the accepted rewrites, from which queries are drawn."""
    return captions_where(db, "kind = 'rewritten' AND accepted = 1")


def waiting_rewrites(db: Database) -> list[tuple[str, str, str]]:
    """Return (published text, rewrite, reason) of each published text whose rewrite needs a lead's decision.

    `reason` says why the rewrite failed the check. A text that several captions share is returned once, because one
    decision covers them all.
    """
    rows = db.conn.execute(
        "SELECT o.published, f.text, f.reason FROM (SELECT trim(s.text) AS published, min(c.caption_id) AS caption_id "
        "FROM caption c JOIN caption s ON s.caption_id = c.source_caption_id "
        "WHERE c.accepted = 0 AND c.decided_at IS NULL GROUP BY trim(s.text)) AS o "
        "JOIN caption f USING (caption_id) ORDER BY f.caption_id"
    )
    return [(row[0], row[1], from_stored(row[2])) for row in rows]


def decided_captions(db: Database) -> set[int]:
    """Return the ids of published captions whose rewrite a lead accepted, edited or rejected."""
    rows = db.conn.execute("SELECT source_caption_id FROM caption WHERE kind = 'rewritten' AND decided_at IS NOT NULL")
    return {row[0] for row in rows}


def accepted_texts(db: Database) -> list[tuple[str, str, int]]:
    """Return (published text, rewrite, number of captions with these two texts) of all accepted rewrites."""
    rows = db.conn.execute(
        "SELECT trim(s.text), c.text, count(*) FROM caption c JOIN caption s ON s.caption_id = c.source_caption_id "
        "WHERE c.kind = 'rewritten' AND c.accepted = 1 GROUP BY 1, 2 ORDER BY min(c.caption_id)"
    )
    return [(row[0], row[1], row[2]) for row in rows]


def accepted_versions(db: Database) -> list[tuple[str, int]]:
    """Return (rule version, number of captions) of all accepted rewrites, the most frequent version first."""
    rows = db.conn.execute(
        "SELECT rule_version, count(*) FROM caption WHERE kind = 'rewritten' AND accepted = 1 GROUP BY 1 "
        "ORDER BY 2 DESC, 1"
    )
    return [(row[0], row[1]) for row in rows]


def released_captions(db: Database) -> dict[MomentId, str] | None:
    """Map each moment to the caption that a release may publish: the first accepted rewrite for the moment.

    Moments without an accepted rewrite are left out, because published texts may contain names. Return None if no
    caption was ever rewritten.
    """
    if db.conn.execute("SELECT 1 FROM caption WHERE kind = 'rewritten' LIMIT 1").fetchone() is None:
        return None
    rows = db.conn.execute(
        "SELECT moment_id, text FROM caption WHERE kind = 'rewritten' AND accepted = 1 "
        "ORDER BY moment_id, source_caption_id DESC, caption_id DESC"
    )
    return {MomentId(row[0]): row[1] for row in rows}  # the first caption comes last, so it is the one that stays


def replace_rewrites(db: Database, rewrites: Sequence[Rewrite]) -> bool:
    """Replace all rewritten captions by the given ones, except those that a lead decided on.

    Returns whether any of them changed. The caller makes sure that no query was drawn from a rewrite that is replaced.
    """
    before = _undecided(db)
    db.conn.execute("DELETE FROM caption WHERE kind = 'rewritten' AND decided_at IS NULL")
    decided_sources = decided_captions(db)  # a person may have decided while a model was at work
    db.conn.executemany(
        # Two captions of one moment may become the same text: only the first is stored.
        "INSERT OR IGNORE INTO caption "
        "(moment_id, text, kind, source_caption_id, rule_version, attempts, similarity, accepted, reason) "
        "VALUES (?, ?, 'rewritten', ?, ?, ?, ?, ?, ?)",
        (
            (
                *(r.source.moment_id, r.text, r.source.caption_id, r.rule_version, r.attempts),
                *(r.similarity, int(r.accepted), to_stored(r.reason)),
            )
            for r in rewrites
            if r.source.caption_id not in decided_sources
        ),
    )
    return _undecided(db) != before


def _undecided(db: Database) -> list[tuple[object, ...]]:
    rows = db.conn.execute(
        "SELECT source_caption_id, moment_id, text, rule_version, attempts, similarity, accepted, reason FROM caption "
        "WHERE kind = 'rewritten' AND decided_at IS NULL ORDER BY source_caption_id"
    )
    return [tuple(row) for row in rows]


def any_query(db: Database) -> bool:
    """Return whether any query was drawn from the captions; rewrites are fixed from then on."""
    return db.conn.execute("SELECT 1 FROM query LIMIT 1").fetchone() is not None


def kept_answers(db: Database, rewriter: str) -> dict[str, str]:
    """Return the stored answers of a language model that rewrote texts, by original text.

    An answer is the rewrite, or empty if the model gave no usable one. `rewriter` names the model, the prompt and the
    temperature; only answers made with these are returned.
    """
    return dict(db.conn.execute("SELECT text, answer FROM rewrite_answer WHERE rewriter = ?", [rewriter]).fetchall())


def keep_answers(
    db: Database,
    rewriter: str,
    host: str,
    answers: Mapping[str, str],
    tokens: tuple[int | None, int | None],
    *,
    at: float,
) -> None:
    """Store one request to a language model at `host`: its answers, and the numbers of tokens sent and received.

    `rewriter` is the version (model, prompt and temperature). `answers` maps each text to its rewrite. An answer that
    is already stored for a text stays, and the new one is dropped.
    """
    request = insert_returning_id(
        db,
        "INSERT INTO rewrite_request (at, rewriter, host, tokens_in, tokens_out) VALUES (?, ?, ?, ?, ?) "
        "RETURNING request_id",
        [at, rewriter, host, *tokens],
    )
    db.conn.executemany(
        "INSERT OR IGNORE INTO rewrite_answer (rewriter, text, answer, request_id) VALUES (?, ?, ?, ?)",
        ((rewriter, text, answer, request) for text, answer in answers.items()),
    )


def endpoint_usage(db: Database, rewriters: Sequence[str]) -> Usage:
    """Return the requests and tokens that all runs of some rewriters used at a language model's endpoint.

    Each element of `rewriters` names a model, a prompt and a temperature.
    """
    row = db.conn.execute(
        "SELECT count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0), "
        "count(*) - count(tokens_in + tokens_out) FROM rewrite_request "
        f"WHERE rewriter IN ({', '.join('?' * len(rewriters))})",
        [*rewriters],
    ).fetchone()
    return Usage(*row)


_WAITS = "c.kind = 'rewritten' AND c.accepted = 0 AND c.decided_at IS NULL"
_WITH_SOURCE = "caption c JOIN caption s ON s.caption_id = c.source_caption_id"


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """A rewrite with its published text and the decision on it, if there is one.

    `published` is the original text, and `text` the rewrite. `accepted` says whether the rewrite is accepted, by the
    automatic check or a decision. `decided_at` is in seconds since 1970; None if nobody decided. `decided_by` and
    `lead` are the id and the name of the lead who decided; None if a command decided, or nobody yet.
    """

    published: str
    text: str
    accepted: bool
    decided_at: float | None
    decided_by: AnnotatorId | None
    lead: str | None


def counts(db: Database) -> RewriteCounts:
    """Count rewritten captions by their status."""
    row = db.conn.execute(
        "SELECT coalesce(sum(accepted), 0), coalesce(sum(attempts > 1), 0), "
        "coalesce(sum(accepted = 0 AND decided_at IS NULL), 0), coalesce(sum(accepted AND rule_version = ?), 0), "
        "coalesce(sum(accepted = 0 AND decided_at IS NOT NULL), 0) FROM caption WHERE kind = 'rewritten'",
        [BY_HAND],
    ).fetchone()
    return RewriteCounts(*row)


def waiting(db: Database, limit: int) -> list[tuple[int, int, str, str, str]]:
    """Return the first `limit` published texts whose rewrite needs a lead's decision.

    Each tuple is (id of the first rewritten caption, number of captions, published text, rewrite, reason).
    """
    return [
        (row[0], row[1], row[2], row[3], from_stored(row[4]))
        for row in db.conn.execute(
            "SELECT o.caption_id, o.captions, o.published, f.text, f.reason FROM "
            "(SELECT min(c.caption_id) AS caption_id, "
            f"count(*) AS captions, trim(s.text) AS published FROM {_WITH_SOURCE} WHERE {_WAITS} GROUP BY trim(s.text) "
            "ORDER BY 1 LIMIT ?) AS o JOIN caption f USING (caption_id) ORDER BY o.caption_id",
            [limit],
        )
    ]


def decision_row(db: Database, caption_id: int) -> DecisionRow | None:
    """Return a rewrite with the decision on it; None if no rewritten caption has this id."""
    row = db.conn.execute(
        f"SELECT trim(s.text), c.text, c.accepted, c.decided_at, c.decided_by, a.name FROM {_WITH_SOURCE} "
        "LEFT JOIN annotator a ON a.annotator_id = c.decided_by WHERE c.caption_id = ?",
        [caption_id],
    ).fetchone()
    return DecisionRow(row[0], row[1], bool(row[2]), *row[3:]) if row else None


def decide(db: Database, published: str, text: str | None, *, at: float, by: AnnotatorId | None) -> int:
    """Accept `text` as the rewrite of all captions with a published text; if `text` is None, reject their rewrites.

    Only rewrites that wait for a decision change. If two captions of one moment would get the same text, only the first
    is accepted; the second is rejected. Return how many rewrites were waiting.
    """
    waiting_captions = db.conn.execute(
        f"SELECT c.caption_id, c.moment_id, c.text FROM {_WITH_SOURCE} WHERE {_WAITS} AND trim(s.text) = ? "
        "ORDER BY c.caption_id",
        [published],
    ).fetchall()
    for caption_id, moment_id, proposal in waiting_captions:
        duplicate = db.conn.execute(
            "SELECT 1 FROM caption WHERE moment_id = ? AND kind = 'rewritten' AND accepted = 1 AND text = ?",
            [moment_id, text],
        ).fetchone()
        db.conn.execute(
            "UPDATE caption SET accepted = ?, decided_at = ?, decided_by = ? WHERE caption_id = ?",
            [int(text is not None and duplicate is None), at, by, caption_id],
        )
        if text is not None and duplicate is None and text != " ".join(proposal.split()):
            db.conn.execute(
                "UPDATE caption SET proposal = text, proposal_version = rule_version, text = ?, rule_version = ? "
                "WHERE caption_id = ?",
                [text, BY_HAND, caption_id],
            )
    return len(waiting_captions)


def last_decision(db: Database, lead: AnnotatorId) -> TakenDecision | None:
    """Return the last decision on a rewrite that this lead made and did not undo; None if there is none."""
    rows = db.conn.execute(
        f"SELECT c.caption_id, trim(s.text), iif(c.accepted, c.text, NULL) FROM {_WITH_SOURCE} "
        # Of captions decided together, an accepted one shows the decision: others may be rejected as duplicates.
        "WHERE c.decided_by = ? ORDER BY c.accepted, c.caption_id DESC",
        [lead],
    )
    decided = {row[1]: TakenDecision(*row) for row in rows}
    newest_first = db.conn.execute(  # by the order of events: the clock may have been set back
        "SELECT payload ->> 'published' FROM event WHERE kind = ? AND actor = ? ORDER BY event_id DESC",
        [REWRITE_DECIDED.kind, lead],
    )
    return next((decided[row[0]] for row in newest_first if row[0] in decided), None) if decided else None


def take_back(db: Database, caption_id: int) -> int:
    """Undo the decision on a rewritten caption, and on all others decided with it; return their number.

    They need a decision again, and have their earlier texts.
    """
    ids = [
        row[0]
        for row in db.conn.execute(
            "SELECT c.caption_id FROM caption c JOIN caption s ON s.caption_id = c.source_caption_id, "
            "caption one JOIN caption its ON its.caption_id = one.source_caption_id WHERE one.caption_id = ? "
            "AND c.decided_at = one.decided_at AND c.decided_by IS one.decided_by AND trim(s.text) = trim(its.text)",
            [caption_id],
        )
    ]
    db.conn.executemany(
        # If another caption of the moment has the same text by now, this one replaces it.
        "UPDATE OR REPLACE caption SET accepted = 0, decided_at = NULL, decided_by = NULL, "
        "text = coalesce(proposal, text), rule_version = coalesce(proposal_version, rule_version), "
        "proposal = NULL, proposal_version = NULL WHERE caption_id = ?",
        [(row_id,) for row_id in ids],
    )
    return len(ids)


_ACCEPTED = (
    "(c.kind = 'rewritten' AND c.accepted = 1) OR (c.kind = 'published' AND c.caption_id NOT IN "
    "(SELECT source_caption_id FROM caption WHERE kind = 'rewritten' AND accepted = 1))"
)
_HANDED_OUT = (
    "EXISTS (SELECT 1 FROM pair p WHERE "
    "(p.moment_id = c.moment_id OR p.query_id IN (SELECT query_id FROM query q WHERE q.caption_id = c.caption_id)) AND "
    "(EXISTS (SELECT 1 FROM seat s WHERE s.pair_id = p.pair_id AND s.annotator_id IS NOT NULL) OR "
    "EXISTS (SELECT 1 FROM exam_item i WHERE i.pair_id = p.pair_id)))"
)


def count_accepted(db: Database, search: str) -> int:
    """Count the captions in use that match `search`: each of its words occurs in the text or in the video's name.

    In use are accepted rewrites, and published captions without one.
    """
    where, words = _search_condition(search)
    row = db.conn.execute(
        "SELECT count(*) FROM caption c JOIN moment m USING (moment_id) JOIN video v USING (video_id) "
        f"WHERE ({_ACCEPTED}){where}",
        words,
    ).fetchone()
    return int(row[0])


def accepted_captions(db: Database, search: str, first: int, most: int) -> list[AcceptedCaption]:
    """Return at most `most` captions in use that match `search`, sorted by video and time; skip the first `first`.

    In use are accepted rewrites, and published captions without one. A caption matches if each word of `search` occurs
    in its text or in its video's name.
    """
    where, words = _search_condition(search)
    order = "ORDER BY v.name, m.start_s, c.caption_id"
    page = (
        " AND c.caption_id IN (SELECT c.caption_id FROM caption c JOIN moment m USING (moment_id) "
        f"JOIN video v USING (video_id) WHERE ({_ACCEPTED}){where} {order} LIMIT ? OFFSET ?)"
    )
    return _accepted_where(db, page, [*words, most, first], order)


def accepted_caption(db: Database, caption_id: int) -> AcceptedCaption | None:
    """Return the caption with this id; None if it is not in use, or does not exist.

    In use are accepted rewrites, and published captions without one.
    """
    return next(iter(_accepted_where(db, " AND c.caption_id = ?", [caption_id], "")), None)


def _search_condition(search: str) -> tuple[str, list[str]]:
    words = search.split()
    where = " AND (c.text LIKE ? ESCAPE '!' OR v.name LIKE ? ESCAPE '!')" * len(words)
    return where, [like_pattern(word) for word in words for _ in range(2)]


def _accepted_where(db: Database, where: str, values: Sequence[object], rest: str) -> list[AcceptedCaption]:
    rows = db.conn.execute(
        "SELECT c.caption_id, v.name, m.start_s, m.end_s, c.text, coalesce(o.text, ''), "
        f"CASE WHEN {_HANDED_OUT} THEN 1 ELSE 0 END FROM caption c JOIN moment m ON m.moment_id = c.moment_id "
        "JOIN video v ON v.video_id = m.video_id LEFT JOIN caption o ON o.caption_id = c.source_caption_id "
        f"WHERE ({_ACCEPTED}){where} {rest}",
        values,
    )
    return [AcceptedCaption(row[0], row[1], row[2], row[3], row[4], row[5], fixed=bool(row[6])) for row in rows]


def correct(db: Database, caption_id: int, text: str, *, at: float) -> bool:
    """Change the text of a caption, and of the query that was drawn from it with the same text.

    Return False, and change nothing, if another caption of the moment or another query already has this text.
    """
    taken = db.conn.execute(
        "SELECT 1 FROM caption c JOIN caption mine ON mine.caption_id = ? AND mine.moment_id = c.moment_id "
        "AND mine.kind = c.kind WHERE c.text = ? UNION ALL SELECT 1 FROM query WHERE text = ? AND EXISTS "
        "(SELECT 1 FROM query q JOIN caption mine ON mine.caption_id = ? WHERE q.caption_id = mine.caption_id)",
        [caption_id, text, text, caption_id],
    ).fetchone()
    if taken:
        return False
    db.conn.execute(
        "UPDATE query SET text = ? WHERE caption_id = ? AND text = "
        "(SELECT trim(c.text) FROM caption c WHERE c.caption_id = ?)",
        [text, caption_id, caption_id],
    )
    db.conn.execute(
        # Later runs of rewriting keep texts that a person wrote.
        "UPDATE caption SET text = ?, proposal = CASE WHEN kind = 'rewritten' THEN coalesce(proposal, text) END, "
        "proposal_version = CASE WHEN kind = 'rewritten' THEN coalesce(proposal_version, rule_version) END, "
        "rule_version = CASE WHEN kind = 'rewritten' THEN ? ELSE rule_version END, "
        "decided_at = CASE WHEN kind = 'rewritten' THEN coalesce(decided_at, ?) END WHERE caption_id = ?",
        [text, BY_HAND, at, caption_id],
    )
    return True


def corrections(db: Database, caption_id: int) -> list[Correction]:
    """Return the corrections of a caption, the newest first."""
    rows = db.conn.execute(
        "SELECT e.at, a.name, e.payload FROM event e LEFT JOIN annotator a ON a.annotator_id = e.actor "
        "WHERE e.subject = ? AND e.kind = ? ORDER BY e.event_id DESC",
        [f"caption:{caption_id}", CAPTION_CORRECTED.kind],
    )
    return [
        Correction(row[0], row[1] or "", payload["before"], payload["text"], payload["reason"])
        for row in rows
        for payload in [json.loads(row[2])]
    ]
