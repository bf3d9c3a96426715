"""The lead's page "Guideline": edit the guideline, compare its versions, and choose practice pairs."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import streamlit as st

from annotate_app.language import LANGUAGES, SOURCE, browser_texts, marked, tr, translate_message, trn
from annotate_app.plain import plain
from annotate_app.shared import address_state, joined, look, player, practice, results, wording
from annotate_app.shared.player import guideline
from annotate_app.shared.unsaved import warn_unsaved
from backend.campaign.nouns import GradeMeaning, Person, Scale
from backend.campaign.qualification.guideline.rules import Change
from backend.campaign.qualification.guideline.rules import changes as guideline_changes
from backend.campaign.qualification.guideline.versions import (
    examples,
    examples_chosen,
    guideline_readers,
    guideline_versions,
    reword_guideline,
)
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import Grading, GuidelineVersion, Question

_LABEL_LENGTH, _REASON_LENGTH = 24, 200
_PARTS = ("label", "meaning", "detail", "example")
_OTHER_LANGUAGES = [language for language in LANGUAGES if language != SOURCE]
_SCRIPTS = ("../../language/browser.js", "../../shared/desk/frame.js", "guide.js")
_PANEL = """<section class="player shown"><dialog class="panel" open><div class="body" tabindex="0"></div></dialog>
</section>"""
_STYLE = """
.player.shown { min-height: 0; max-height: none; container-type: inline-size; }
.player.shown .panel { position: static; width: 100%; max-height: 70svh; margin: 0; padding-top: 16px; overflow-y: auto;
  box-shadow: none; }
.player.shown .questions { grid-template-columns: 1fr; }
.player.shown .meanings li { grid-template: "digit meant" auto "digit shown" auto / 30px 1fr; gap: 2px 14px; }
.player.shown .meanings li.filmed {
  grid-template: "digit meant" auto "digit shown" auto "digit clip" auto / 30px 1fr; gap: 2px 14px;
}
"""
_PREVIEW_SCRIPT = """
export default function ({ parentElement, data }) {
  const dialog = parentElement.querySelector("dialog");
  const words = JSON.stringify(data.guideline);
  if (dialog.dataset.words === words) return;
  dialog.dataset.words = words;
  dialog.setAttribute("aria-label", data.label);
  speak(parentElement, data);
  new Guide(dialog, data.guideline).turned();
}
"""
_mount = st.components.v2.component(
    "reelrank_guideline_preview",
    html=_PANEL,
    css=player.style() + _STYLE,
    js="\n".join([joined(player.FOLDER, _SCRIPTS), _PREVIEW_SCRIPT]),
)


def page() -> None:
    """Draw three tabs: the texts of the guideline, its versions, and the practice pairs of the tutorial."""
    project, lead, _ = look.lead_page("Guideline")
    versions = guideline_versions(project, lead)
    words, kept, practised = address_state.tabs([marked("Words"), marked("Versions"), marked("Tutorial")])
    with words:
        _words(project, lead, versions[-1])
    with kept:
        _versions(versions, guideline_readers(project, lead))
    with practised:
        practice.practice(project, lead)


@look.lead_callback("guideline_problem")
def save(project: Project, lead: Person, version: int) -> None:
    """Save the texts typed in the form as a new version of the guideline.

    `version` is the version that the lead edited. If there is a newer one by now, the texts are refused.
    """
    state = st.session_state
    notes = _notes(project, lead)
    typed, reason = _typed(project.campaign.grading, version, notes), str(state.get(f"words-{version}-reason", ""))
    number, changed = reword_guideline(project, lead, typed, reason, now=time.time(), based_on=version)
    message = trn(
        "Version {number} saved; {n} text changed. Annotators read it before their next clip.",
        "Version {number} saved; {n} texts changed. Annotators read it before their next clip.",
        len(changed),
        number=number,
    )
    results.leave("guideline", message)


def changes_table(changes: list[Change]) -> str:
    """Return the differences of two versions of the guideline as an HTML table: which text, before and after."""
    rows = [
        (
            escape(translate_message(text_change.where)),
            f"<del>{escape(translate_message(text_change.before))}</del>",
            f"<ins>{escape(translate_message(text_change.after))}</ins>",
        )
        for text_change in changes
    ]
    return look.table((tr("Text"), tr("Before"), tr("After")), rows, "rr-changes")


def _words(project: Project, lead: Person, version: GuidelineVersion) -> None:
    grading, campaign = project.campaign.grading, project.campaign
    form, seen = st.columns([5, 4], gap="large")
    with form:
        st.caption(
            tr(
                "{number} grades, tolerance {tolerance}. You can change words at any time. The number of grades "
                "comes from a file, and is fixed after the first grade.",
                number=wording.number(len(grading.scale.meanings)),
                tolerance=grading.tolerance,
            )
        )
        with st.container(key="guideline-words"):
            typed = _form(grading, version.version, _notes(project, lead))
        warn_unsaved("guideline-words", changed=typed != grading, saved=str(version.version))
    with seen:
        st.header(tr("As annotators see it"), anchor=False)
        language = _preview_language(list(typed.translations))
        guideline_preview(guideline(replace(campaign, grading=typed), examples(project, lead), language))
        st.caption(
            tr("To add an example clip, open a settled pair on Disputes or Queries and choose “Show as example”.")
        )


def _preview_language(languages: list[str]) -> str:
    """Draw the choice of the language in which the guideline is previewed, if it has translations.

    Return the tag of the chosen language, or "" for the original texts.
    """
    if not languages:
        return ""
    return str(
        st.radio(
            tr("Language of the preview"),
            ["", *languages],
            format_func=lambda tag: LANGUAGES.get(tag, tag) if tag else tr("Original"),
            horizontal=True,
            key="guideline-preview-language",
        )
    )


def _notes(project: Project, lead: Person) -> dict[int, str]:
    """Return the note of each grade's example clip, by grade, the highest grade first."""
    return {example.grade: example.note for example in reversed(examples_chosen(project, lead))}


