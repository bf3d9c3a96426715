"""Files of a benchmark and what its published evaluator prints for them, from `tests/scoring/benchmarks/golden`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from backend.scoring.scored_files import score_files
from backend.scoring.views.ranking import figures

FOLDER = Path(__file__).parent / "scoring/benchmarks/golden"


@dataclass(frozen=True)
class Golden:
    """Truth and run as files, and what each published evaluator prints, by figure."""

    truth: Path
    run: Path
    printed: Mapping[str, Mapping[str, str]]

    def summary(self, benchmark: str, **options: Any) -> dict[str, Any]:
        return score_files(self.truth, [self.run], benchmark=benchmark, **options).summary()

    def without(self, query: str, folder: Path) -> "Golden":
        """The same without a query's predictions."""
        run = folder / "fewer"
        if self.run.suffix == ".jsonl":
            lines = self.run.read_text().splitlines(keepends=True)
            run.write_text("".join(line for line in lines if str(json.loads(line)["qid"]) != query))
        else:
            predictions = json.loads(self.run.read_text())
            del predictions[query]
            run.write_text(json.dumps(predictions))
        return replace(self, run=run)


def read_golden(name: str, folder: Path) -> Golden:
    """A golden file of these benchmarks, its truth and run written to files of their own."""
    found = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    of_lines = found["truth_as"] == "lines"
    truth = folder / ("truth.jsonl" if of_lines else "truth.json")
    truth.write_text(_lines(found["truth"]) if of_lines else json.dumps(found["truth"]))
    lists = isinstance(found["run"], list) and "qid" in found["run"][0]
    run = folder / ("run.jsonl" if lists else "run.json")
    run.write_text(_lines(found["run"]) if lists else json.dumps(found["run"]))
    return Golden(truth, run, found["printed"])


def score(benchmark: str, golden: Golden, **options: Any) -> dict[str, str]:
    """What we print, by figure."""
    return {row[0].text: row[2].text for row in figures(golden.summary(benchmark, **options)).rows}


def _lines(entries: list[Any]) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)
