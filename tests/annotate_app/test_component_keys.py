"""Components of ours take any key of a pair and any name of a run: Streamlit refuses two low lines in a row."""

from streamlit.testing.v1 import AppTest


def test_a_pair_whose_key_has_two_low_lines_in_a_row_is_shown() -> None:
    def script() -> None:
        from annotate_app.widgets.case_view import case_view
        from annotate_app.widgets.review_clip import clip_at

        clip_at("/clips/a__b.mp4", "Clip", "clip-a__b___c")
        case_view({}, key="case-1-0.5-run__1")

    app = AppTest.from_function(script, default_timeout=30).run()
    assert not app.exception
