"""The commands about candidates and next batches: what they say, do and refuse."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from annotate_app.server import candidate_jobs
from annotate_app.server.candidate_jobs import CandidateOptions
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.review.queries import take_back_queries
from backend.campaign.review.status import status_counts
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.encoders import sentence
from cli.conftest import Run
from settled_batches import settle
from support import NOW, Judging, WordEncoder


def test_runs_are_pooled_at_first_and_again(reelrank: Run, corpus_project: Project, tmp_path: Path) -> None:
    folder = corpus_project.folder
    draw_queries(corpus_project, OPERATOR, val=1, test=1, seed=5, now=NOW)
    query = corpus_project.store.db.conn.execute("SELECT query_id FROM query WHERE split = 'val'").fetchone()[0]
    for name, place in (("ours", ["v0", 0, 2.4]), ("theirs", ["v0", 40, 50]), ("late", ["v1", 40, 50])):
        (tmp_path / f"{name}.json").write_text(json.dumps({query: [[*place, 0.5]]}))
    first = ("candidates", folder, "--pool", tmp_path / "ours.json", f"B={tmp_path / 'theirs.json'}", "--no-captions")
    code, out, _ = reelrank(*first, "--dry-run")
    told = "1 query, 2 candidates (1 of them new moments); 2 pairs"
    assert (code, f"{told} would be open" in out, out.endswith("Nothing was written.\n")) == (0, True, True), out
    out = reelrank.out(*first)
    assert f"{told} open for judging" in out
    assert [line.split() for line in out.splitlines()[1:3]] == [["B", "1", "1", "1", "1"], ["ours", "1", "1", "1", "1"]]
    assert "1 query without candidates will not be judged" in out
    assert "already exist (made with B, ours)" in reelrank.refusal(
        "candidates", folder, "--pool", tmp_path / "late.json"
    )
    assert "1 query, 1 new candidate (" in reelrank.out(
        "candidates", folder, "--pool", tmp_path / "late.json", "--again"
    )
    assert "Candidates from: B, ours, late" in reelrank.out("status", folder)


def test_options_that_do_not_go_together_are_refused(reelrank: Run, corpus_project: Project, tmp_path: Path) -> None:
    for options, why in (
        (("--again",), "--again needs --pool"),
        (("--pool", "a.json", "--probe", 3), "--probe works only without --pool"),
        (("--pool", "a.json", "--again", "--batch-size", 10), "leave --batch-size out"),
    ):
        assert why in reelrank.refusal("candidates", corpus_project.folder, *options)


class ShortEncoder(WordEncoder):
    """Reads eight words."""

    identity = "eight-words-64"
    limit = 8
    encoded = 0

    def encode(self, texts: Sequence[str], *, progress: object = None) -> object:  # type: ignore[override]
        ShortEncoder.encoded += len(texts)
        return super().encode([" ".join(text.split()[: self.limit]) for text in texts])

    def lengths(self, texts: Sequence[str]) -> tuple[list[int], list[bool]]:
        return [len(text.split()) for text in texts], ["dog" not in text for text in texts]


CAPTIONS = (
    *("A dog.", "The dog sleeps.", "Now the dog barks at the blue gate here and", "😀"),
    "Now the dog barks at the blue gate there or",
)
SENTENCES = (
    "2 captions and queries are longer than the 8 tokens that the encoder reads, and the rest is ignored. "
    "The first: “Now the dog barks at the blue gate here and”",
    "1 caption or query has only characters that the encoder does not know, such as another script or emoji: “😀”",
    "1 caption or query has the same vector as another text, so the encoder cannot tell them apart: “Now the dog barks "
    "at the blue gate here and” and “Now the dog barks at the blue gate there or”",
)


@pytest.fixture
def unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(sentence, "load", lambda spec: ShortEncoder())
    made = init_project(tmp_path / "p", encoder="minilm")
    lines = [
        json.dumps({"video": "v", "start": n, "end": n + 1, "caption": text, "duration": 60})
        for n, text in enumerate(CAPTIONS)
    ]
    (tmp_path / "c.jsonl").write_text("\n".join(lines))
    import_corpus(made, OPERATOR, tmp_path / "c.jsonl", "jsonl", now=NOW)
    draw_queries(made, OPERATOR, val=2, test=1, seed=1, now=NOW)
    return made


def test_the_command_tells_of_it(unread: Project, reelrank: Run) -> None:
    assert [
        line.removeprefix("Warning: ")
        for line in reelrank.out("candidates", unread.folder).splitlines()
        if "Warning" in line
    ] == list(SENTENCES)


def test_the_page_tells_of_it_and_vectors_from_disk_count_too(unread: Project) -> None:
    lead = people.add(unread.store, OPERATOR, "Lea", Role.LEAD, now=NOW)
    ShortEncoder.encoded = 0
    first = candidate_jobs.choose(unread, lead, CandidateOptions(), progress=lambda *_: None)
    assert set(SENTENCES) <= set(first.sentences)
    assert ShortEncoder.encoded == len(CAPTIONS)
    take_back_queries(unread, lead, now=NOW)
    draw_queries(unread, lead, val=2, test=1, seed=1, now=NOW)
    again = candidate_jobs.choose(unread, lead, CandidateOptions(), progress=lambda *_: None)
    assert set(SENTENCES) <= set(again.sentences)
    assert ShortEncoder.encoded == len(CAPTIONS)


@pytest.fixture
def settled(judging: Judging) -> Judging:
    """Three queries with a decision to make: the rule says open, open, do not open."""
    settle(judging)
    return judging


def test_what_the_rule_says_is_told_accepted_and_then_nothing_is_left(reelrank: Run, settled: Judging) -> None:
    folder = settled.project.folder
    out = reelrank.out("batches", folder, "--list")
    assert out.startswith(
        "The rule, version 1: a next batch is worth opening if the last 5 have a mean relevance of 2.0 or "
    )
    rows = [line.split() for line in out.splitlines()]
    assert ["open", "2", "40"] in rows
    assert ["do", "not", "open", "1", "20"] in rows
    assert "(val), batch 2: mean 2.4 (needs 2.0), 3 of 5 graded 3 or more: open; " in out
    assert f"Next: reelrank batches accept {folder}" in out
    document = json.loads(reelrank("batches", "show", folder, "--json")[1])
    assert [one["word"] for one in document["queries"]] == ["open", "open", "do not open"]
    assert document["rule"]["rule"] == {"last": 5, "mean": 2.0, "finds": 3, "grade": 3}
    assert document["queries_by_batches"] == {"val": {"1": 2}, "test": {"1": 1}}

    out = reelrank.out("batches", "accept", folder, "--decline")
    assert "Opened 2 batches with 40 pairs for the annotators (" in out
    assert "Declined 1 batch." in out
    assert (
        reelrank.refusal("batches", "accept", folder)
        == "reelrank: there is nothing to accept: no query needs a decision about its next batch\n"
    )
    counts = status_counts(settled.project, OPERATOR)
    assert (counts["batches"], counts["queries_by_batches"]) == (
        {"1": 3, "2": 2},
        {"val": {"2": 2}, "test": {"1": 1}},
    )
    shown = reelrank("status", folder)[1]
    assert "val, with 2 batches" in shown
    assert "test, with 1 batch " in shown


def test_the_rule_is_printed_and_changed_with_a_reason(reelrank: Run, settled: Judging) -> None:
    folder = settled.project.folder
    first = "1  the last 5 have a mean relevance of 2.0 or more, or 3 of them are graded 3 or more\n"
    assert reelrank("batches", "rule", folder) == (0, first, "")
    assert "a new rule needs a reason" in reelrank("batches", "rule", folder, "--mean", 3)[2]
    assert (
        "the mean has to be above 0 and at most 4, not 7"
        in reelrank("batches", "rule", folder, "--mean", 7, "--reason", "x")[2]
    )
    told = reelrank("batches", "rule", folder, "--mean", 0, "--finds", 4, "--reason", "only sure ones")
    assert told == (
        0,
        f"{first}2  4 of the last 5 are graded 3 or more (set by the command line: only sure ones)\n",
        "",
    )
    assert ["do", "not", "open", "3", "60"] in [line.split() for line in reelrank("batches", folder)[1].splitlines()]
