"""Pages take nothing away without a look: releases by their name, people into the archive, tokens, licences."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.kept_releases import list_releases
from backend.campaign.release.export.model import LICENCES
from backend.campaign.release.export.terms import release_terms
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.tokens.model import TokenScope
from backend.campaign.setup.tokens.personal_tokens import create_token, list_tokens
from reading import words
from small_project import PASSWORD, SmallProject
from support import NOW, PARTLY

Open = Callable[..., AppTest]


def test_a_release_goes_once_its_name_and_a_reason_are_typed(open_page_of: Open, real_project: SmallProject) -> None:
    project = real_project.project
    export_release(project, OPERATOR, None, PARTLY, name="v1", now=NOW)
    app = open_page_of("release")
    app.text_input(key="remove-name-v1").input("v2")
    app.text_input(key="remove-reason-v1").input("Wrong licence")
    app.button(key="FormSubmitter:remove-release-v1-Remove release").click().run()
    assert "To remove the release, type its name: v1" in words(app)
    app.text_input(key="remove-name-v1").input("v1")
    app.button(key="FormSubmitter:remove-release-v1-Remove release").click().run()
    assert "The release v1 is removed." in words(app)
    assert list_releases(project, OPERATOR) == []
    app.text_input(key="release_name").input("v1")
    app.button(key="make_release").click().run()
    assert "A release called v1 was made before, and names are never reused" in words(app)


def test_a_name_is_refused_before_a_release_begins(open_page_of: Open) -> None:
    app = open_page_of("release")
    assert app.text_input(key="release_name").placeholder == "release-1"
    app.text_input(key="release_name").input("../../etc/x")
    app.button(key="make_release").click().run()
    assert "The name ../../etc/x has a /." in words(app)


def test_a_licence_is_chosen_or_typed_in_a_field_of_its_own(open_page_of: Open, real_project: SmallProject) -> None:
    app = open_page_of("release")
    box = app.selectbox(key="terms_licence")
    assert list(box.options) == [*LICENCES, "Another licence"]
    assert not box.proto.accept_new_options  # a fragment typed to search it would be stored
    box.set_value("other").run()
    app.button(key="terms_save").click().run()
    assert "Enter the text of the licence" in words(app)
    app.text_input(key="terms_other").input("For members of the lab")
    app.button(key="terms_save").click().run()
    assert release_terms(real_project.project, OPERATOR).licence == "For members of the lab"


def test_somebody_with_judgements_goes_to_the_archive_and_comes_back(
    open_page_of: Open, real_project: SmallProject
) -> None:
    def archived() -> list[str]:
        return [one.person.name for one in list_people(real_project.project, OPERATOR) if one.is_archived]

    app = open_page_of("people")
    app.button(key="remove-2").click().run()
    assert "Ana is archived. Their work stays on record." in words(app)
    assert archived() == ["Ana"]
    assert "link-2" not in [button.key for button in app.button]
    app.button(key="bring-back-2").click().run()
    assert archived() == []
    assert app.button(key="link-2")


def test_links_stay_until_they_are_dismissed(open_page_of: Open) -> None:
    app = open_page_of("people")
    for name in ("Zoe", "Yan"):
        app.text_input(key="new_name").input(name)
        app.button(key="FormSubmitter:add_person-Add and invite").click().run()
    app.run()
    sent = ["**Send this link to Yan**", "**Send this link to Zoe**"]
    assert [one.value for one in app.markdown if "Send this link" in one.value] == sent
    next(button for button in app.button if button.label == "Dismiss").click().run()
    assert [one.value for one in app.markdown if "Send this link" in one.value] == sent[1:]


def test_why_somebody_was_not_paused_stands_in_their_row(open_page_of: Open) -> None:
    app = open_page_of("people")
    app.button(key="FormSubmitter:pause-2-Pause").click().run()
    order = [one.key if one.type == "button" else one.type for one in app.main if one.type in ("button", "error")]
    refused = order.index("error")
    assert order.index("suspend-2") < refused < order.index("suspend-3")


def test_a_lead_sees_everybodys_tokens_and_revokes_one(open_page_of: Open, real_project: SmallProject) -> None:
    project, ana = real_project.project, real_project.person("Ana")
    assert "Personal tokens" not in words(open_page_of("people"))
    token, text = create_token(project, ana, PASSWORD, "*nightly*", TokenScope.READ, 30, now=NOW)
    app = open_page_of("people")
    assert "Ana" in words(app)
    assert "Read only" in words(app)
    assert text.split("_")[2] not in words(app)
    app.button(key=f"revoke-{token.key}").click().run()
    assert "The token *nightly* of Ana is revoked." in words(app)
    assert list_tokens(project, real_project.lead) == []
