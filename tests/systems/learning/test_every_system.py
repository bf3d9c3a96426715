"""Every system trains in the same loop: it resumes with the same bytes, predicts, and takes bfloat16 and compiling."""

import dataclasses
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch

from backend.core.errors import InputError, ProjectError
from backend.encoders import sentence
from backend.scoring.evaluate import evaluate
from backend.systems.extracting import write_features
from backend.systems.learning import checkpoints, loop, objective
from backend.systems.learning.batches import batch_of
from backend.systems.learning.config import Config, NegativesOptions, TrainingOptions
from backend.systems.learning.first_step import read_first_run
from backend.systems.learning.objective import TrainingMaterial
from backend.systems.learning.rivals import sampler_of_folder
from backend.systems.learning.system import Sizes
from backend.systems.learning.systems import SYSTEMS, system_class
from backend.training import Distribution, Negatives
from commands import reelrank
from learnable import TOPICS, config, material, one_thread
from support import WordEncoder

CPU = torch.device("cpu")
MAP = {"clips": 8, "pool": 2, "pooling": [3], "hidden": 8, "kernel": 3, "layers": 1, "joint": 8}
TINY: dict[str, dict[str, Any]] = {
    "mmn": MAP,
    "crocs": MAP,
    "g2l": MAP,
    "cet": {"hidden": 8, "layers": 1, "heads": 2, "clips": 9},
    "bet": {"hidden": 8, "clips": 9},
    "conquer": {"hidden": 8, "heads": 2, "filters": 8, "clip_s": 2.0, "first_run": "first.json"},
}
"""Options of small networks; other systems have `hidden`, `heads` and `clip_s`."""
LOSS: dict[str, dict[str, Any]] = {"crocs": {"hard_videos": 2, "hard_queries": 2, "hard_batch": 6}}


@pytest.fixture(autouse=True)
def nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two pictures take longer than the training of these tests."""
    monkeypatch.setattr(checkpoints, "write_pictures", lambda folder, *_: (folder / "history.svg").write_text(""))


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with one_thread():
        yield


def tiny(name: str) -> dict[str, Any]:
    return TINY.get(name, {"hidden": 8, "heads": 2, "clip_s": 2.0})


def settings(folder: Path, name: str, **training: object) -> Config:
    cls = system_class(name)
    options = {"epochs": 2, "evaluate_every": 0.5, "batch": 6, "learning_rate": 3e-3} | training
    return config(
        folder,
        system=name,
        model=msgspec.convert(tiny(name), cls.ModelOptions),
        loss=msgspec.convert(LOSS.get(name, {}), cls.LossOptions),
        training=msgspec.convert(options, TrainingOptions),
        negatives=NegativesOptions("negatives") if cls.takes_negatives == "potential" else None,
    )


def data(folder: Path, name: str) -> TrainingMaterial:
    """Material for a system, with negatives of its folder, and the run of a first step that lists all videos."""
    made, cls = material(folder, clips=tiny(name).get("clips"), words=system_class(name).uses_words), system_class(name)
    videos = made.clips.videos
    if cls.takes_negatives == "potential":
        texts = tuple(f"topic {n}" for n in range(TOPICS))
        first, second = (
            Distribution(torch.full(shape, 0.1)) for shape in ((TOPICS, len(videos)), (len(videos), TOPICS))
        )
        known = Negatives(texts, texts, videos, torch.zeros(TOPICS, dtype=torch.int64), first, second)
        sampler = sampler_of_folder(known, Path("negatives"), texts, made.pairs, made.clips, uniform=False)
        made = dataclasses.replace(made, negatives=sampler)
    if cls.path_fields:
        ids = range(TOPICS)
        run = {str(one): [[video, 0, 2, -0.1 * n] for n, video in enumerate(videos)] for one in (*ids, *made.val.ids)}
        (folder / "first.json").write_text(json.dumps(run))
        options = settings(folder, name)
        step = cls.first_step(options.model, options.loss)
        assert step is not None
        step = msgspec.structs.replace(step, runs=(str(folder / "first.json"),))
        made = dataclasses.replace(made, first=read_first_run(step, videos), query_ids=tuple(ids))
    return made


def files(report: loop.SeedReport) -> dict[str, bytes]:
    names = ("best.safetensors", "last.safetensors", "history.csv")
    return {name: (report.folder / name).read_bytes() for name in names}


@pytest.mark.parametrize("name", SYSTEMS)
def test_stopped_and_gone_on_is_as_never_stopped(tmp_path: Path, name: str) -> None:
    """Stopped after every few steps, in each stage, and between the files of a step."""
    made = data(tmp_path, name)
    whole = loop.train(msgspec.structs.replace(settings(tmp_path, name), out=str(tmp_path / "whole")), made, 3, CPU)
    stages = len(objective.network_of(name, made.sizes, *options(tmp_path, name)).stage_plans())
    rows = (whole.folder / "history.csv").read_text().splitlines()
    assert len(rows) == 1 + 4 * stages
    assert rows[0].startswith("stage," if stages > 1 else "epoch,loss,")
    assert whole.epochs == 2 * stages
    stopped = msgspec.structs.replace(settings(tmp_path, name), out=str(tmp_path / "stopped"))
    steps = 0

    def stop(what: str, done: int, total: int) -> None:
        nonlocal steps
        steps += what.startswith("training")
        if steps == 3:
            steps = 0
            raise KeyboardInterrupt

    stops = 0
    while True:
        try:
            report = loop.train(stopped, made, 3, CPU, stop)
            break
        except KeyboardInterrupt:
            stops += 1
            assert stops < 20
    assert stops >= 2 * stages
    assert files(report) == files(whole)


def options(folder: Path, name: str) -> tuple[msgspec.Struct, msgspec.Struct]:
    made = settings(folder, name)
    return made.model, made.loss


def test_a_second_stage_starts_from_the_best_of_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second evaluation of stage 1 is the best; the weights and the draws of stage 2 follow from it."""
    ndcg = iter([0.1, 0.9, 0.2, 0.3, 0.5, 0.4, 0.3, 0.2])
    monkeypatch.setattr(objective, "figures", lambda *_: {loop.STOPPING: next(ndcg)})
    seen: list[dict[str, torch.Tensor]] = []
    real = objective.hard_sampler

    def noted(network: torch.nn.Module, *rest: Any) -> Any:
        seen.append({name: one.clone() for name, one in network.state_dict().items()})
        return real(network, *rest)  # type: ignore[arg-type]

    rates: list[float] = []
    step = torch.optim.AdamW.step

    def at_rate(self: torch.optim.AdamW) -> None:
        rates.append(self.param_groups[0]["lr"])
        step(self)

    monkeypatch.setattr(objective, "hard_sampler", noted)
    monkeypatch.setattr(torch.optim.AdamW, "step", at_rate)
    report = loop.train(settings(tmp_path, "crocs", warmup=0.0), data(tmp_path, "crocs"), 0, CPU)
    card, weights = checkpoints.read_best(report.folder, 1)
    assert (card.epoch, card.ndcg) == (1.0, 0.9)
    assert all(torch.equal(weights[name], seen[0][name]) for name in weights)
    assert (report.best, report.ndcg, report.epochs) == (2.5, 0.5, 4.0)
    assert rates[8:] == pytest.approx([0.1 * rate for rate in rates[:8]])


