"""Write a study as files: its figure and its data.

Writes: `NAME.png` and `NAME.svg` (the figure) and `NAME.csv` (the data) in a folder.
"""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from backend.core.atomic_output import new_files
from backend.scoring.studies.study import Study

if TYPE_CHECKING:
    from backend.scoring.drawing import Specification


def write_study(study: Study, folder: Path, chart: "Specification | None" = None) -> list[Path]:
    """Write `NAME.csv`, `NAME.png` and `NAME.svg` into a folder, which is made if needed. Existing files are replaced.

    Every row of the CSV repeats the study's choices (its options), so that each number can be understood by itself.
    `chart` is the figure; None draws that of the studies of measures.

    Raises:
        ProjectError: the folder cannot be written.
    """
    # Import here: charts take as long to load as everything else together, and most commands need none.
    from backend.scoring.drawing import save
    from backend.scoring.studies.figures import draw

    chart = chart or draw(study)
    paths = [folder / f"{study.name}{ending}" for ending in (".csv", ".png", ".svg")]
    with new_files(folder) as part:
        (part / paths[0].name).write_text(_csv(study), encoding="utf-8", newline="")
        for path in paths[1:]:
            save(chart, part / path.name)
    return paths


def _csv(study: Study) -> str:
    flat = {name: _text(value) for name, value in study.choices.items() if name != "systems"}
    text = io.StringIO()
    writer = csv.DictWriter(text, [*study.rows[0], *(name for name in flat if name not in study.rows[0])])
    writer.writeheader()
    writer.writerows(flat | row for row in study.rows)
    return text.getvalue()


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}={choice}" for name, choice in value.items())
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return str(value)
