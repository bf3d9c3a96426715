"""The commands cast, rewrite and queries: what they say of captions and queries, and what is wrong usage."""

from pathlib import Path

import pytest

from backend.campaign.corpus.captions.rewriting import rewrite_captions
from backend.campaign.nouns import OPERATOR
from backend.campaign.selection.queries import drawing
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import ProjectError
from backend.encoders import sentence
from chat_server import Answer, lines, serving, without_names
from cli.conftest import Run
from support import MOMENTS, NOW, PEOPLE, Judging, WordEncoder


def test_a_proposal_is_shown_counted_and_followed_by_what_to_do(reelrank: Run, corpus_project: Project) -> None:
    folder = corpus_project.folder
    code, out, err = reelrank("cast", folder)
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split() == ["name", "becomes", "captions", "example"]
    assert "Boris  a man          12  Boris" in out
    assert f"{folder / 'cast.csv'}: 4 names, 4 of them new" in out
    assert "2 men, 2 women, 0 persons, 0 others, 0 undecided." in out
    assert out.splitlines()[-1] == f"Correct the column `becomes`, then run: reelrank rewrite {folder}"
    again = reelrank("cast", folder)[1]
    assert "4 names, 0 of them new" in again
    assert "example" not in again


def test_a_broken_file_is_named_with_its_row(reelrank: Run, corpus_project: Project) -> None:
    (corpus_project.folder / "cast.csv").write_text("name,becomes\nAnna,Anna of Boris\nBoris,a man\n")
    code, out, err = reelrank("cast", corpus_project.folder)
    assert (code, out) == (1, "")
    assert "cast.csv, row 2: 'Anna' becomes 'Anna of Boris', where the name" in err