def test_a_kill_after_the_best_weights_of_stage_2_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then `best.safetensors` is already of stage 2, and the saved state is that before its first step."""
    made = data(tmp_path, "crocs")
    whole = loop.train(msgspec.structs.replace(settings(tmp_path, "crocs"), out=str(tmp_path / "whole")), made, 3, CPU)
    stopped = msgspec.structs.replace(settings(tmp_path, "crocs"), out=str(tmp_path / "stopped"))
    real = checkpoints.write_last

    def killed(folder: Path, network: Any, optimiser: Any, state: checkpoints.TrainingState) -> None:
        if state.stage == 2 and state.step:
            raise KeyboardInterrupt
        real(folder, network, optimiser, state)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "write_last", killed)
        with pytest.raises(KeyboardInterrupt):
            loop.train(stopped, made, 3, CPU)
    assert files(loop.train(stopped, made, 3, CPU)) == files(whole)


def test_weights_of_another_system_are_refused_in_a_line(tmp_path: Path) -> None:
    networks = {name: objective.network_of(name, Sizes(6, 5), *options(tmp_path, name)) for name in ("mmn", "bet")}
    with pytest.raises(InputError, match="network of bet: Missing key") as told:
        checkpoints.load_weights(networks["bet"], networks["mmn"].state_dict(), tmp_path)
    assert len(str(told.value).removeprefix(str(tmp_path))) < 200


@pytest.mark.parametrize("name", SYSTEMS)
def test_bfloat16_gives_nearly_the_same_losses(tmp_path: Path, name: str) -> None:
    made = data(tmp_path, name)
    found = [losses(made, settings(tmp_path, name), precision) for precision in ("fp32", "bf16")]
    assert found[0].keys() == found[1].keys()
    for key in found[0]:
        assert found[1][key] == pytest.approx(found[0][key], rel=1e-2, abs=1e-2)


@pytest.mark.rare
@pytest.mark.parametrize("name", ["late", "mmn", "cet"])  # a minute each
def test_compiling_gives_nearly_the_same_losses(tmp_path: Path, name: str) -> None:
    if shutil.which("g++") is None and shutil.which("clang++") is None:
        pytest.skip("torch.compile needs a C++ compiler on a processor")
    made = data(tmp_path, name)
    found = [losses(made, settings(tmp_path, name), "fp32", compiled=compiled) for compiled in (False, True)]
    for key in found[0]:
        assert found[1][key] == pytest.approx(found[0][key], rel=1e-2, abs=1e-2)


def losses(made: TrainingMaterial, given: Config, precision: str, *, compiled: bool = False) -> dict[str, float]:
    """The losses of a batch, without dropout."""
    torch.manual_seed(0)
    network = objective.network_of(given.system, made.sizes, given.model, given.loss).eval()
    if compiled:
        loop.compile_encoders(network)
    batch = batch_of(made.pairs, made.clips, made.queries, np.arange(0, 24, 2), CPU)
    rivals = objective.negatives_of(given, made, network, network.stage_plans()[0], None, batch, 1)
    found = loop.losses_of(network, batch, rivals, precision)
    found["loss"].backward()
    assert all(one.grad is None or one.grad.isfinite().all() for one in network.parameters())
    return {name: loss.item() for name, loss in found.items()}


@pytest.mark.long
def test_a_compiler_that_is_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise torch._dynamo.exc.BackendCompilerFailed("inductor", RuntimeError("no g++"), None)

    monkeypatch.setattr(loop, "losses_of", broken)
    with pytest.raises(ProjectError, match=r"torch cannot compile here .*: take `training\.compile` out"):
        loop.train(settings(tmp_path, "late", compile=True), data(tmp_path, "late"), 0, CPU)


THINGS = ("a dog runs", "a cup falls", "a door opens", "two people dance")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of six videos of three things each, with features of frames and subtitles, and a first run."""
    place = tmp_path_factory.mktemp("home")
    shown = {f"v{n}": [(n + k) % 4 for k in range(3)] for n in range(6)}

    def queries(first: int, told: str, **fields: object) -> list[dict[str, object]]:
        return [
            {
                "query_id": first + n,
                "query": told.format(thing),
                "relevant_moment": [
                    {"video_name": video, "timestamp": [8.0 * k, 8.0 * k + 8], "duration": 24.0, **fields}
                    for video, things in shown.items()
                    for k, one in enumerate(things)
                    if one == n
                ],
            }
            for n, thing in enumerate(THINGS)
        ]

    (place / "release").mkdir()
    files = {
        "train_top01.json": queries(0, "{} somewhere", similarity=0.8),
        "val.json": queries(10, "here {}", relevance=3),
        "test.json": queries(20, "there {}", relevance=3),
        "video_corpus.json": {video: [24.0, n] for n, video in enumerate(shown)},
    }
    for name, content in files.items():
        (place / "release" / name).write_bytes(msgspec.json.encode(content))
    rng = np.random.default_rng(0)
    for name, dim, rate in (("frames", 8, 1.0), ("subtitles", 5, 0.5)):
        rows = [(video, rng.standard_normal((int(24 * rate), dim))) for video in shown]
        write_features(place / f"{name}.h5", rows, rate=rate, encoder=name)
    run = {
        str(first + n): [[video, 0, 8, 1.0 - k / 9] for k, video in enumerate(shown)]
        for first in (0, 10, 20)
        for n in range(4)
    }
    (place / "first.json").write_text(json.dumps(run))
    return place


