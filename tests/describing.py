"""People who describe videos: a project where they may, and what their browsers send."""

from itertools import count

from backend.campaign.corpus.describing.model import DescribeAnswer, DescribeEvent, DescribeKind, DescribingChoice
from backend.campaign.corpus.describing.opening import choose_describing
from backend.campaign.corpus.describing.work import describe_exchange
from support import NOW, Judging

_number = count()


def opened(judging: Judging, *, at: float = NOW - 3600) -> Judging:
    """The project with describing open for everybody in all six videos of 60 s, which have files by name."""
    judging.rows("UPDATE video SET path = name, fps_num = 25, fps_den = 1, has_audio = 0, sha256 = name")
    choose_describing(judging.project, judging.lead, DescribingChoice(open=True), now=at)
    return judging


def event(
    description: str,
    kind: DescribeKind = DescribeKind.DESCRIBE,
    *,
    video: str = "1",
    span: tuple[float, float] = (2.0, 5.0),
    sentence: str = "A woman pours tea.",
    key: str = "",
) -> DescribeEvent:
    """An event with a key of its own."""
    return DescribeEvent(key or f"event {next(_number)}", kind, video, description, *span, sentence, 4000, 3000)


def send(judging: Judging, who: int, *events: DescribeEvent, at: float = NOW) -> DescribeAnswer:
    """The browser of annotator number `who` sends events."""
    return describe_exchange(judging.project, judging.annotators[who], events, now=at)