@pytest.fixture
def project(corpus_project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The small project, with a cast of two."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    with (corpus_project.folder / "reelrank.toml").open("a") as file:
        file.writelines(f'"{name}" = "a person"\n' for name in PEOPLE)
    return corpus_project


def test_what_became_of_the_captions_and_what_it_took_is_told(reelrank: Run, project: Project) -> None:
    def act(asked):  # type: ignore[no-untyped-def]
        """Anna stays until it is warmer, Boris stays."""
        cold = ("Anna", "Boris") if asked.temperature == 0 else ("Boris",)
        texts = [c if c.startswith(cold) else without_names(c) for c in asked.captions]
        return Answer(lines(texts), tokens=(1000, 100) if asked.number > 1 else None)

    with serving(act) as server:
        command = ["rewrite", project.folder, "--rewriter", "openai", "--model", "small", "--base-url", server.url]
        command += ["--price-in", "0.5", "--price-out", "2"]
        code, said, _ = reelrank(*command)
        assert code == 0
        assert "48 captions: 24 accepted at once, 12 accepted after another attempt, 12 in need of a dec" in said
        checks = [line.split() for line in said.splitlines()[1:4]]
        assert " ".join(checks[0]) == "attempt rewritten by texts passed similarity below 0.4 name left"
        assert checks[1] == ["1", "openai:small", "prompt-1", "t=0", "48", "24", "0", "(0.00%)", "24", "(50.00%)"]
        assert checks[2] == ["2", "openai:small", "prompt-1", "t=0.2", "24", "12", "0", "(0.00%)", "12", "(50.00%)"]
        assert (
            "This time: 8 requests, 7,000 input and 700 output tokens, cost 0.0049 at your prices; "
            "the endpoint did not report the tokens of 1 request.\n"
        ) in said
        code, said, _ = reelrank(*command)
        assert "This time: 0 requests, 0 input and 0 output tokens, cost 0.0000" in said
        assert "In total: 8 requests, 7,000 input and 700 output tokens, cost 0.0049" in said
        assert len(server.asked) == 8
        assert "cost" not in reelrank(*command[:-4])[1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rewriter", "openai"], "name the language model"),
        (["--model", "small"], "are for --rewriter openai"),
        (["--rewriter", "openai", "--model", "small", "--price-in", "1"], "give both prices, or none"),
        (["--rewriter", "openai", "--model", "small", "--temperatures", "warm"], "is not a list of numbers"),
        (["--prompt", "tvr-ranking"], "--prompt are for --rewriter openai"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(
    reelrank: Run, project: Project, options: list[str], said: str
) -> None:
    code, _, error = reelrank("rewrite", project.folder, *options)
    assert code == 2
    assert said in " ".join(error.split())


def test_a_prompt_is_chosen_by_name_or_file(reelrank: Run, project: Project, tmp_path: Path) -> None:
    command = ["rewrite", project.folder, "--rewriter", "openai", "--model", "small", "--base-url"]
    with serving(lambda asked: Answer("\n".join(map(without_names, asked.captions)))) as server:
        said = reelrank.out(*command, server.url, "--prompt", "tvr-ranking")
        assert "openai:small tvr-ranking t=0 " in said
        (tmp_path / "own.txt").write_text("")
        code, _, error = reelrank(*command, server.url, "--prompt", tmp_path / "own.txt")
        assert (code, error.strip()) == (
            *(
                1,
                f"reelrank: {tmp_path / 'own.txt'}: the prompt is empty: write what the model should do with each line",
            ),
        )
    summary = reelrank.out("rewrite", project.folder, "--summary")
    assert "Rewritten by: openai:small tvr-ranking t=0 (48)." in summary


def test_an_endpoint_that_is_not_there_is_a_refusal(reelrank: Run, project: Project) -> None:
    with serving() as server:
        url = server.url
    code, said, error = reelrank(
        *("rewrite", project.folder, "--rewriter", "openai", "--model", "small", "--base-url", url, "--retries", "0")
    )
    assert (code, said) == (1, "")
    assert (
        error == "reelrank: 127.0.0.1: it cannot be reached, or closes the connection: check the address, and that the "
        "server is running\n"
    )


def test_the_summary_is_the_papers_table(reelrank: Run, corpus_project: Project) -> None:
    folder = corpus_project.folder
    assert reelrank("rewrite", folder, "--summary") == (
        *(0, "0 imprecise captions, 0 of them changed; words per caption: 0.00 before, 0.00 after.\n", ""),
    )
    with (folder / "reelrank.toml").open("a") as file:
        file.write('"Anna" = "a woman"\n"Boris" = "a man"\n"Carla" = "a woman"\n"Dev" = "someone"\n')
    rewrite_captions(open_project(folder), OPERATOR, now=NOW)
    code, out, err = reelrank("rewrite", folder, "--summary")
    assert (code, err) == (0, "")
    assert out.startswith("48 imprecise captions, 48 of them changed; words per caption: ")
    # Each of 48 captions begins with a name: `woman` 24 times, `man` and `someone` 12 times.
    versions, words, *lines = out.splitlines()[1:]
    assert versions.startswith("Rewritten by: rules-")
    assert versions.endswith(" (48).")
    assert words == "Replacement words: 48, 1.00 per caption."
    assert [line.split() for line in lines] == [
        ["word", "gender", "count", "share"],
        *(["woman", "F", "24", "50.00%"], ["man", "M", "12", "25.00%"], ["someone", "N", "12", "25.00%"]),
        ["replacement", "count"],
        *(["a", "woman", "24"], ["a", "man", "12"], ["someone", "12"]),
    ]


def test_queries_are_drawn_brought_and_taken_back(reelrank: Run, corpus_project: Project, tmp_path: Path) -> None:
    folder = corpus_project.folder
    (tmp_path / "q.txt").write_text(f"{MOMENTS[3].caption}\nWhere is the tea?\n")
    code, out, err = reelrank("queries", folder, "--val", "2", "--from", tmp_path / "q.txt", "--seed", "4")
    assert (code, err) == (0, "")
    assert "2 validation, 2 test and 45 training queries, 2 of them from q.txt, seed 4" in out
    assert "Removed from training: 1 caption with the text of a validation or test query." in out
    code, out, _ = reelrank("queries", folder, "--write", tmp_path / "queries.csv")
    assert (code, out.startswith(f"Written: {tmp_path / 'queries.csv'}.")) == (0, True)
    head, *lines = (tmp_path / "queries.csv").read_text().splitlines()
    asked = corpus_project.store.db.conn.execute(
        "SELECT query_id, split, text FROM query WHERE split <> 'train' ORDER BY position"
    )
    assert (head, lines) == ("query_id,split,query", [",".join(map(str, row)) for row in asked])
    assert reelrank("queries", folder, "--write", tmp_path / "queries.csv", "--undo")[0] == 2
    code, _, err = reelrank("queries", folder, "--val", "1")
    assert code == 1
    assert (
        f"Before the first grade, you can take them back on the page Set up or with `reelrank queries {folder} --undo`"
        in err
    )
    code, out, _ = reelrank("queries", folder, "--undo")
    assert (code, out) == (0, "Removed 49 queries, 0 candidates and 0 pairs.\n")


def test_a_note_about_rewriting_comes_before_queries_are_drawn(
    reelrank: Run, corpus_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = corpus_project.folder
    note = f"To rewrite them first: reelrank queries {folder} --undo, then reelrank rewrite {folder}\n"

    def stop(*_: object, **__: object) -> None:
        raise ProjectError("stopped before the draw")

    with monkeypatch.context() as patch:
        patch.setattr(drawing, "draw_queries", stop)
        code, out, err = reelrank("queries", folder, "--val", "1")
    assert (code, out.endswith(note), "stopped before the draw" in err) == (1, True, True)
    assert "--undo" not in reelrank.out("queries", folder, "--val", "1", "--dry-run").partition("\n")[0]
    with (folder / "reelrank.toml").open("a") as file:
        file.writelines(f'"{name}" = "a person"\n' for name in PEOPLE)
    rewrite_captions(open_project(folder), OPERATOR, now=NOW)
    assert "not rewritten" not in reelrank.out("queries", folder, "--val", "1")


def test_a_very_long_query_is_named(reelrank: Run, corpus_project: Project, tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("tea " * 200)
    out = reelrank.out("queries", corpus_project.folder, "--from", tmp_path / "q.txt")
    assert "Note: 1 query is very long (up to 799 characters)." in out


def test_a_command_that_says_nothing_or_two_things_is_wrong_usage(reelrank: Run, corpus_project: Project) -> None:
    code, _, err = reelrank("queries", corpus_project.folder)
    assert (code, "or your own queries, --from FILE" in err) == (2, True)
    assert reelrank("queries", corpus_project.folder, "--undo", "--val", "3")[0] == 2


def test_a_draw_over_shows_needs_names_that_tell_them(reelrank: Run, corpus_project: Project) -> None:
    code, _, err = reelrank("queries", corpus_project.folder, "--val", "2", "--stratify", "show")
    assert (code, "the names of 6 of 6 videos do not tell their show (v0, v1, v2 ...)" in err) == (1, True)
    code, out, _ = reelrank(
        "queries", corpus_project.folder, "--val", "6", "--stratify", "show", "--show-of", r"v(\d)", "--seed", "1"
    )
    assert (code, "6 validation" in out) == (0, True)


def test_probes_are_told_of_and_drawn(reelrank: Run, judging: Judging, tmp_path: Path) -> None:
    folder = judging.project.folder
    assert reelrank("queries", folder, "--undo")[0] == 0
    assert reelrank("queries", folder, "--val", "2", "--test", "1", "--seed", "5")[0] == 0
    code, out, err = reelrank("candidates", folder, "--batch-size", "10", "--probe", "1", "--seed", "3")
    assert (code, err) == (0, "")
    assert "3 queries, 120 candidates, 30 pairs open for judging" in out
    assert "1 of the queries have a probe, with 38 more pairs to judge that no release includes. Once" in out
    code, _, err = reelrank("batches", "depth", folder, tmp_path / "out")
    assert (code, "none of the 48 pairs of probed queries has a relevance yet" in err) == (1, True)
    for pair in judging.pairs():
        judging.grade(0, pair.pair, 3)
        judging.grade(1, pair.pair, 3)
    code, out, _ = reelrank("batches", "depth", folder, tmp_path / "out")
    assert (code, "48 of 48 pairs of 1 probed query have a relevance." in out) == (0, True)
    names = ("probe-bins.csv", "probe-pairs.csv", "probe.png", "probe.svg")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [*names]
    code, out, _ = reelrank("status", folder)
    assert [line.split() for line in out.splitlines() if line.startswith("probes")] == [
        ["probes", "queries", "1"],
        ["probes", "pairs", "38"],
    ]
