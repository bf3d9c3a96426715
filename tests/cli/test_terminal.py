"""What strangers wrote reaches a terminal as text: no control character of a name or a query acts there."""

import io
import json
import logging
import re
import sys
from pathlib import Path

import pytest
import typer

from annotate_app.server.logs import _Json, _Text
from backend import cli
from backend.cli import output
from backend.core.errors import ProjectError
from cli.conftest import Run

HARM = "a\x1b]0;title\x07\x9b2J\u202eb\r\x00"
SHOWN = r"a\u001b]0;title\u0007\u009b2J\u202eb\u000d\u0000"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def printed(monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], work: object) -> tuple[str, str]:
    """What a command that does `work` prints on standard output and standard error."""
    app = typer.Typer()
    app.command()(work)  # type: ignore[type-var]
    monkeypatch.setattr(cli, "command", lambda: typer.main.get_command(app))
    monkeypatch.setattr(sys, "argv", ["reelrank"])
    out, err = stream(), stream()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    with pytest.raises(SystemExit):
        cli.main()
    assert sys.stdout is out
    return out.getvalue(), err.getvalue()


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_no_way_of_printing_lets_a_control_character_through(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO]
) -> None:
    monkeypatch.setenv("TERM", "dumb")  # without styles of our own

    def work() -> None:
        output.say(f"{HARM}\tx")
        output.table((HARM,), [("[red]1[/red]",)])
        output.table(("Name",), [(HARM,), ("[/x]",)])
        typer.echo(HARM)
        print(HARM)
        sys.stdout.writelines([HARM, "\n"])
        with output.progress_bar() as report:
            report(HARM, 1, 2)
        raise ProjectError(HARM)

    out, err = printed(monkeypatch, stream, work)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", out)
    assert out.count(SHOWN) == 6
    assert f"{SHOWN}\tx\n" in out
    assert "[red]1[/red]" in out
    assert f"reelrank: {SHOWN}\n" in err
    if stream is io.StringIO:
        assert err == f"reelrank: {SHOWN}\n"


def test_a_refusal_names_commands_as_they_were_typed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told() -> str:
        with pytest.raises(SystemExit):
            output.fail("run `reelrank migrate demo-project`")
        return capsys.readouterr().err

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", [".venv/bin/reelrank", "demo"])
    assert told() == "reelrank: run `.venv/bin/reelrank migrate demo-project`\n"
    (tmp_path / "reelrank").touch(mode=0o700)
    assert told() == "reelrank: run `reelrank migrate demo-project`\n"


def test_json_stays_the_same_and_tables_for_programs_keep_every_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def in_json() -> None:
        output.say(output.json_text({HARM: HARM}))

    def in_table() -> None:
        output.machine_output().write(HARM)

    for stream in (Terminal, io.StringIO):
        assert json.loads(printed(monkeypatch, stream, in_json)[0]) == {HARM: HARM}
    assert printed(monkeypatch, Terminal, in_table)[0] == SHOWN
    assert printed(monkeypatch, io.StringIO, in_table)[0] == HARM


def test_wrong_usage_and_a_traceback_are_shown_the_same_way(
    monkeypatch: pytest.MonkeyPatch, reelrank: Run, tmp_path: Path
) -> None:
    code, _, err = reelrank(f"no{HARM}".replace("\x00", ""))
    assert code == 2
    assert "\x1b" not in err
    err_stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys, "stderr", err_stream)

    def fails() -> None:
        raise RuntimeError(HARM)

    monkeypatch.setattr(cli, "command", lambda: fails)
    with pytest.raises(RuntimeError):
        cli.main()
    print(HARM, file=sys.stderr)  # as the interpreter prints its traceback
    assert err_stream.getvalue() == f"{SHOWN}\n"


@pytest.mark.parametrize("form", [_Text("%(message)s"), _Json()])
def test_the_servers_log_has_no_control_characters(form: logging.Formatter) -> None:
    line = form.format(logging.LogRecord("x", logging.INFO, "", 0, "%s", (HARM,), None))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", line)
    assert SHOWN in line or json.loads(line)["message"] == HARM


def test_nothing_writes_beside_the_streams_that_are_made_visible() -> None:
    root = Path(cli.__file__).parents[2]
    for path in [*root.glob("backend/**/*.py"), *root.glob("annotate_app/**/*.py"), *root.glob("reelrank/**/*.py")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"sys\.__std(out|err)__|\bos\.write\(|/dev/tty", text), path
        if path.name != "output.py":
            assert not re.search(r"\bConsole\(|as_is\(|import rich|from rich", text), path


@pytest.mark.parametrize(("stream", "lines"), [(Terminal, ["one two", "three"]), (io.StringIO, ["one two three"])])
def test_a_paragraph_is_broken_between_words_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], lines: list[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    monkeypatch.setattr(sys, "stdout", stream())
    output.paragraph("one two three")
    assert sys.stdout.getvalue().splitlines() == lines  # type: ignore[attr-defined]  # a StringIO, see above


def test_no_printed_duration_follows_a_clock_that_jumps(
    reelrank: Run, corpus_folder: Path, jump: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = jump
    readings = iter([before])
    monkeypatch.setattr("time.time", lambda: next(readings, after))
    duration = re.search(r"\((-?[0-9.]+) s\)", reelrank.out("doctor", corpus_folder / "project"))
    assert duration
    assert 0 <= float(duration[1]) < 600
