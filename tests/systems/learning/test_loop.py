"""Training learns, repeats itself, goes on where it was stopped, and stops by itself."""

import csv
import dataclasses
import math
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

from backend.core.errors import InputError, ProjectError
from backend.systems.learning import checkpoints, objective
from backend.systems.learning.batches import batch_of, batches, order_seed, step_seeds
from backend.systems.learning.config import Config, TrainingOptions
from backend.systems.learning.loop import STOPPING, SeedReport, train
from backend.systems.learning.systems.late import LossOptions
from learnable import config, late, material

CPU = torch.device("cpu")
Draw = Callable[..., None]


@pytest.fixture(autouse=True)
def nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> Draw:
    """Two pictures take longer than the training of these tests; who wants them gets the real function."""
    real = checkpoints.write_pictures
    monkeypatch.setattr(checkpoints, "write_pictures", lambda folder, *_: (folder / "history.svg").write_text(""))
    return real


def files(report: SeedReport) -> dict[str, bytes]:
    """What depends on nothing but data, settings and seed."""
    return {
        name: (report.folder / name).read_bytes() for name in ("best.safetensors", "last.safetensors", "history.csv")
    }


@pytest.mark.long
@pytest.mark.parametrize("video", ["nce", "hinge"])
def test_one_batch_is_learned_by_heart(tmp_path: Path, video: str) -> None:
    made = material(tmp_path)
    torch.manual_seed(0)
    network = late(video=video)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    # A query that a video shows twice has two right answers: one pair of each query.
    numbers = np.array([int(np.flatnonzero(made.pairs.query == n)[0]) for n in range(6)])
    made.pairs.weight[:] = 1
    batch = batch_of(made.pairs, made.clips, made.queries, numbers, CPU)
    losses = []
    for _ in range(250):
        loss = network.losses(batch, None)["loss"]
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[0] > 3
    # With each pair's own video alone, `nce` has it twice in the denominator: it cannot fall below log 2.
    assert losses[-1] < 0.02 + (math.log(2) if video == "nce" else 0)


