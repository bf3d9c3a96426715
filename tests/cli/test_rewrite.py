"""The command rewrite: what it prints of what rewriting changed, and a language model at work."""

import pytest

from backend.campaign.corpus.captions.rewriting import rewrite_captions
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.project.folder import Project, open_project
from backend.encoders import sentence
from chat_server import Answer, lines, serving, without_names
from cli.conftest import Run
from support import NOW, PEOPLE, WordEncoder


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
        assert "48 captions: 24 accepted at once, 12 after another attempt, 12 wait for a person, 0 had been" in said
        assert (
            "This time: 8 requests, 7,000 tokens asked, 700 answered, cost 0.0049 at the prices given; "
            "of 1 requests the endpoint did not tell the tokens.\n"
        ) in said
        code, said, _ = reelrank(*command)
        assert "This time: 0 requests, 0 tokens asked, 0 answered, cost 0.0000" in said
        assert "With earlier runs: 8 requests, 7,000 tokens asked, 700 answered, cost 0.0049" in said
        assert len(server.asked) == 8
        assert "cost" not in reelrank(*command[:-4])[1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rewriter", "openai"], "name the language model"),
        (["--model", "small"], "are for --rewriter openai"),
        (["--rewriter", "openai", "--model", "small", "--price-in", "1"], "give both prices, or none"),
        (["--rewriter", "openai", "--model", "small", "--temperatures", "warm"], "is not a list of numbers"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(
    reelrank: Run, project: Project, options: list[str], said: str
) -> None:
    code, _, error = reelrank("rewrite", project.folder, *options)
    assert code == 2
    assert said in " ".join(error.split())


def test_an_endpoint_that_is_not_there_is_a_refusal(reelrank: Run, project: Project) -> None:
    with serving() as server:
        url = server.url
    code, said, error = reelrank(
        *("rewrite", project.folder, "--rewriter", "openai", "--model", "small", "--base-url", url, "--retries", "0")
    )
    assert (code, said) == (1, "")
    assert (
        error
        == "reelrank: 127.0.0.1: it cannot be reached, or hangs up: is the address right, and does the server run?\n"
    )


def test_the_summary_is_the_papers_table(reelrank: Run, corpus_project: Project) -> None:
    folder = corpus_project.folder
    assert reelrank("rewrite", folder, "--summary") == (
        *(0, "0 imprecise captions, 0 of them changed; words a caption 0.00 before, 0.00 after.\n", ""),
    )
    with (folder / "reelrank.toml").open("a") as file:
        file.write('"Anna" = "a woman"\n"Boris" = "a man"\n"Carla" = "a woman"\n"Dev" = "someone"\n')
    rewrite_captions(open_project(folder), OPERATOR, now=NOW)
    code, out, err = reelrank("rewrite", folder, "--summary")
    assert (code, err) == (0, "")
    assert out.startswith("48 imprecise captions, 48 of them changed; words a caption ")
    assert [line.split() for line in out.splitlines()[1:]] == [
        ["replacement", "words", "count"],
        *(["a", "woman", "24"], ["a", "man", "12"], ["someone", "12"]),
    ]
