"""What models said about a pair, folded away until the lead opens it. Opening it is recorded."""

import time
from html import escape

import streamlit as st

from annotate_app.language import tr
from annotate_app.plain import isolated
from annotate_app.shared import look
from backend.campaign.monitoring.model_judge.unfolding import has_model_grade, unfold_model_grades
from backend.campaign.nouns import Person
from backend.campaign.review.model import PairReview
from backend.campaign.setup.project.folder import Project


def model_said(project: Project, lead: Person, pair: PairReview) -> None:
    """Draw a fold with the grades that models gave to a pair and their reasons; nothing if no model graded it.

    While it is closed, the browser gets no grade of a model.
    """
    if not has_model_grade(project, lead, pair.pair):
        return
    fold = st.expander(tr("What the model said"), key=f"model-said-{pair.pair}", on_change="rerun")
    with fold:
        if not fold.open:
            return
        st.caption(tr("It is recorded that you opened this. A decision of yours says so from now on."))
        rows = [
            (
                *(escape(grade.judge.model), escape(grade.judge.prompt_version), look.grade_mark(grade.grade)),
                escape(isolated(grade.reason)),
            )
            for grade in unfold_model_grades(project, lead, pair.pair, now=time.time())
        ]
        st.html(look.table((tr("Model"), tr("Prompt"), tr("Grade", _context="noun"), tr("Reason")), rows, "rr-given"))