@pytest.mark.long
def test_training_finds_the_moments_of_queries_that_it_never_saw(tmp_path: Path, nothing_is_drawn: Draw) -> None:
    settings = config(tmp_path, training=TrainingOptions(epochs=60, evaluate_every=6, batch=8, learning_rate=5e-3))
    report = train(settings, material(tmp_path), 0, CPU)
    rows = list(csv.DictReader((report.folder / "history.csv").read_text().splitlines()))
    assert float(rows[0][STOPPING]) < 0.4
    assert report.ndcg > 0.8
    assert report.ndcg == max(float(row[STOPPING]) for row in rows) == float(rows[int(report.best) // 6 - 1][STOPPING])
    card, _ = checkpoints.read_best(report.folder)
    assert (card.epoch, card.ndcg, card.longest) == (report.best, report.ndcg, 3)
    state = checkpoints.read_state(report.folder)
    assert state is not None
    nothing_is_drawn(report.folder, state[0].evaluations, STOPPING, report.best)
    assert (report.folder / "history.png").read_bytes().startswith(b"\x89PNG")
    assert "validation queries" in (report.folder / "history.svg").read_text()


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(tmp_path: Path) -> None:
    first, again = (train(config(tmp_path, out=str(tmp_path / name)), material(tmp_path), 3, CPU) for name in "ab")
    torch.rand(5)  # what was drawn before makes no difference
    other = train(config(tmp_path, out=str(tmp_path / "a")), material(tmp_path), 4, CPU)
    assert files(first) == files(again)
    assert files(first)["best.safetensors"] != files(other)["best.safetensors"]


def test_every_epoch_has_another_order_of_all_pairs(tmp_path: Path) -> None:
    made = material(tmp_path)
    orders = []
    for seed, epoch in ((0, 1), (0, 2), (1, 1)):
        every = batches(made.pairs, made.clips, made.queries, 7, order_seed(seed, epoch), CPU)
        orders.append(np.concatenate([batch.numbers for batch in every]).tolist())
    assert [sorted(order) for order in orders] == [list(range(24))] * 3
    assert orders[0] != orders[1] != orders[2] != orders[0]


def test_training_leaves_the_randomness_of_others_alone(tmp_path: Path) -> None:
    torch.manual_seed(8)
    wanted = torch.rand(3)
    torch.manual_seed(8)
    train(config(tmp_path, training=TrainingOptions(epochs=1, batch=8)), material(tmp_path), 3, CPU)
    assert torch.equal(torch.rand(3), wanted)
    assert torch.get_deterministic_debug_mode() == 0


def test_every_step_has_seeds_of_its_own() -> None:
    every = [one for seed in (0, 1) for step in range(4) for one in step_seeds(seed, step)]
    assert len(set(every) | {order_seed(seed, epoch) for seed in (0, 1) for epoch in range(4)}) == len(every) + 8


@pytest.mark.parametrize("every", [0.3, 0.5, 2])
@pytest.mark.parametrize("step", [2, 3, 4, 6, 8])
def test_stopped_and_gone_on_is_as_never_stopped(tmp_path: Path, step: int, every: float) -> None:
    """Epochs have three steps: evaluated after each step, twice in an epoch, and after the second and third epoch."""

    def stop(what: str, done: int, total: int) -> None:
        if done == step:
            raise KeyboardInterrupt

    def settings(out: str) -> Config:
        options = TrainingOptions(epochs=3, evaluate_every=every, batch=8, learning_rate=3e-3)
        return config(tmp_path, out=str(tmp_path / out), training=options)

    whole = train(settings("whole"), material(tmp_path), 3, CPU)
    with pytest.raises(KeyboardInterrupt):
        train(settings("stopped"), material(tmp_path), 3, CPU, stop)
    gone_on = train(settings("stopped"), material(tmp_path), 3, CPU)
    # The last state before the stop is that of an epoch's end or of an evaluation.
    evaluated = {0.3: range(9), 0.5: (2, 3, 5, 6, 8)}.get(every, (6,))
    saved = max({0, 3, 6} & set(range(step)) | {one for one in evaluated if one < step})
    assert gone_on.resumed == pytest.approx(saved / 3)
    assert files(whole) == files(gone_on)


def test_how_often_it_is_evaluated_changes_no_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ndcg = iter(range(1, 100))
    monkeypatch.setattr(objective, "figures", lambda *_: {STOPPING: float(next(ndcg))})
    weights = []
    for every in (0.5, 3):
        options = TrainingOptions(epochs=3, evaluate_every=every, batch=8, learning_rate=3e-3)
        report = train(config(tmp_path, out=str(tmp_path / str(every)), training=options), material(tmp_path), 3, CPU)
        assert report.best == 3
        weights.append(checkpoints.read_best(report.folder)[1])
        rows = list(csv.DictReader((report.folder / "history.csv").read_text().splitlines()))
        epochs = [f"{step / 3:g}" for step in (2, 3, 5, 6, 8, 9)] if every == 0.5 else ["3"]
        assert [row["epoch"] for row in rows] == epochs
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_the_losses_of_an_evaluation_are_of_the_steps_since_the_last(tmp_path: Path) -> None:
    means = {}
    for every in (1 / 3, 3):
        options = TrainingOptions(epochs=3, evaluate_every=every, batch=10, learning_rate=3e-3)
        report = train(config(tmp_path, out=str(tmp_path / str(every)), training=options), material(tmp_path), 3, CPU)
        rows = list(csv.DictReader((report.folder / "history.csv").read_text().splitlines()))
        pairs = [10, 10, 4] * 3 if every < 1 else [24 * 3]
        means[every] = np.average([float(row["loss"]) for row in rows], weights=pairs)
    assert means[1 / 3] == pytest.approx(means[3])


def test_the_learning_rate_follows_its_schedule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[float] = []
    real = torch.optim.AdamW.step

    def noted(self: torch.optim.AdamW) -> None:
        rates.append(self.param_groups[0]["lr"])
        real(self)

    monkeypatch.setattr(torch.optim.AdamW, "step", noted)
    options = TrainingOptions(epochs=3, evaluate_every=3, batch=8, learning_rate=3e-3, warmup=0.25)
    train(config(tmp_path, training=options), material(tmp_path), 3, CPU)
    wanted = [0, 4 / 9, 8 / 9, 8 / 9, 20 / 27, 16 / 27, 4 / 9, 8 / 27, 4 / 27]
    assert rates == pytest.approx([3e-3 * factor for factor in wanted])


def test_killed_between_two_files_is_as_never_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = train(config(tmp_path, out=str(tmp_path / "whole")), material(tmp_path), 3, CPU)
    settings = config(tmp_path, out=str(tmp_path / "killed"))
    real, calls = checkpoints.write_last, []

    def killed(*given: object) -> None:
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(checkpoints, "write_last", killed)
    with pytest.raises(KeyboardInterrupt):
        train(settings, material(tmp_path), 3, CPU)
    assert files(whole) == files(train(settings, material(tmp_path), 3, CPU))


def test_more_patience_goes_on_but_other_epochs_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The learning rate of every step depends on the number of epochs."""

    def settings(patience: int, out: str, epochs: int = 4) -> Config:
        options = TrainingOptions(epochs=epochs, evaluate_every=1, batch=8, patience=patience)
        return config(tmp_path, out=str(tmp_path / out), training=options)

    def ndcg(*_: object) -> dict[str, float]:
        return {STOPPING: 0.5}

    monkeypatch.setattr(objective, "figures", ndcg)
    assert train(settings(2, "a"), material(tmp_path), 3, CPU).epochs == 3
    longer = train(settings(9, "a"), material(tmp_path), 3, CPU)
    assert (longer.resumed, longer.epochs) == (3, 4)
    assert files(longer) == files(train(settings(9, "b"), material(tmp_path), 3, CPU))
    done = train(settings(9, "a"), material(tmp_path), 3, CPU)
    assert (done.resumed, done.epochs) == (4, 4)
    with pytest.raises(ProjectError, match="was trained with other settings"):
        train(settings(9, "a", epochs=5), material(tmp_path), 3, CPU)


@pytest.mark.parametrize(
    ("ndcg", "best", "evaluations"),
    [
        ([0.1, 0.2, 0.3, 0.2, 0.3, 0.9], 3, 5),  # the second .3 is no better than the first
        ([0.5, 0.4, 0.3, 0.9, 0.9, 0.9], 1, 3),
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 6, 6),
        ([0.0, 0.0, 0.1, 0.0, 0.2, 0.1], 5, 6),  # never two in a row without a better one
    ],
)
def test_it_stops_two_evaluations_after_the_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ndcg: list[float], best: int, evaluations: int
) -> None:
    values = iter(ndcg)
    monkeypatch.setattr(objective, "figures", lambda *_: {STOPPING: next(values)})
    # Six evaluations, of each other step: twice in each of three epochs of four steps.
    settings = config(tmp_path, training=TrainingOptions(epochs=3, evaluate_every=0.5, batch=6, patience=2))
    report = train(settings, material(tmp_path), 3, CPU)
    assert (report.best, report.epochs, report.stopped_early) == (best / 2, evaluations / 2, evaluations < 6)
    assert report.ndcg == ndcg[best - 1]
    assert checkpoints.read_best(report.folder)[0].epoch == best / 2


def test_other_settings_or_data_do_not_go_on(tmp_path: Path) -> None:
    settings = config(tmp_path, training=TrainingOptions(epochs=1, batch=8))
    train(settings, material(tmp_path), 3, CPU)
    told = "was trained with other settings, or other data: name another folder `out`"
    with pytest.raises(ProjectError, match=told):
        train(msgspec.structs.replace(settings, loss=LossOptions(weighted=False)), material(tmp_path), 3, CPU)
    with pytest.raises(ProjectError, match=told):
        train(settings, material(tmp_path, seed=1), 3, CPU)
    made = material(tmp_path)
    for change in ({"videos": made.clips.videos[::-1]}, {"durations_s": made.clips.durations_s - 0.5}):
        other = dataclasses.replace(made, clips=dataclasses.replace(made.clips, **change))
        with pytest.raises(ProjectError, match=told):  # the same weights, but other epochs may be the best
            train(settings, other, 3, CPU)
    made = material(tmp_path)
    (tmp_path / "val.json").write_text((tmp_path / "val.json").read_text().replace('"relevance":4', '"relevance":3'))
    with pytest.raises(ProjectError, match=told):
        train(settings, made, 3, CPU)


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out/seed-3").mkdir(parents=True)
    (tmp_path / "out/seed-3/thesis.tex").write_text("")
    with pytest.raises(ProjectError, match="was not made by training"):
        train(config(tmp_path), material(tmp_path), 3, CPU)
    assert [one.name for one in (tmp_path / "out/seed-3").iterdir()] == ["thesis.tex"]


def test_what_a_killed_first_epoch_left_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "out/seed-3/.reelrank-k1lled").mkdir(parents=True)
    (tmp_path / "out/seed-3/settings.json").touch()
    report = train(config(tmp_path, training=TrainingOptions(epochs=1, batch=8)), material(tmp_path), 3, CPU)
    assert report.epochs == 1


def test_two_do_not_train_into_one_folder_at_once(tmp_path: Path) -> None:
    settings, made = config(tmp_path, training=TrainingOptions(epochs=1, batch=8)), material(tmp_path)
    refusals = []

    def meanwhile(*_: object) -> None:
        if not refusals:
            with pytest.raises(
                ProjectError, match=r"seed-3 is being trained into by another process: wait for it"
            ) as told:
                train(settings, made, 3, CPU)
            with pytest.raises(ProjectError, match="is being trained into"):
                checkpoints.require_alone(tmp_path / "out/seed-3")
            train(settings, made, 4, CPU)  # another seed has a folder of its own
            refusals.append(told)

    report = train(settings, made, 3, CPU, meanwhile)
    alone = train(msgspec.structs.replace(settings, out=str(tmp_path / "alone")), made, 3, CPU)
    assert refusals
    assert files(report) == files(alone)
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == ["seed-3", "seed-4"]


def test_losses_that_explode_are_told(tmp_path: Path) -> None:
    settings = config(tmp_path, training=TrainingOptions(epochs=9, batch=8, learning_rate=1e6, weight_decay=1e6))
    with pytest.raises(InputError, match=r"no longer finite: lower `training\.learning_rate`"):
        train(settings, material(tmp_path), 3, CPU)


def test_a_damaged_checkpoint_is_refused_by_name(tmp_path: Path) -> None:
    settings = config(tmp_path, training=TrainingOptions(epochs=1, batch=8))
    report = train(settings, material(tmp_path), 3, CPU)
    (report.folder / "last.safetensors").write_bytes(b"not a checkpoint")
    with pytest.raises(InputError, match=r"last\.safetensors: is of another version, or damaged"):
        train(settings, material(tmp_path), 3, CPU)
    with pytest.raises(InputError, match=r"has no best\.safetensors: name a folder such as OUT/seed-0"):
        checkpoints.read_best(tmp_path)


def test_a_pair_weighs_as_its_similarity(tmp_path: Path) -> None:
    """TVR-Ranking, C.1: twice the similarities, twice the loss; a pair of similarity 0 does not count."""
    made = material(tmp_path)
    network = late()

    def loss(weights: list[float]) -> float:
        made.pairs.weight[[0, 4]] = weights
        batch = batch_of(made.pairs, made.clips, made.queries, np.array([0, 4]), CPU)
        losses = network.losses(batch, None)
        assert losses["video"].item() > 0.01
        return float(losses["loss"].item())

    first, second = loss([1, 0]), loss([0, 1])
    assert first != pytest.approx(second)
    assert loss([0.8, 0.3]) == pytest.approx(0.8 * first + 0.3 * second, rel=1e-5)