def _form(grading: Grading, version: int, notes: Mapping[int, str]) -> Grading:
    chosen = [
        language
        for language in _OTHER_LANGUAGES
        if st.toggle(
            tr("Add texts in {language}", language=LANGUAGES[language]),
            language in grading.translations,
            key=f"words-{version}-{language}",
            help=tr("Annotators who read this app in this language see these texts. An empty text stays as it is."),
        )
    ]

    def translated(name: str, label: str, *texts: str) -> None:
        for language in chosen:
            known = grading.translations.get(language, {})
            there = "\n".join(known.get(text, "") for text in texts)
            (st.text_area if name == "reminders" else st.text_input)(
                f"{label} ({LANGUAGES[language]})",
                there,
                key=f"words-{version}-{language}-{name}",
                placeholder="\n".join(texts),
            )

    for meaning in reversed(grading.scale.meanings):
        key = f"words-{version}-{meaning.grade}"
        with st.expander(f"{meaning.grade} {plain(meaning.label)}", expanded=meaning.grade == grading.scale.highest):
            left, right = st.columns([2, 5])
            left.text_input(tr("Label"), meaning.label, key=f"{key}-label", max_chars=_LABEL_LENGTH)
            right.text_input(tr("Meaning"), meaning.meaning, key=f"{key}-meaning")
            st.text_area(tr("In the guideline"), meaning.detail, key=f"{key}-detail", height=70)
            st.text_input(tr("Example in words"), meaning.example, key=f"{key}-example")
            labels = (tr("Label"), tr("Meaning"), tr("In the guideline"), tr("Example in words"))
            for part, label in zip(_PARTS, labels, strict=True):
                translated(f"{meaning.grade}-{part}", label, getattr(meaning, part))
    with st.expander(tr("Questions, reminders, example query")):
        st.text_input(tr("Query of the examples in words"), grading.example_query, key=f"words-{version}-query")
        translated("query", tr("Query of the examples in words"), grading.example_query)
        for nth, asked in enumerate((*grading.questions, Question("", "")), start=1):
            left, right = st.columns([2, 3])
            left.text_input(tr("Question {nth}", nth=nth), asked.title, key=f"words-{version}-ask-{nth}")
            right.text_input(
                tr("Explanation of question {nth}", nth=nth), asked.text, key=f"words-{version}-asked-{nth}"
            )
            translated(f"ask-{nth}", tr("Question {nth}", nth=nth), asked.title)
            translated(f"asked-{nth}", tr("Explanation of question {nth}", nth=nth), asked.text)
        st.text_area(
            tr("Reminders, one a line"), "\n".join(grading.reminders), key=f"words-{version}-reminders", height=120
        )
        translated("reminders", tr("Reminders, one a line"), *grading.reminders)
    if chosen and notes:
        with st.expander(tr("Notes of the example clips")):
            for grade, note in notes.items():
                translated(f"note-{grade}", tr("Grade {grade}", grade=grade), note)
    st.text_input(
        tr("Reason for the change"),
        key=f"words-{version}-reason",
        max_chars=_REASON_LENGTH,
        placeholder=tr("One sentence that annotators read with the changes"),
    )
    st.button(
        tr("Save as version {version}", version=version + 1),
        type="primary",
        key="words-save",
        on_click=save,
        args=(version,),
    )
    look.outcome("guideline")
    return _typed(grading, version, notes)


