"""Components of ours have keys of ours: whatever a run, a query or a pair is called, Streamlit refuses none of them."""

from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from annotate_app.plain import component_key


@given(st.text(alphabet=st.characters(codec=None)), st.text())
def test_a_key_has_signs_of_ours_and_tells_texts_apart(one: str, other: str) -> None:
    key = component_key(one)
    assert key.removeprefix("own-").isalnum()
    assert key.isascii()
    assert (key == component_key(other)) == (one == other)


def test_pairs_and_runs_of_any_name_are_shown() -> None:
    def script() -> None:
        from annotate_app.screens.leaderboard.board import case_view
        from annotate_app.shared.review_clip import clip_at

        for odd in ("a__b", "a_", "__", "$$ID-x", "<b>&", "a\nb", " ", "ä \u202e", "x" * 5000, "../..", "\ud800"):
            clip_at("/clips/a__b.mp4", "Clip", f"clip-{odd}")
            case_view({}, key=f"case-1-0.5-{odd}")

    app = AppTest.from_function(script, default_timeout=60).run()
    assert not app.exception
