"""A lead corrects a caption on the page Captions: the result stands below the form, and its history with it."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from backend.campaign.corpus.captions.correcting import accepted_captions
from reading import read, words
from support import Judging

Open = Callable[..., AppTest]


def test_a_caption_that_nobody_was_handed_is_corrected_beside_its_history(open_judging: Open, judging: Judging) -> None:
    first = accepted_captions(judging.project, judging.lead, most=1)[0]
    app = open_judging("captions", caption=str(first.caption_id))
    place = f"caption-{first.caption_id}"
    app.text_area(key=f"{place}-text").set_value(" ")
    app.button(key=f"FormSubmitter:{place}-Correct the caption").click().run()
    assert [read(one.value) for one in app.error] == ["The caption is empty. Write what happens in the clip."]
    app.text_area(key=f"{place}-text").set_value("A dog sleeps.")
    app.button(key=f"FormSubmitter:{place}-Correct the caption").click().run()
    assert not app.error
    assert [read(one.value) for one in app.success] == ["Caption corrected. Its history is below its text."]
    assert f"“{first.text}” became “A dog sleeps.”." in words(app)
