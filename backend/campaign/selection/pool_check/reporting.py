"""Report on a check of pools: the share of videos that stand wrongly in their pool.

*Reads* pool_place and verdicts. Writes nothing.
"""

from collections.abc import Sequence

from backend.campaign.nouns import Lead, Operator, Verdict
from backend.campaign.selection.pool_check import rows
from backend.campaign.selection.pool_check.model import CheckReport, PutInAs, Share, WrongVideo
from backend.campaign.selection.pool_check.rows import PoolPlace
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.scoring.statistics.distributions import wilson
from backend.store.connection import reading

MATCHES = 1
"""The grade of a video that matches."""


@in_charge
def pool_check_report(project: Project, by: Lead | Operator) -> CheckReport | None:
    """Return the shares of videos that stand wrongly in their pool; None in a project that checks no pools."""
    with reading(project.store) as db:
        facts, places = rows.facts(db), rows.places(db)
    if facts is None:
        return None
    of = {kind: [place for place in places if place.put_in_as is kind] for kind in PutInAs}
    return CheckReport(
        facts,
        _share(of[PutInAs.POSITIVE]),
        _share(of[PutInAs.NEGATIVE]),
        _share(places),
        tuple(WrongVideo(one.query, one.source, one.video, one.put_in_as) for one in places if _is_wrong(one)),
    )


def _is_wrong(place: PoolPlace) -> bool:
    return place.relevance is not None and (place.relevance == MATCHES) != (place.put_in_as is PutInAs.POSITIVE)


def _share(places: Sequence[PoolPlace]) -> Share:
    settled = [place for place in places if place.relevance is not None]
    wrong = sum(map(_is_wrong, settled))
    low, high = wilson(wrong, len(settled)) if settled else (None, None)
    return Share(
        settled=len(settled),
        wrong=wrong,
        share=wrong / len(settled) if settled else None,
        low=low,
        high=high,
        waiting=sum(not place.verdict.is_settled for place in places),
        undecided=sum(place.verdict is Verdict.DISCARDED for place in places),
    )
