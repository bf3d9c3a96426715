"""What language models were asked and what they answered: reads and writes."""

from collections.abc import Mapping, Sequence

from backend.campaign.corpus.captions.model import Usage
from backend.store.engine import Database, added


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


def usage(db: Database, rewriters: Sequence[str]) -> Usage:
    """What all requests of these versions took, in whatever run."""
    row = db.conn.execute(
        "SELECT count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0), "
        "count(*) - count(tokens_in + tokens_out) FROM rewrite_request "
        f"WHERE rewriter IN ({', '.join('?' * len(rewriters))})",
        [*rewriters],
    ).fetchone()
    return Usage(*row)
