"""Score runs, which are systems' ranked moments for queries, and work with annotation campaigns, from Python.

    from reelrank import Campaign, compare, evaluate

This imports nothing that annotation needs: no database, video, model or page. `Campaign` is imported when it is used.
"""

from typing import TYPE_CHECKING

from backend import __version__
from backend.core.errors import InputError
from backend.scoring.evaluate import compare, evaluate
from backend.scoring.latex import to_latex
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold
from backend.scoring.pools.files import read_pools
from backend.scoring.pools.model import PoolConventions as Pooling
from backend.scoring.pools.model import PoolFile, Pools
from backend.scoring.query_matches import QueryMatches
from backend.scoring.requested_values import Key, parse_key
from backend.scoring.result import Evaluation, Evaluations
from backend.scoring.run_files import RunFile, RunList, read_run_list
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.scored_files import evaluate_files, score_files, score_splits
from backend.scoring.statistics.sureness import Sureness, add_statistics
from backend.scoring.views.splits import joined
from backend.scoring.views.table import Shown

if TYPE_CHECKING:
    from backend.api.campaign import Campaign
else:

    def __getattr__(name: str) -> object:
        if name != "Campaign":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from backend.api.campaign import Campaign

        return Campaign

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = [
    "Campaign",
    "Evaluation",
    "Evaluations",
    "InputError",
    "Key",
    "Matches",
    "Measure",
    "PoolFile",
    "Pooling",
    "Pools",
    "QueryMatches",
    "RunFile",
    "RunList",
    "Scoreboard",
    "Shown",
    "Sureness",
    "Threshold",
    "__version__",
    "add_statistics",
    "compare",
    "evaluate",
    "evaluate_files",
    "joined",
    "parse_key",
    "read_pools",
    "read_run_list",
    "score_files",
    "score_splits",
    "to_latex",
]
