"""Charades-STA (Gao et al., 2017) as it was published: lines `VIDEO start end##sentence`, times in seconds."""

from backend.core.captioned import CHARADES_LINE, charades_lines
from backend.scoring.files.forms.form import TruthForm, queries_of

FORMS = (
    TruthForm(
        "charades-sta",
        "Charades-STA",
        lambda opening: not opening.nesting and CHARADES_LINE.fullmatch(opening.line) is not None,
        lambda content, file: queries_of(charades_lines(content, file), file),
    ),
)
