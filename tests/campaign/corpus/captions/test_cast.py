"""The file `cast.csv`: proposed once, corrected by people, kept by every later proposal."""

import csv
import json
from pathlib import Path

import pytest

from backend.campaign.corpus.captions.decisions import waiting_rewrites
from backend.campaign.corpus.captions.name_mapping import cast_lines, correct_cast, name_mapping_of, propose_cast
from backend.campaign.corpus.captions.rewriting import rewrite_captions
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import InputError, ProjectError
from support import NOW

FILE = "cast.csv"


def rows(project: Project) -> list[list[str]]:
    with (project.folder / FILE).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def write(project: Project, text: str) -> None:
    (project.folder / FILE).write_text(text, encoding="utf-8")


def take(project: Project, *captions: str) -> None:
    lines = [
        json.dumps({"video": "new", "start": n, "end": n + 1, "caption": caption, "duration": 99})
        for n, caption in enumerate(captions)
    ]
    path = project.folder / "more.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    import_corpus(project, OPERATOR, path, "jsonl", now=NOW)


def test_a_proposal_counts_and_shows_the_names_of_the_captions(corpus_project: Project) -> None:
    report = propose_cast(corpus_project, OPERATOR)
    header, *lines = rows(corpus_project)
    assert header == ["name", "becomes", "count", "example"]
    assert {(name, becomes, count) for name, becomes, count, _ in lines} == {
        ("Anna", "a woman", "12"),
        ("Boris", "a man", "12"),
        ("Carla", "a woman", "12"),
        ("Dev", "a man", "12"),
    }
    assert all(example.startswith(name) for name, _, _, example in lines)
    assert (report.names, len(report.new), report.women, report.men, report.undecided) == (4, 4, 2, 2, 0)
    assert name_mapping_of(corpus_project) == {"Anna": "a woman", "Boris": "a man", "Carla": "a woman", "Dev": "a man"}


def test_a_later_proposal_keeps_what_people_wrote_and_adds_new_names_only(corpus_project: Project) -> None:
    write(corpus_project, 'becomes,name\n"an old man, tired",Dev\n,Boris\nCarla,Carla\n')
    take(corpus_project, "Mia waves.", "Then Mia goes.")
    report = propose_cast(corpus_project, OPERATOR)
    assert [line.name for line in report.new] == ["Anna", "Mia"]
    assert rows(corpus_project)[1:4] == [
        ["Dev", "an old man, tired", "", ""],
        ["Boris", "", "", ""],
        ["Carla"] * 2 + ["", ""],
    ]
    assert rows(corpus_project)[5] == ["Mia", "a woman", "2", "Mia waves."]
    before = (corpus_project.folder / FILE).read_bytes()
    assert propose_cast(corpus_project, OPERATOR).new == ()
    assert (corpus_project.folder / FILE).read_bytes() == before


def test_names_of_the_settings_and_of_phrases_are_not_proposed(corpus_project: Project) -> None:
    settings = corpus_project.folder / "reelrank.toml"
    settings.write_text(settings.read_text() + 'Anna = "a girl"\nRoy = "Dev"\n')
    propose_cast(open_project(corpus_project.folder), OPERATOR)
    assert [line[0] for line in rows(corpus_project)[1:]] == ["Boris", "Carla"]


def test_rewriting_takes_the_file_and_the_settings_go_over_it(corpus_project: Project) -> None:
    propose_cast(corpus_project, OPERATOR)
    settings = corpus_project.folder / "reelrank.toml"
    settings.write_text(settings.read_text() + 'Dev = "a boy"\n')
    project = open_project(corpus_project.folder)
    assert name_mapping_of(project) == {"Anna": "a woman", "Boris": "a man", "Carla": "a woman", "Dev": "a boy"}
    report = rewrite_captions(project, OPERATOR, now=NOW)
    assert (report.accepted, report.waiting, report.unknown) == (48, 0, ())
    texts = {row[0] for row in project.store.db.conn.execute("SELECT text FROM caption WHERE kind = 'rewritten'")}
    assert {text.split()[0] + " " + text.split()[1] for text in texts} == {"A woman", "A man", "A boy"}


