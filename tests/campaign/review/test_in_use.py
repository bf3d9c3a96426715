"""The parts of a campaign that are in use."""

from backend.campaign.corpus.describing.model import DescribingChoice
from backend.campaign.corpus.describing.opening import choose_describing
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.model import InUse
from backend.campaign.review.status import in_use
from backend.store.connection import writing
from support import NOW, Judging


def test_a_part_is_in_use_from_its_first_row_on(judging: Judging) -> None:
    project = judging.project
    assert in_use(project, OPERATOR) == InUse(captions=True, rewrites=False, descriptions=False, gold=False)
    pair = judging.pairs()[0].pair
    judging.grade(0, pair, 4)
    assert not in_use(project, OPERATOR).gold
    judging.grade(1, pair, 4)
    assert in_use(project, OPERATOR).gold
    choose_describing(project, OPERATOR, DescribingChoice(open=True), now=NOW)
    assert in_use(project, OPERATOR).descriptions
    choose_describing(project, OPERATOR, DescribingChoice(open=False), now=NOW)
    assert in_use(project, OPERATOR).descriptions
    with writing(project.store) as db:
        db.conn.execute(
            "INSERT INTO caption (moment_id, text, kind, source_caption_id) "
            "SELECT moment_id, 'Somebody laughs', 'rewritten', caption_id FROM caption LIMIT 1"
        )
    assert in_use(project, OPERATOR) == InUse(captions=True, rewrites=True, descriptions=True, gold=True)
