"""The type that describes a setting, and the settings that are in the database or in environment variables."""

from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from functools import partial

from backend.campaign.nouns import FIRST_ROUND_SEATS, SECOND_ROUND_SEATS
from backend.core.file_system import UMASK_VARIABLE
from backend.core.messages import said
from backend.core.server_options import BASE_PATH_VARIABLE, LOG_VARIABLE, METRICS_VARIABLE


class Home(StrEnum):
    """Where a setting is stored: in `reelrank.toml`, in the database, or in an environment variable."""

    FILE = "reelrank.toml"
    CAMPAIGN = "database"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class SettingEntry:
    """The description of one setting, used to check its values, and to make pages and documents about it.

    - `key` is the name of the setting in its `home`, the place where it is stored.
    - `meaning` is a sentence that explains it. `default` is its default value, or None.
    - For a number: `unit`, and the limits `least` (inclusive), `above` (exclusive) and `most` (inclusive).
    - For a text: `choices` are the allowed values; any text is allowed if there are none.
    - If `listed` is False, leads do not see the setting.
    - `label` is its name on the page Settings, where leads change it. If only the operator of the server may change it,
      `operator_only` says why.
    """

    key: str
    meaning: str
    default: str | float | None = None
    _: KW_ONLY
    home: Home
    unit: str = ""
    least: float | None = None
    above: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    listed: bool = True
    label: str = ""
    operator_only: str = ""

    @property
    def range(self) -> str:
        """The values that the setting may have, in words; empty if any value is allowed.

        >>> GOLD_SHARE.range, BATCH_SIZE.range, EXAM_MOST_MISSED.range
        ('above 0, at most 0.5', '1 to 40', '0 to 100 %')
        """
        if self.choices:
            return ", ".join(f"`{choice}`" for choice in self.choices)
        if self.least is not None and self.most is not None:
            text = f"{self.least:,.9g} to {self.most:,.9g}"
        else:
            limits = (("from", self.least), ("above", self.above), ("at most", self.most))
            text = ", ".join(f"{word} {limit:,.9g}" for word, limit in limits if limit is not None)
        return f"{text} {self.unit}".strip()


_campaign = partial(SettingEntry, home=Home.CAMPAIGN)
_variable = partial(SettingEntry, home=Home.ENVIRONMENT, listed=False)
_percent = partial(_campaign, unit="%", least=0, most=100)

MOST_CANDIDATES = 40
"""The most candidates of a query, and so of a batch (TVR-Ranking)."""
MOST_GOLD = 0.5
"""The largest share of gold questions: no more than half of the work."""

BATCH_SIZE = _campaign(
    "batch_size", said("How many pairs of a query are handed out together."), 20, least=1, most=MOST_CANDIDATES
)
EXAM_MOST_MISSED = _percent("exam_most_missed", "Default share of an exam's pairs that may be missed.", 20)
GOLD_SHARE = _campaign(
    "gold_share", "Share of each annotator's pairs that are gold questions.", 0.05, above=0, most=MOST_GOLD
)

CAMPAIGN = (
    _campaign(
        "scale", said("The grades that annotators choose from. The guideline has their words."), "that of TVR-Ranking"
    ),
    _campaign(
        "tolerance",
        said("How far the first two grades of a pair may differ before two more people grade it."),
        1,
        least=0,
    ),
    _campaign(
        "rounding",
        said("How a mean halfway between two grades is rounded to a relevance."),
        "half_up",
        choices=("half_up", "half_down"),
    ),
    _campaign("seats", "How many people grade a pair.", len(FIRST_ROUND_SEATS)),
    _campaign("further_seats", "How many more people grade it if they disagree.", len(SECOND_ROUND_SEATS)),
    _campaign("rule_version", "The rule that turns grades into a relevance.", "tvr-ranking-1"),
    BATCH_SIZE,
    _campaign("next_batch", said("When opening the next batch of a query is recommended. Leads decide.")),
    _campaign("describing", said("Who describes moments, and in which videos."), "nobody"),
    _campaign("assignments", said("Who grades which queries, and how many grades a day or in all."), "none"),
    _campaign("guideline", said("What annotators read before they grade."), "that of TVR-Ranking"),
    _campaign("tutorial", said("Whether newcomers practise before their first clip."), "on", choices=("on", "off")),
    _campaign("exam", said("What annotators have to pass before they work."), "none"),
    _campaign("exam_queries", "Default number of queries in an exam.", 10, least=1),
    _campaign("exam_pairs", "Default number of pairs of each query in an exam.", 10, least=1),
    EXAM_MOST_MISSED,
    _campaign(
        "gold",
        said("Pairs with known grades, mixed into the work to check that people still grade with care."),
        "off",
        choices=("on", "off"),
    ),
    GOLD_SHARE,
    _campaign(
        "gold_window", "How many of a person's latest answers to gold questions count for their accuracy.", 20, least=1
    ),
    _campaign("gold_fewest", "How many of these answers a person needs before their accuracy counts.", 10, least=1),
    _percent("gold_warn", "Accuracy below which a person is warned.", 70),
    _percent("gold_pause", "Accuracy below which a person is paused.", 50),
    _campaign("licence", said("The terms under which others may use releases.")),
    _campaign("citation", said("How to cite releases of this project.")),
)
"""The settings in the database. Each change of one is an event, or a version."""

DATABASE = _variable(
    "REELRANK_DATABASE",
    "Address of the database in PostgreSQL. It overrides `database` in the file, so the file needs no password.",
)
PROJECT = _variable("REELRANK_PROJECT", "Folder that the front end serves; `reelrank serve` sets it.")

ENVIRONMENT = (
    DATABASE,
    PROJECT,
    _variable(UMASK_VARIABLE, "Permissions that are withheld from new files and folders of a project.", "077"),
    _variable(LOG_VARIABLE, "The form of the server's log; also `--log`.", "text", choices=("text", "json")),
    _variable(METRICS_VARIABLE, "HOST:PORT where Prometheus reads metrics; also `--metrics`."),
    _variable(BASE_PATH_VARIABLE, "Path of the host under which the app is served; also `--base-path`."),
    _variable("OPENAI_API_KEY", "API key of the language model's endpoint. It is read only from here."),
    _variable(
        "OPENAI_BASE_URL",
        "Endpoint of the language model that writes rewrites for the page Set up; OpenAI's by default.",
    ),
)
"""Settings from the environment. All commands of a project, and its server, should see the same values."""
