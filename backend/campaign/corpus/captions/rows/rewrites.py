"""Rewritten captions, and what language models were asked for them and answered: reads and writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.campaign.corpus.captions.model import Usage
from backend.campaign.corpus.importing.rows import CaptionRow, captions_where
from backend.core.ids import MomentId
from backend.core.messages import kept, recalled
from backend.store.engine import Database, added

BY_HAND = "by-hand"
"""The rule version of rewrites that a person wrote."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """An imprecise caption, made from `source`; not accepted ones wait for a person, with the reason.

    `rule_version` names the rules or the model, `attempts` how many it took. `similarity` is None where the rewriter
    had no answer and the text is the caption's own.
    """

    source: CaptionRow
    text: str
    rule_version: str
    attempts: int
    similarity: float | None
    accepted: bool
    reason: str = ""


def searchable_captions(db: Database) -> list[CaptionRow]:
    """What candidates are searched in: the accepted rewrite of a caption, else the caption as published."""
    return captions_where(
        db,
        # Listed once: asked again for every caption, 100,000 took a quarter of an hour.
        "(kind = 'rewritten' AND accepted = 1) OR (kind = 'published' AND caption_id NOT IN "
        "(SELECT source_caption_id FROM caption WHERE kind = 'rewritten' AND accepted = 1))",
    )


def rewritten_captions(db: Database) -> list[CaptionRow]:
    """The accepted imprecise captions: what queries are drawn from."""
    return captions_where(db, "kind = 'rewritten' AND accepted = 1")


def waiting_rewrites(db: Database) -> list[tuple[str, str, str]]:
    """(published text, rewrite, reason) of what waits for a person: one a text, since a decision is about the text."""
    rows = db.conn.execute(
        "SELECT o.published, f.text, f.reason FROM (SELECT trim(s.text) AS published, min(c.caption_id) AS caption_id "
        "FROM caption c JOIN caption s ON s.caption_id = c.source_caption_id "
        "WHERE c.accepted = 0 AND c.decided_at IS NULL GROUP BY trim(s.text)) AS o "
        "JOIN caption f USING (caption_id) ORDER BY f.caption_id"
    )
    return [(row[0], row[1], recalled(row[2])) for row in rows]


def decided(db: Database) -> set[int]:
    """The published captions (their ids) whose rewrite a person accepted, wrote or rejected."""
    rows = db.conn.execute("SELECT source_caption_id FROM caption WHERE kind = 'rewritten' AND decided_at IS NOT NULL")
    return {row[0] for row in rows}


def accepted_texts(db: Database) -> list[tuple[str, str, int]]:
    """(published text, imprecise text, how many captions have both) of all accepted imprecise captions."""
    rows = db.conn.execute(
        "SELECT trim(s.text), c.text, count(*) FROM caption c JOIN caption s ON s.caption_id = c.source_caption_id "
        "WHERE c.kind = 'rewritten' AND c.accepted = 1 GROUP BY 1, 2 ORDER BY min(c.caption_id)"
    )
    return [(row[0], row[1], row[2]) for row in rows]


def released_captions(db: Database) -> dict[MomentId, str] | None:
    """The caption of every moment as a release may show it: its first accepted imprecise one.

    None if no caption was rewritten. A moment whose captions all wait or were rejected is not in it: published words
    may hold names.
    """
    if db.conn.execute("SELECT 1 FROM caption WHERE kind = 'rewritten' LIMIT 1").fetchone() is None:
        return None
    rows = db.conn.execute(
        "SELECT moment_id, text FROM caption WHERE kind = 'rewritten' AND accepted = 1 "
        "ORDER BY moment_id, source_caption_id DESC, caption_id DESC"
    )
    return {MomentId(row[0]): row[1] for row in rows}  # the first comes last, and stays


def replace_rewrites(db: Database, rewrites: Sequence[Rewrite]) -> None:
    """Put these imprecise captions in the place of all earlier ones, but for those that a person decided on.

    No query may point at the earlier ones.
    """
    db.conn.execute("DELETE FROM caption WHERE kind = 'rewritten' AND decided_at IS NULL")
    theirs = decided(db)  # a person may have decided while a model was at work
    db.conn.executemany(
        # Two captions of one moment may become the same words: the first one stands for both.
        "INSERT OR IGNORE INTO caption "
        "(moment_id, text, kind, source_caption_id, rule_version, attempts, similarity, accepted, reason) "
        "VALUES (?, ?, 'rewritten', ?, ?, ?, ?, ?, ?)",
        (
            (
                *(r.source.moment_id, r.text, r.source.caption_id, r.rule_version, r.attempts),
                *(r.similarity, int(r.accepted), kept(r.reason)),
            )
            for r in rewrites
            if r.source.caption_id not in theirs
        ),
    )


def any_query(db: Database) -> bool:
    """Whether queries were drawn: from then on the texts of captions are fixed."""
    return db.conn.execute("SELECT 1 FROM query LIMIT 1").fetchone() is not None


def kept_answers(db: Database, rewriter: str) -> dict[str, str]:
    """What a rewriter of this version has answered so far: text -> rewrite, empty where nothing was of use."""
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
    """Keep one request to `host`, its tokens in and out, and what was answered; the first answer to a text stays."""
    request = added(
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
    """What all requests of these versions took, in whatever run."""
    row = db.conn.execute(
        "SELECT count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0), "
        "count(*) - count(tokens_in + tokens_out) FROM rewrite_request "
        f"WHERE rewriter IN ({', '.join('?' * len(rewriters))})",
        [*rewriters],
    ).fetchone()
    return Usage(*row)
