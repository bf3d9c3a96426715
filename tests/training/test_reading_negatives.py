"""Negatives as a training loop gets them: read as they were written, and drawn as likely as they say."""

import re
from pathlib import Path

import pyarrow as pa
import pytest
import torch
from pyarrow import parquet

from backend import training as reading
from backend.campaign.selection.pools import negatives as writing
from backend.core.errors import InputError
from backend.training import Distribution, read_negatives
from support import WordEncoder

ROOT = Path(__file__).parents[2]
LINES = """video,start,end,caption
a,0,2,A dog runs.
b,0,2,A man pours tea.
a,2,4,A cat sits on a mat.
c,0,2,A dog runs.
c,2,4,Somebody reads a book.
d,0,3,Rain falls on a window.
e,0,3,The dog sits.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus.csv").write_text(LINES)
    out = tmp_path / "negatives"
    writing.write_negatives(
        tmp_path / "corpus.csv", out, temperature=0.3, encoder=WordEncoder(), embeddings=tmp_path / "vectors"
    )
    return out


def test_what_was_written_is_read(folder: Path) -> None:
    found = read_negatives(folder)
    table = parquet.read_table(folder / "videos_given_query.parquet").to_pydict()
    assert found.query_ids == ("a#0", "a#1", "b#0", "c#0", "c#1", "d#0", "e#0")
    assert found.queries[2] == "A man pours tea."
    assert found.videos == ("a", "b", "c", "d", "e")
    assert found.own.tolist() == [0, 0, 1, 2, 2, 3, 4]
    assert found.videos_given_query.probability.tolist() == table["probability"]
    forward, backward = found.videos_given_query.probability, found.queries_given_video.probability
    assert torch.equal(forward > 0, backward.T > 0), "who is a negative of whom is the same both ways"
    assert (reading.VIDEOS_GIVEN_QUERY, reading.QUERIES_GIVEN_VIDEO) == (
        writing.VIDEOS_GIVEN_QUERY,
        writing.QUERIES_GIVEN_VIDEO,
    )


def test_a_batch_is_told_which_of_it_are_negatives(folder: Path) -> None:
    found = read_negatives(folder)
    queries = torch.tensor([0, 3, 5])
    assert found.videos_given_query.potential(queries, found.own[queries]).tolist() == [
        [False, False, True],  # c has the same sentence
        [False, False, True],
        [True, True, False],
    ]


PROBABILITY = torch.tensor([[0.0, 0.1, 0.2, 0.3, 0.4, 0.0]])


@pytest.mark.parametrize(("kind", "expected"), [("strong", [0.1, 0.2, 0.3, 0.4]), ("weak", [0.25, 0.25, 0.25, 0.25])])
def test_draws_are_as_likely_as_they_should_be(kind: str, expected: list[float]) -> None:
    from scipy.stats import chisquare

    rows = torch.zeros(20_000, dtype=torch.int64)
    draw = getattr(Distribution(PROBABILITY), kind)
    drawn, counts = draw(rows, 1, torch.Generator().manual_seed(5))
    assert bool(counts.all())
    times = torch.bincount(drawn[:, 0], minlength=6)
    assert times[[0, 5]].tolist() == [0, 0], "never what is no potential negative"
    assert chisquare(times[1:5].numpy(), [share * len(rows) for share in expected]).pvalue > 1e-3


def test_several_draws_of_one_anchor_differ() -> None:
    """The second of two: by weight among what the first one left."""
    from scipy.stats import chisquare

    rows = torch.zeros(20_000, dtype=torch.int64)
    drawn, counts = Distribution(PROBABILITY).strong(rows, 2, torch.Generator().manual_seed(6))
    assert bool(counts.all())
    assert bool((drawn[:, 0] != drawn[:, 1]).all())
    p = PROBABILITY[0].tolist()
    pairs = [(first, second) for first in range(1, 5) for second in range(1, 5) if first != second]
    likely = [p[first] * p[second] / (1 - p[first]) for first, second in pairs]
    times = [int(((drawn[:, 0] == first) & (drawn[:, 1] == second)).sum()) for first, second in pairs]
    total = sum(likely)
    assert chisquare(times, [share / total * len(rows) for share in likely]).pvalue > 1e-3


def test_an_anchor_with_too_few_says_so() -> None:
    rows = Distribution(torch.tensor([[0.0, 0.7, 0.0, 0.3], [0.0, 0.0, 0.0, 0.0]]))
    drawn, counts = rows.strong(torch.tensor([0, 1]), 3, torch.Generator().manual_seed(0))
    assert counts.tolist() == [[True, True, False], [False, False, False]]
    assert sorted(drawn[0, :2].tolist()) == [1, 3]


def test_one_seed_draws_the_same_again(folder: Path) -> None:
    strong = read_negatives(folder).videos_given_query.strong
    anchors = torch.arange(7)
    first, again, other = (strong(anchors, 2, torch.Generator().manual_seed(seed))[0] for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_what_is_not_such_a_file_is_refused(folder: Path) -> None:
    queries = folder / "videos_given_query.parquet"
    whole = queries.read_bytes()
    queries.write_bytes(whole[:-9])
    with pytest.raises(InputError, match=r"videos_given_query\.parquet: cannot be read as Parquet"):
        read_negatives(folder)
    parquet.write_table(pa.table({"video": ["a"]}), queries)
    with pytest.raises(InputError, match="has no column probability, query, query_id"):
        read_negatives(folder)
    other = pa.table({"query_id": ["a#0"], "query": ["A dog."], "video": ["a"], "probability": [[0.5, 0.5]]})
    parquet.write_table(other, queries)
    with pytest.raises(InputError, match="its column probability is list"):
        read_negatives(folder)
    queries.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        read_negatives(folder)


def test_files_of_two_corpora_are_refused(folder: Path) -> None:
    videos = folder / "queries_given_video.parquet"
    table = parquet.read_table(videos)
    parquet.write_table(table.slice(0, 4), videos)
    with pytest.raises(InputError, match=r"queries_given_video\.parquet: does not match videos_given_query"):
        read_negatives(folder)


def test_the_training_loop_of_the_page_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It trains whatever turns numbers of queries and videos into vectors; here a vector for each."""
    page = (ROOT / "docs/pools.md").read_text(encoding="utf-8")
    (loop,) = re.findall(r"```python\n(.*?)```", page.partition("## For training")[2], re.DOTALL)
    assert loop.count("\n") < 25
    monkeypatch.chdir(folder.parent)
    torch.manual_seed(0)
    text, moment, any_moment = torch.nn.Embedding(7, 4), torch.nn.Embedding(7, 4), torch.nn.Embedding(5, 4)
    tables = [text, moment, any_moment]
    before = [table.weight.detach().clone() for table in tables]
    optimiser = torch.optim.SGD([parameter for table in tables for parameter in table.parameters()], lr=0.1)
    exec(loop, {"text": text, "moment": moment, "moment_in": any_moment, "optimiser": optimiser})
    for table, old in zip(tables, before, strict=True):
        assert bool((table.weight != old).any(dim=1).all()), "every query and video was learnt from"