def _typed(grading: Grading, version: int, notes: Mapping[int, str]) -> Grading:
    """Return the guideline with the texts that are now in the fields of the lead's form.

    Args:
        grading: the stored guideline. Its texts are used for fields that are not drawn yet.
        version: the version that the lead edits, which is part of the keys of the fields.
        notes: the note of each grade's example clip, from `_notes`.
    """
    state = st.session_state
    originals = {f"note-{grade}": (note, note) for grade, note in notes.items()}

    def text(name: str, there: str) -> str:
        return " ".join(str(state.get(f"words-{version}-{name}", there)).split())

    def field(name: str, there: str) -> str:
        originals[name] = there, text(name, there)
        return originals[name][1]

    def lines(name: str, there: Sequence[str]) -> list[str]:
        return [" ".join(line.split()) for line in str(state.get(name, "\n".join(there))).splitlines()]

    meanings = [
        GradeMeaning(one.grade, *(field(f"{one.grade}-{part}", getattr(one, part)) for part in _PARTS))
        for one in grading.scale.meanings
    ]
    asked = [
        Question(field(f"ask-{nth}", one.title), field(f"asked-{nth}", one.text))
        for nth, one in enumerate((*grading.questions, Question("", "")), start=1)
    ]
    query = field("query", grading.example_query)
    reminders = [line for line in lines(f"words-{version}-reminders", grading.reminders) if line]
    translations = {}
    for language in {*_OTHER_LANGUAGES, *grading.translations}:
        known = grading.translations.get(language, {})
        reminded = lines(f"words-{version}-{language}-reminders", [known.get(one, "") for one in grading.reminders])
        told = {one: known[one] for one in known.keys() - {*grading.texts, *notes.values()}}  # of earlier examples
        fields = [(now, text(f"{language}-{name}", known.get(was, ""))) for name, (was, now) in originals.items()]
        both = [*fields, *zip(reminders, reminded, strict=False)]
        told |= {original: translation for original, translation in both if original and translation}
        if told:
            translations[language] = told
    return replace(
        grading,
        scale=Scale(tuple(meanings)),
        example_query=query,
        questions=tuple(one for one in asked if one.title or one.text),
        reminders=tuple(reminders),
        translations=translations,
    )


def _versions(versions: list[GuidelineVersion], readers: dict[int, int]) -> None:
    zone = st.context.timezone
    rows = [
        (
            str(guideline.version),
            tr("the start") if guideline.since is None else wording.when(guideline.since, zone),
            escape(guideline.by or ("" if guideline.since is None else tr("the command line"))),
            escape(guideline.reason),
            f"{readers.get(guideline.version, 0):,}",
        )
        for guideline in reversed(versions)
    ]
    st.html(look.table((tr("Version"), tr("Since"), tr("By"), tr("Reason"), tr("Last read by")), rows))
    st.caption(tr("Each grade belongs to the version in force when it was given. “Last read by” counts annotators."))
    if len(versions) == 1:
        return
    by_number = {guideline.version: guideline for guideline in versions}
    left, right, _ = st.columns([2, 2, 5])
    newest = versions[-1].version
    before = left.selectbox(tr("From version"), list(by_number), index=newest - 2, key=f"versions-from-{newest}")
    after = right.selectbox(tr("To version"), list(by_number), index=newest - 1, key=f"versions-to-{newest}")
    if before is None or after is None:
        return
    changed = guideline_changes(by_number[before].grading, by_number[after].grading)
    if changed:
        st.html(changes_table(changed))
    else:
        st.caption(tr("These versions are the same."))


def guideline_preview(words: dict[str, Any]) -> None:
    """Draw the guideline as annotators see it. `words` are its texts, as `shared.player.guideline` returns them."""
    data = {"guideline": words, "label": tr("The guideline as annotators see it")}
    _mount(data=data | browser_texts(player.FOLDER, _SCRIPTS), key="guideline-preview")
