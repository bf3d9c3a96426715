"""Find the forms (file formats) of published annotation and prediction files. Each file here lists its own in `FORMS`.

A file may list several, such as a benchmark's annotations and the predictions for it. To add a form, add a file here.
General formats such as CSV are not here: `formats` reads them.
"""

import pkgutil
from collections.abc import Sequence
from importlib import import_module

from backend.scoring.files.forms.form import Opening, RunForm, TruthForm


def find_forms() -> Sequence[TruthForm | RunForm]:
    """Return the forms that are defined in this package, by name.

    >>> [form.title for form in find_forms() if form.name == "didemo"]
    ['DiDeMo']
    """
    files = [module.name for module in pkgutil.iter_modules(__path__) if module.name != "form"]
    forms = [form for name in files for form in import_module(f"{__name__}.{name}").FORMS]
    return sorted(forms, key=lambda form: form.name)


FORMS = find_forms()
TRUTH_FORMS = [form for form in FORMS if isinstance(form, TruthForm)]
RUN_FORMS = [form for form in FORMS if isinstance(form, RunForm)]


def truth_form(opening: Opening) -> TruthForm | None:
    """Return the form of the annotation file that begins like this; None if no form recognises it."""
    return next((form for form in TRUTH_FORMS if form.recognise(opening)), None)


def run_form(opening: Opening) -> RunForm | None:
    """Return the form of the prediction file that begins like this; None if no form recognises it."""
    return next((form for form in RUN_FORMS if form.recognise(opening)), None)
