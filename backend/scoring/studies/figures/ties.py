"""The figure of all-tied queries: a bar a measure."""

from backend.scoring.drawing import PALETTE, Specification, channel
from backend.scoring.studies.figures.parts import distinct, title
from backend.scoring.studies.study import Study


def ties(study: Study) -> Specification:
    """The share of queries on which all systems tie."""
    text = {"type": "text", "align": "left", "dx": 4, "fontSize": 11}
    return {
        "title": title(study, "How often does a measure see no difference?"),
        "width": 460,
        "height": {"step": 22},
        "data": {"values": study.rows},
        "encoding": {
            "x": channel("ratio:Q", title="queries on which all systems tie", axis={"format": "%"}),
            "y": channel("measure:N", title=None, sort=distinct(study, "measure")),
        },
        "layer": [
            {"mark": {"type": "bar", "color": PALETTE[0]}},
            {"mark": text, "encoding": {"text": channel("ratio:Q", format=".1%")}},
        ],
    }