def test_what_is_undecided_waits_and_what_becomes_itself_stays(corpus_project: Project) -> None:
    write(corpus_project, "name,becomes\nAnna,\nBoris,Boris\nCarla,a woman\nDev,a man\n")
    report = rewrite_captions(corpus_project, OPERATOR, now=NOW)
    assert (report.accepted, report.waiting, report.unknown) == (36, 12, (("Anna", 12),))
    assert all(caption.startswith("Anna") for caption, _, _ in waiting_rewrites(corpus_project))


def test_how_people_are_put_is_a_setting_and_part_of_the_version(corpus_project: Project) -> None:
    take(corpus_project, "Anna and Carla wave.")
    propose_cast(corpus_project, OPERATOR)
    settings = corpus_project.folder / "reelrank.toml"
    found = {}
    for people in ("counted", "joined", "apart"):
        settings.write_text(settings.read_text().replace('people = "counted"', f'people = "{people}"'))
        project = open_project(corpus_project.folder)
        rewrite_captions(project, OPERATOR, now=NOW)
        sql = "SELECT text, rule_version FROM caption WHERE kind = 'rewritten' AND text LIKE '%wave.'"
        [(text, version)] = [tuple(row) for row in project.store.db.conn.execute(sql)]
        assert version.startswith(f"rules-4+{people}+cast-")
        found[people] = text
        settings.write_text(settings.read_text().replace(f'people = "{people}"', 'people = "counted"'))
    assert found == {
        "joined": "Two women wave.",
        "counted": "Two people wave.",
        "apart": "A woman and another woman wave.",
    }
    settings.write_text(settings.read_text().replace('people = "counted"', 'people = "together"'))
    with pytest.raises(InputError, match="people"):
        open_project(corpus_project.folder)


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("name,is\nAnna,a woman\n", ["cast.csv, row 1: no column 'becomes'"]),
        (
            "name,becomes\nAnna,a woman\n,a man\nAnna,a girl\n",
            ["cast.csv, row 3: this line has no name", "cast.csv, row 4: the name 'Anna' is also in row 2"],
        ),
        (
            "name,becomes\nAnna,a friend of Boris\nBoris,a man\n",
            ["cast.csv, row 2: 'Anna' becomes 'a friend of Boris'"],
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_rows_and_kept(
    corpus_project: Project, text: str, messages: list[str]
) -> None:
    write(corpus_project, text)
    for refused in (
        lambda: propose_cast(corpus_project, OPERATOR),
        lambda: rewrite_captions(corpus_project, OPERATOR, now=NOW),
    ):
        with pytest.raises(InputError) as caught:
            refused()
        assert all(message in str(caught.value) for message in messages), caught.value
    assert (corpus_project.folder / FILE).read_text() == text


def test_a_file_without_lines_is_an_empty_cast(corpus_project: Project) -> None:
    for text in ("", "name,becomes,count,example\n"):
        write(corpus_project, text)
        assert name_mapping_of(corpus_project) == {}
    assert len(propose_cast(corpus_project, OPERATOR).new) == 4


def test_without_captions_there_is_nobody(tmp_path: Path) -> None:
    project = init_project(tmp_path / "p", encoder="minilm")
    with pytest.raises(ProjectError, match="reelrank import"):
        propose_cast(project, OPERATOR)
    assert not (project.folder / FILE).exists()


def test_what_names_become_is_corrected_line_by_line(corpus_project: Project) -> None:
    propose_cast(corpus_project, OPERATOR)
    before = rows(corpus_project)
    correct_cast(corpus_project, OPERATOR, {"Dev": " an  old man ", "Boris": "", "Rex": "a dog"})
    after = rows(corpus_project)
    changed = {line[0]: line[1] for line in after if line not in before}
    assert changed == {"Dev": "an old man", "Boris": "", "Rex": "a dog"}
    assert [line[0] for line in after] == [*(line[0] for line in before), "Rex"]
    assert [line[2:] for line in after[:-1]] == [line[2:] for line in before]
    assert [(one.name, one.becomes) for one in cast_lines(corpus_project, OPERATOR)] == [
        (name, becomes) for name, becomes, _, _ in after[1:]
    ]


def test_words_that_another_name_would_change_again_correct_nothing(corpus_project: Project) -> None:
    propose_cast(corpus_project, OPERATOR)
    before = rows(corpus_project)
    with pytest.raises(InputError, match=r"cast\.csv, row \d: .*Anna"):
        correct_cast(corpus_project, OPERATOR, {"Dev": "a friend of Anna", "Boris": "a boy"})
    assert rows(corpus_project) == before
