"""Draw a replay: what each policy saves, and what it does to the scores and the order of systems."""

from backend.scoring.drawing import Specification, channel
from backend.scoring.studies.figures import distinct, lines_of, title
from backend.scoring.studies.study import Study

_PANELS = (
    ("tau_b", "tau_low", "tau_high", "tau-b with the order of systems by all grades"),
    ("change", "change_low", "change_high", "change of the systems' mean NDCG"),
)


def draw(study: Study) -> Specification:
    """Draw tau-b and the change of NDCG over the share of grades that are saved: a line for each policy.

    A point is a setting, with its 95 % interval.
    """
    shown = Study(study.name, study.choices, [row for row in study.rows if row["setting"] is not None], [])
    policies = [str(name) for name in distinct(shown, "policy")]
    panels = [_panel(shown, policies, *fields) for fields in _PANELS]
    return {"title": title(study, "How many grades can be saved?"), "hconcat": panels}


def _panel(study: Study, policies: list[str], value: str, low: str, high: str, name: str) -> Specification:
    x = channel("saved_share:Q", title="share of grades saved", axis={"format": "%"}, scale={"domain": [0, 1]})
    colours = lines_of(policies, "policy")
    colours["color"]["title"] = colours["strokeDash"]["title"] = "policy"
    scale = {"zero": False}
    return {
        "width": 360,
        "height": 300,
        "data": {"values": [row for row in study.rows if row[value] is not None]},
        "encoding": {"x": x, **colours},
        # The first layer draws the legend, so the pale intervals come last.
        "layer": [
            {
                "mark": {"type": "line", "point": {"size": 35, "filled": True}, "strokeWidth": 1.8},
                "encoding": {"y": channel(f"{value}:Q", title=name, scale=scale)},
            },
            {
                "mark": {"type": "rule", "opacity": 0.45},
                "encoding": {"y": channel(f"{low}:Q", title=name, scale=scale), "y2": {"field": high}},
            },
        ],
    }
