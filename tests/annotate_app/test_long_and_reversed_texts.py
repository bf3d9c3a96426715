"""What people wrote stays within its cell and its direction, and grades have one scale of colours."""

import re
from itertools import pairwise
from pathlib import Path

import annotate_app
from annotate_app.language import tr, translate_message
from annotate_app.plain import isolated, plain
from annotate_app.screens import disputes
from annotate_app.shared import grade_colours, look, waiting, wording
from backend.campaign.monitoring.progress.model import Wait, WaitKind
from backend.campaign.nouns import GRADE_COLOURS, Verdict
from backend.campaign.review.model import ReviewRow
from backend.core.ids import PairKey, QueryId
from backend.core.messages import said

HEBREW = "דנה"
LONG = "A dog runs over wet sand. " * 90


def test_a_hebrew_name_does_not_reverse_its_sentence() -> None:
    kept = f"\u2068{HEBREW}\u2069"
    assert tr("**{name}** wrote with {grade}", name=HEBREW, grade=3) == f"**{kept}** wrote with 3"
    assert translate_message(said("Nobody is called {name}.", name=HEBREW)) == f"Nobody is called {kept}."
    assert plain(HEBREW) == kept
    assert wording.caption(HEBREW) == f"“{kept}”"
    assert isolated("Zoë, 3") == "Zoë, 3"


def test_a_hebrew_name_does_not_reverse_the_line_of_what_waits() -> None:
    wait = Wait(WaitKind.NOTES, 2, None, (HEBREW,), HEBREW)
    kept = f"\u2068{HEBREW}\u2069"
    assert waiting.wait_line(wait).note == f"“{kept}” · {kept}"
    row = ReviewRow(PairKey("p"), QueryId(1), "A dog", "v", 0.0, 1.0, Verdict.OPEN, None, (), False, "", HEBREW)
    assert disputes._row(row).startswith(f"<b class='rr-of-case'>“{kept}”</b>")


def test_a_long_text_is_cut_in_every_table_and_whole_on_hover_and_focus() -> None:
    cell = f"{LONG}<small class='rr-of-case'>gave 3</small>"
    assert look.table(("Query",), [(LONG,)]).count("class='rr-clamp' tabindex='0' title='A dog runs") == 1
    assert wording.clamped(cell, focus=False).endswith("</span><small class='rr-of-case'>gave 3</small>")
    assert wording.clamped("short") == "short"
    marks = f"<span class='rr-ranks' role='img'>{'<i>4</i>' * 200}</span>"
    assert wording.clamped(marks) == marks, "a picture is no text"


def test_a_result_or_a_heading_names_a_long_query_by_its_beginning() -> None:
    assert wording.short("A dog runs.") == "A dog runs."
    assert len(wording.short(LONG)) == 120
    assert wording.short(LONG).endswith("…")


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * sign for sign in colour[1:])
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_grades_go_from_dark_to_bright_and_can_be_read() -> None:
    assert all(_luminance(one) < _luminance(other) for (one, _), (other, _) in pairwise(GRADE_COLOURS))
    for back, ink in GRADE_COLOURS:
        dark, bright = sorted((_luminance(back), _luminance(ink)))
        assert (bright + 0.05) / (dark + 0.05) >= 4.5, back
    own = re.compile(r"\.(?:rr-)?r\d\s*\{[^}]*#")
    styles = Path(annotate_app.__file__).parent.rglob("*.css")
    assert [one.name for one in styles if own.search(one.read_text(encoding="utf-8"))] == [], "one scale for all pages"
    assert all(f"--grade-{grade}: {back};" in grade_colours() for grade, (back, _) in enumerate(GRADE_COLOURS))
