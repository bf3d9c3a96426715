"""Whether others have gone on from somebody's grade, which then stays as it is."""

from enum import StrEnum

from backend.core.ids import AnnotatorId, PairId
from backend.store.engine import Database


class GoneOn(StrEnum):
    """How somebody has gone on from another person's grade."""

    GRADED = "graded"
    ON_SCREEN = "on screen"


def gone_on_from(db: Database, pair_id: PairId, me: AnnotatorId, *, now: float) -> GoneOn | None:
    """Whether, and how, anybody has gone on from this person's grade of a pair.

    That is: somebody graded it later, or somebody at a later round (two seats are one) has the clip on screen. A clip
    that only lies ahead on somebody's desk, or whose lease has run out, nobody has gone on to.
    """
    graded, shown = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM judgement WHERE pair_id = :pair AND annotator_id <> :me AND judgement_id > "
        "(SELECT max(judgement_id) FROM judgement WHERE pair_id = :pair AND annotator_id = :me)), "
        "EXISTS (SELECT 1 FROM seat AS mine JOIN seat AS theirs USING (pair_id) WHERE pair_id = :pair "
        "AND mine.annotator_id = :me AND (mine.seat_no + 1) / 2 < (theirs.seat_no + 1) / 2 "
        "AND theirs.annotator_id <> :me AND theirs.shown_at IS NOT NULL AND theirs.lease_until >= :now)",
        {"pair": pair_id, "me": me, "now": now},
    ).fetchone()
    return GoneOn.GRADED if graded else GoneOn.ON_SCREEN if shown else None
