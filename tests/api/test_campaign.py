"""A campaign by script: from an empty folder to a leaderboard, with what commands print, over JSON, and as anybody."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import pytest

from backend.api.campaign import OPERATIONS, InThisProcess
from backend.api.model import Needs
from backend.campaign.judging.staffing import suspend
from backend.campaign.release.export import card, freezing
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import InputError, NotAllowed, Overtaken, ProjectError
from backend.core.messages import as_text
from backend.encoders import sentence
from commands import reelrank
from over_json import OverJson
from reelrank import Campaign, evaluate
from support import MOMENTS, NOW, Judging, WordEncoder, grade_all, have_read, person_of
from verbs import value

ROOT = Path(__file__).parents[2]
Opened = Callable[[Path, str | None], Campaign]


@pytest.fixture(params=["in this process", "over JSON"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    """Opens a campaign as a person, or as the operator."""
    campaigns: list[Campaign] = []

    def open_(folder: Path, person: str | None = None) -> Campaign:
        if request.param == "over JSON":
            campaigns.append(Campaign.over(OverJson(folder, person, tmp_path / "spool")))
        else:
            campaigns.append(Campaign(folder, person=person))
        return campaigns[-1]

    yield open_
    for campaign in campaigns:
        campaign.close()


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoder that needs no model, and releases without figures, which take long to draw."""
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    monkeypatch.setattr(freezing, "figures", lambda documents: dict.fromkeys(card.FIGURES, b"not drawn"))


def printed(*arguments: object) -> Any:
    """What a command prints with --json."""
    return json.loads(reelrank(*arguments))


def plain(found: object) -> Any:
    return json.loads(msgspec.json.encode(found, enc_hook=as_text))