def toml(fields: dict[str, Any]) -> list[str]:
    """Texts, numbers and lists are written as in JSON."""
    return [f"{name} = {json.dumps(value)}" for name, value in fields.items()]


@pytest.mark.parametrize("subtitles", [False, True])
@pytest.mark.parametrize("name", SYSTEMS)
def test_from_a_release_to_a_run_that_is_scored(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, subtitles: bool
) -> None:
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    fields = {
        "system": name,
        "release": "release",
        "features": "frames.h5",
        "out": str(tmp_path / "out"),
        "encoder": "minilm",
        "embeddings": "embeddings",
        "top": 1,
        **({"subtitles": "subtitles.h5"} if subtitles else {}),
    }
    tables = {
        "model": tiny(name),
        "loss": LOSS.get(name, {}),
        "training": {"epochs": 2, "evaluate_every": 1, "batch": 6},
    }
    lines = toml(fields)
    for table, values in tables.items():
        lines += [f"[{table}]", *toml(values)]
    (home / f"{name}.toml").write_text("\n".join(lines))
    reelrank("train", home / f"{name}.toml")
    out = reelrank("predict", tmp_path / "out/seed-0", tmp_path / "run.json", "--split", "val")
    assert "4 queries over 6 videos" in out
    found = evaluate(str(home / "release/val.json"), str(tmp_path / "run.json")).mean["ndcg@20,0.5"]
    card, _ = checkpoints.read_best(tmp_path / "out/seed-0")
    assert found == pytest.approx(card.ndcg, abs=1e-12)
    assert (card.system, card.subtitle_dim) == (name, 5 if subtitles else 0)
    assert "first.json" not in str(card)
