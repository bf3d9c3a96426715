"""Test any measure against the two axioms of AxIoU, by trying every change of one prediction in short ranked lists.

A change replaces the prediction at rank k of a ranking. r(j) is the IoU of rank j with the best relevant moment.

- INV-k: if the new prediction is better than the old one (condition A.1), but no better than the best one before it
  (A.2), the measure does not change.
- MON-k: if the new prediction is better than the old one (A.1) and than all before it (A.3), the measure rises.

Source: Togashi et al., AxIoU, CVPR 2022, section 5, and with these conditions the supplement, A.1. Ranks beyond the
cut-off K are left out: there no measure can rise.

The lists hold all combinations of predictions that overlap one relevant moment by one of a few IoUs, or none. The
measure itself scores them, so a new measure needs no further code. For a broken axiom, the study shows a shortest
counterexample: the fewest predictions, then the fewest relevant moments, then the largest violation. An axiom that is
not broken here is not proved beyond these lists.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from backend.core.progress import Steps
from backend.core.timespan import Flags, Floats
from backend.scoring.files.entries import parse_run_mapping, parse_truth_mapping
from backend.scoring.presets import Settings
from backend.scoring.scores import prepare_run, prepare_truth, score
from backend.scoring.statistics.distributions import TIE
from backend.scoring.studies.study import Cell

Axiom = Literal["INV-k", "MON-k"]
AXIOMS: tuple[Axiom, ...] = ("INV-k", "MON-k")
LONGEST = 4
_RELEVANT = (1, 2)
"""How many relevant moments (of relevance 1) a query has; both numbers are tried."""
_SECONDS = 1000
"""Length of a moment, in seconds. IoUs of up to six decimals are then whole milliseconds."""


SettingsOf = Callable[[int], Settings]
"""A function that returns the settings for lists of a given length."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A prediction that a list may hold: its IoU with the relevant moment numbered `moment`.

    If the IoU is 0, `moment` is the number of a moment that does not exist.
    """

    iou: float
    moment: int

    def text(self, relevant: int) -> str:
        """Return the IoU as text, such as `0.5`. If the query has two relevant moments, the text names one: `0.5 of B`.

        `relevant` is the number of relevant moments.
        """
        return f"{self.iou:g}" + (f" of {'AB'[self.moment]}" if relevant > 1 and self.iou else "")


@dataclass(frozen=True, slots=True)
class Breach:
    """Two rankings that break an axiom of measures: changing one prediction changes their values in a wrong way.

    `before` and `after` are the predictions. They differ at rank `rank`, counted from 1.
    """

    rank: int
    before: tuple[Choice, ...]
    after: tuple[Choice, ...]
    value_before: float
    value_after: float


@dataclass(frozen=True, slots=True)
class Lists:
    """All ranked lists of one length whose predictions are taken from `choices`, scored by one measure.

    `values` has one axis for each rank, which is indexed by the choice at this rank. `values[0, 2]` is the score of the
    list of choices 0 and 2.
    """

    choices: tuple[Choice, ...]
    values: Floats

    def breach(self, axiom: Axiom) -> tuple[int, Breach | None]:
        """Try every replacement of one prediction in the lists, to find out whether it breaks the axiom.

        Return the number of replacements to which the axiom applies, and the one that breaks it most, or None.
        """
        changes = 0
        worst: tuple[float, int, tuple[int, ...]] = (-np.inf, -1, ())
        for place in range(self.values.ndim):
            applies, harm, gain = self._harm(axiom, place)
            changes += int(applies.sum())
            broken = applies & (harm > TIE if axiom == "INV-k" else harm >= -TIE)
            if broken.any():
                # Among equal violations, prefer the largest change of the IoU: it is the clearest example.
                weight = np.where(broken, np.round(harm, 9) + 1e-6 * gain, -np.inf)
                cell = np.unravel_index(int(weight.argmax()), weight.shape)
                if weight[cell] > worst[0]:
                    worst = (float(weight[cell]), place, tuple(map(int, cell)))
        return changes, self._breach_at(worst[1], worst[2]) if worst[2] else None

    def _harm(self, axiom: Axiom, place: int) -> tuple[Flags, Floats, Floats]:
        """Return three arrays about all replacements of the prediction at index `place` of the lists.

        They say whether the axiom applies to a replacement, how far it breaks the axiom, and by how much the IoU of the
        prediction changes. Each array has shape (choices,) * (length + 1). The first axes are the predictions at the
        other places, in order. The last two axes are the old and the new prediction.
        """
        iou = np.array([choice.iou for choice in self.choices])
        others = self.values.ndim - 1
        best = np.zeros((1,) * others)
        for earlier in range(place):
            shape = [1] * others
            shape[earlier] = len(iou)
            best = np.maximum(best, iou.reshape(shape))
        best, old, new = best[..., None, None], iou[:, None], iou[None, :]
        values = np.moveaxis(self.values, place, -1)
        rise = values[..., None, :] - values[..., :, None]
        if axiom == "INV-k":
            applies = (old < new) & (new <= best)
            harm = np.abs(rise)
        else:
            applies, harm = new > np.maximum(old, best), -rise
        return np.broadcast_to(applies, rise.shape), harm, np.broadcast_to(np.abs(new - old), rise.shape)

    def _breach_at(self, place: int, cell: tuple[int, ...]) -> Breach:
        *others, old, new = cell
        before, after = (tuple([*others[:place], choice, *others[place:]]) for choice in (old, new))
        return Breach(
            place + 1,
            tuple(self.choices[n] for n in before),
            tuple(self.choices[n] for n in after),
            float(self.values[before]),
            float(self.values[after]),
        )


def levels(thresholds: Sequence[float]) -> tuple[float, ...]:
    """Return the IoUs to try besides 0: half of each threshold, the threshold, halfway from it to 1, and 1.

    >>> levels([0.5])
    (0.25, 0.5, 0.75, 1.0)
    """
    near = {value for level in thresholds for value in (level / 2, level, (1 + level) / 2)}
    return tuple(sorted({*(round(value, 6) for value in near), 1.0}))


def try_axioms(settings_of: SettingsOf, longest: int, progress: Steps | None = None) -> list[dict[str, Cell]]:
    """Test measures against the axioms INV-k and MON-k of the AxIoU paper, on all short lists of predictions.

    INV-k: replacing a prediction by a better one does not change the value if the best before it is as good. MON-k: the
    value rises if the new one is better than the old one and all before it.

    Return a row for each key (such as `ndcg@3,0.5`) and axiom. If the axiom is broken, the row has a shortest
    counterexample. A key whose cut-off follows the length of the lists is shown with `K`, such as `ndcg@K,0.5`. Other
    cut-offs are shown as numbers.

    Args:
        settings_of: returns the settings for lists of a length; their keys have the same order for all lengths.
        longest: the largest number of predictions in a list, 1 to `LONGEST`.
        progress: called after the lists of each length and number of relevant moments.
    """
    names = [
        key if key == other else key.replace(f"@{longest}", "@K", 1)
        for key, other in zip(settings_of(longest).keys, settings_of(longest + 1).keys, strict=True)
    ]
    changes = {(number, axiom): 0 for number in range(len(names)) for axiom in AXIOMS}
    broken_rows: dict[tuple[int, Axiom], dict[str, Cell]] = {}
    for done, (relevant, lists) in enumerate(_all_lists(settings_of, longest), start=1):
        for number, axiom in changes:
            if (number, axiom) in broken_rows:
                continue
            tried, breach = lists[number].breach(axiom)
            changes[number, axiom] += tried
            if breach:
                broken_rows[number, axiom] = _row(names[number], axiom, changes[number, axiom], relevant, breach)
        if progress:
            progress(done, longest * len(_RELEVANT))
    return [broken_rows.get(place) or _row(names[place[0]], place[1], tried) for place, tried in changes.items()]


def _all_lists(settings_of: SettingsOf, longest: int) -> Iterator[tuple[int, list[Lists]]]:
    """Yield the number of relevant moments and, for each key, all scored lists of predictions; the shortest first."""
    for length in range(1, longest + 1):
        settings = settings_of(length)
        for relevant in _RELEVANT:
            choices = (
                Choice(0.0, relevant),
                *(
                    Choice(level, moment)
                    for level in levels((*settings.mu, *settings.theta))
                    for moment in range(relevant)
                ),
            )
            values = _score(settings, choices, length, relevant)
            shape = (len(choices),) * length
            yield relevant, [Lists(choices, row.reshape(shape)) for row in values]


def _score(settings: Settings, choices: Sequence[Choice], length: int, relevant: int) -> Floats:
    """Score all lists of `length` predictions that can be made from `choices`, shape (keys, lists).

    Each list is a query of its own, with `relevant` relevant moments.
    """
    lasts_s = _start(relevant + 1)
    moments = [
        {"video": "v", "start": _start(n), "end": _start(n) + _SECONDS, "relevance": 1, "duration": lasts_s}
        for n in range(relevant)
    ]
    predictions = [
        ["v", _start(choice.moment), _start(choice.moment) + (choice.iou or 1) * _SECONDS, 0.0] for choice in choices
    ]
    lists = {str(n): list(chosen) for n, chosen in enumerate(product(predictions, repeat=length))}
    key = prepare_truth(parse_truth_mapping(dict.fromkeys(lists, moments)), settings)
    return score(key, prepare_run(parse_run_mapping(lists), key, settings), settings).values


def _start(moment: int) -> int:
    return 2 * moment * _SECONDS


def _row(key: str, axiom: Axiom, changes: int, relevant: int = 0, breach: Breach | None = None) -> dict[str, Cell]:
    def text(ranking: tuple[Choice, ...]) -> str:
        return ", ".join(choice.text(relevant) for choice in ranking)

    return {
        "measure": key,
        "axiom": axiom,
        "verdict": "broken" if breach else "not broken",
        "changes": changes,
        "relevant": relevant if breach else None,
        "rank": breach.rank if breach else None,
        "before": text(breach.before) if breach else None,
        "after": text(breach.after) if breach else None,
        "value_before": breach.value_before if breach else None,
        "value_after": breach.value_after if breach else None,
    }