def annotation_file(folder: Path) -> Path:
    lines = [
        {"video": m.video, "start": m.start_s, "end": m.end_s, "caption": m.caption, "duration": 60} for m in MOMENTS
    ]
    (folder / "moments.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder / "moments.jsonl"


def everything_is_graded(folder: Path, *annotators: str) -> None:
    """Both annotators give each pair the same grade, which is the number of its rank modulo 5."""
    project = open_project(folder)
    have_read(project)
    Judging(project, person_of(project, "Lea"), []).give_videos_files()
    rows = project.store.db.conn.execute("SELECT pair_key, rank FROM pair WHERE query_id IS NOT NULL").fetchall()
    for name in annotators:
        grade_all(project, name, {key: rank % 5 for key, rank in rows}, now=NOW)
    project.store.close()


def test_from_an_empty_folder_to_a_leaderboard(opened: Opened, words: None, tmp_path: Path) -> None:
    folder = tmp_path / "films"
    Campaign.create(folder, encoder="minilm").close()
    campaign = opened(folder, None)

    report = campaign.import_corpus(annotation_file(tmp_path), format="jsonl")
    assert (report.videos, report.moments, report.captions, report.dry_run) == (6, 48, 48, False)
    assert len(campaign.captions()) == 48
    drawn = campaign.draw_queries(val=2, test=1, seed=5)
    assert (drawn.val, drawn.test, drawn.train) == (2, 1, 45)
    chosen = campaign.choose_candidates()
    assert (chosen.queries, chosen.candidates, chosen.pairs, chosen.encoder) == (3, 120, 60, "words-64")

    invitation = campaign.add_person("Lea", role="lead")
    assert (invitation.name, invitation.role) == ("Lea", "lead")
    assert invitation.link.startswith("http://127.0.0.1:8501/session/invitation/")
    campaign.add_person("Anna")
    assert campaign.add_person_with_password("Boris", "a long pass phrase").name == "Boris"
    everything_is_graded(folder, "Anna", "Boris")

    assert plain(campaign.status()) == printed("status", folder, "--json")
    assert campaign.status()["pairs"]["consensus"] == 60
    assert {one.person.name: (one.person.role.value, one.judgements) for one in campaign.people()} == {
        "Lea": ("lead", 0),
        "Anna": ("annotator", 60),
        "Boris": ("annotator", 60),
    }
    assert [(query.split.value, query.pairs, query.settled) for query in campaign.queries()] == [
        *[("val", 20, 20)] * 2,
        ("test", 20, 20),
    ]
    assert campaign.progress().ahead.needed == 0
    assert {pair.relevance == pair.rank % 5 and pair.verdict.value for pair in campaign.pairs()} == {"consensus"}
    assert campaign.agreement().figures["exact_agreement"].value == 1.0
    assert plain(campaign.flags()) == printed("users", "flags", folder, "--json")["people"]
    assert len(campaign.judgements()) == 120

    preview = campaign.preview_release()
    assert (len(preview.queries), preview.moments) == (3, 60)
    made = campaign.make_release(name="first", notes="by script")
    assert plain([made]) == plain(campaign.releases()) == printed("releases", "show", folder, "--json")
    zip_ = campaign.release_file("first")
    assert printed("validate", zip_, "--json")["clean"]

    (tmp_path / "mine.json").write_text(json.dumps(best_first(campaign)))
    added = campaign.add_run(tmp_path / "mine.json")
    assert (added.name, added.queries) == ("mine", 3)
    assert plain(campaign.runs()) == [
        {**one, "upper_bound": False} for one in printed("runs", "list", folder, "--json")
    ]
    shutil.unpack_archive(zip_, tmp_path / "unpacked")
    (release,) = (tmp_path / "unpacked").iterdir()
    command = ("evaluate", "--run", tmp_path / "mine.json", "--option", "unknown=ignore", "--json", "-", "--truth")
    for split in ("val", "test"):
        scores = campaign.leaderboard(f"release first, {split}")
        of_files = printed(*command, release / f"{split}.json")
        assert plain(scores.runs) == [{**run, "upper_bound": False} for run in shown(of_files)]
        assert scores.runs[0].measures["ndcg@20,0.5"] == 1.0
    assert scores.to_frame().loc["mine", "ndcg@20,0.5"] == 1.0
    assert campaign.truth_names()[:2] == ("settled val", "settled test")
    assert evaluate(release / "val.json", best_first(campaign), unknown="ignore").mean["ndcg@20,0.5"] == 1.0
    assert campaign.leaderboard().truth == "settled val"  # the first of those that fit


def best_first(campaign: Campaign) -> dict[str, list[list[object]]]:
    """A run with the pairs of each query by falling relevance."""
    run: dict[str, list[list[object]]] = {}
    for pair in sorted(campaign.pairs(), key=lambda pair: -(pair.relevance or 0)):
        moments = run.setdefault(str(pair.query_id), [])
        moments.append([pair.video, pair.start_s, pair.end_s, 1 / (1 + len(moments))])
    return run


def shown(document: Any) -> list[dict[str, Any]]:
    """The runs of an evaluation, with what a leaderboard has of them."""
    return [{key: run[key] for key in ("name", "queries", "missing", "measures")} for run in document["runs"]]


@pytest.fixture
def folder(judging: Judging) -> Path:
    return judging.project.folder


def test_a_lead_opens_a_batch_and_cares_for_people(opened: Opened, judging: Judging, folder: Path) -> None:
    for pair in judging.pairs():
        for who in (0, 1):
            judging.grade(who, pair.pair, 4)
    campaign = opened(folder, "lea")  # as people type names
    suggestions = campaign.next_batches()
    assert plain(suggestions.rule) == printed("batches", "show", folder, "--json")["rule"]
    first = suggestions.queries[0].query_id
    assert campaign.open_batch(first, reason="all were found") == 20
    with pytest.raises(Overtaken):
        campaign.open_batch(first)
    assert campaign.open_recommended_batches().opened == 2
    assert campaign.status()["batches"] == {"1": 3, "2": 3}

    campaign.pause_person("Anna", "on holiday")
    campaign.suspend_person("Boris")
    states = {one.person.name: (one.pause is not None, one.person.suspended) for one in campaign.people()}
    assert states["Anna"] == (True, False)
    assert states["Boris"] == (False, True)
    campaign.unpause_person("Anna")
    campaign.reinstate_person("Boris")
    assert not any(one.pause or one.person.suspended for one in campaign.people())
    assert campaign.remove_person("Boris")  # archived
    campaign.reinstate_person("Boris")
    assert campaign.invite_again("Boris").name == "Boris"
    with pytest.raises(ProjectError, match="there is no user named Zoe; the users are Lea, Anna"):
        campaign.suspend_person("Zoe")
    entries = printed("status", "log", folder, "--about", "decisions", "--by", "Lea", "--json")["entries"]
    assert [entry["words"] for entry in entries if "all were found" in entry["words"]] == [
        "opened batch 2: 20 pairs (“all were found”)"
    ]


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_judgements_are_those_of_a_release_and_their_revisions(opened: Opened, judging: Judging, folder: Path) -> None:
    pair, other = (found.pair for found in judging.pairs()[:2])
    judging.grade(0, pair, 1)
    judging.grade(0, pair, 3)
    judging.grade(1, pair, 4)
    judging.grade(2, other, 0)
    campaign = opened(folder, None)
    current = campaign.judgements()
    assert {(one.annotator, one.grade, one.revision, one.current, one.name) for one in current} == {
        (judging.annotators[0].annotator_id, 3, 2, True, None),
        (judging.annotators[1].annotator_id, 4, 1, True, None),
        (judging.annotators[2].annotator_id, 0, 1, True, None),
    }
    assert [plain(one) for one in current[1:2]] == plain(campaign.judgements(first=1, most=1))
    every = campaign.judgements(revisions=True, names=True)
    assert [(one.name, one.grade, one.current) for one in every if one.name == "Anna"] == [
        ("Anna", 1, False),
        ("Anna", 3, True),
    ]
    release = freezing.read(judging.project, freezing.ReleaseOptions()).raw
    assert [
        (one.pair_id, one.annotator, one.grade, one.round, one.graded_at, one.active_ms, one.elapsed_ms, one.contexts)
        for one in current
    ] == [row[:8] for row in release]
    assert (current[0].graded_at, current[0].simulated, current[0].probe) == ("2026-09-21T14:13:20Z", False, False)


def test_the_figures_of_agreement_are_those_of_the_command(opened: Opened, judging: Judging, folder: Path) -> None:
    for number, pair in enumerate(judging.pairs()):
        for who in (0, 1):
            judging.grade(who, pair.pair, (number + who * (number % 3)) % 5)
    board = plain(opened(folder, None).agreement(split="val"))
    summary = board.pop("summary")
    assert {**summary, **board} == printed("agreement", folder, "--split", "val", "--json")
    without = opened(folder, None).agreement(intervals=False)
    assert without.resamples == 0
    assert without.figures["alpha_ordinal"].low is None


def test_an_annotator_reads_their_own_work_alone(opened: Opened, judging: Judging, folder: Path) -> None:
    judging.grade(0, judging.pairs()[0].pair, 2)
    campaign = opened(folder, "Anna")
    assert (campaign.my_work().in_all, sum(campaign.my_work().grades)) == (1, 1)
    with pytest.raises(NotAllowed, match="only leads may do this; Anna is signed in as annotator"):
        campaign.judgements()
    assert not hasattr(campaign.my_work(), "to_frame")


def test_the_operator_acts_under_nobodys_name(folder: Path) -> None:
    campaign = Campaign(folder)
    with pytest.raises(NotAllowed, match=r"this needs a person of the project: open it .* Campaign\(folder, person="):
        campaign.open_batch(1)
    with pytest.raises(ProjectError, match="there is no user named Zoe"):
        Campaign(folder, person="Zoe")
    with pytest.raises(ProjectError, match="is a project already"):
        Campaign.create(folder, encoder="minilm")
    campaign.close()


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_lets_in_whom_its_table_names(judging_made: Judging, tmp_path: Path, name: str) -> None:
    """As its verbs do: those of them that check nothing would let in too many."""
    folder = Path(shutil.copytree(judging_made.project.folder, tmp_path / "project"))
    project = open_project(folder)
    suspend(project, judging_made.lead, judging_made.annotators[1].annotator_id, True, now=NOW)
    project.store.close()
    operation = OPERATIONS[name]
    needed = [one for one in operation.signature.parameters.values() if one.default is one.empty]
    given = {one.name: "no such" if one.name in operation.files else value(one.annotation) for one in needed}
    callers = {"Lea": {Needs.LEAD, Needs.IN_CHARGE}, "Anna": {Needs.ANNOTATOR}, "Boris": set(), None: {Needs.IN_CHARGE}}
    for person, may in callers.items():
        transport = InThisProcess(folder, person)
        try:
            transport.call(name, **given)
            refused = False
        except Exception as error:
            refused = isinstance(error, NotAllowed)
        transport.close()
        assert refused is (operation.needs not in may), person


def test_arguments_and_results_are_what_json_and_files_can_hold() -> None:
    assert {name: operation.files for name, operation in OPERATIONS.items() if operation.files} == {
        "import_corpus": ("file",),
        "draw_queries": ("own",),
        "add_truth": ("file",),
        "add_run": ("file", "videos"),
    }
    for name, operation in OPERATIONS.items():
        types = [one.annotation for one in operation.signature.parameters.values() if one.name not in operation.files]
        result = operation.signature.return_annotation
        msgspec.json.schema_components([*types, *([] if result is Path else [result])])
        assert operation.name == name == operation.function.__name__
        assert getattr(Campaign, name).__doc__ == operation.function.__doc__


def test_what_reads_changes_nothing(judging: Judging, folder: Path) -> None:
    """Each method that the table calls reading leaves every row of the database as it was."""
    for who in (0, 1):
        judging.grade(who, judging.pairs()[0].pair, 3)
    with Campaign(folder) as campaign, Campaign(folder, person="Anna") as annotator:
        before = rows_of(judging.project)
        for operation in OPERATIONS.values():
            if not operation.acts and operation.name not in ("release_file", "leaderboard"):
                getattr(annotator if operation.needs is Needs.ANNOTATOR else campaign, operation.name)()
        with pytest.raises(ProjectError):
            campaign.release_file("none")
        with pytest.raises(ProjectError, match="no ground truth shares queries with a stored run"):
            campaign.leaderboard()
        assert rows_of(judging.project) == before


def rows_of(project: Project) -> list[object]:
    tables = project.store.db.conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [[tuple(row) for row in project.store.db.conn.execute(f"SELECT * FROM {name}")] for (name,) in tables]


def test_lists_become_data_frames(judging: Judging, folder: Path) -> None:
    judging.grade(0, judging.pairs()[0].pair, 3)
    with Campaign(folder, person="Lea") as campaign:
        campaign.pause_person("Boris", "on holiday")
        frame = campaign.people().to_frame()
        assert isinstance(frame, pd.DataFrame)
        assert list(frame)[:5] == [
            *("person.annotator_id", "person.name", "person.role", "person.suspended", "has_password"),
        ]
        people = frame.set_index("person.name")
        assert people["pause.reason"].dropna().to_dict() == {"Boris": "on holiday"}
        assert people.loc["Anna", ["person.role", "judgements"]].tolist() == ["annotator", 1]
        judgements = campaign.judgements().to_frame()
        assert judgements.to_dict("records") == [asdict(one) for one in campaign.judgements()]
        empty = campaign.runs().to_frame()
        assert (len(empty), list(empty)[:2]) == (0, ["name", "file"])
        flags = campaign.flags().to_frame()
        assert flags.loc[0, "flags"][0]["kind"] == "too_fast"


def test_a_wrong_call_is_refused_as_that_of_any_function(folder: Path) -> None:
    with Campaign(folder) as campaign:
        with pytest.raises(TypeError, match="missing a required argument: 'name'"):
            campaign.add_person()  # type: ignore[call-arg]  # the typing error is the point
        with pytest.raises(TypeError, match="unexpected keyword argument 'nam'"):
            campaign.remove_run("mine", nam="mine")  # type: ignore[call-arg]
        with pytest.raises(InputError):
            campaign.add_run(folder / "none.json")
        assert campaign.runs() == []


def test_where_only_scoring_is_installed_the_missing_extra_is_told() -> None:
    code = """
import sys
sys.modules["sqlite_utils"] = None
from reelrank import Campaign
try:
    Campaign("films")
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith('`Campaign` needs the extra "app", which is not installed.')
    assert 'pip install "reelrank[app]"' in done.stdout
