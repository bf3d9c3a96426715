"""Convert the name of a licence to its SPDX name, or to the spelling that Hugging Face uses. Pure functions."""

import re

_SPDX = (
    *("CC0-1.0", "CC-BY-2.0", "CC-BY-2.5", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0"),
    *("CC-BY-NC-2.0", "CC-BY-NC-3.0", "CC-BY-NC-4.0", "CC-BY-ND-4.0", "CC-BY-NC-ND-3.0", "CC-BY-NC-ND-4.0"),
    *("CC-BY-NC-SA-2.0", "CC-BY-NC-SA-3.0", "CC-BY-NC-SA-4.0", "ODC-By-1.0", "ODbL-1.0", "PDDL-1.0", "C-UDA-1.0"),
    *("CDLA-Sharing-1.0", "CDLA-Permissive-1.0", "CDLA-Permissive-2.0", "etalab-2.0", "MIT", "Apache-2.0"),
    *("AFL-3.0", "Artistic-2.0", "BSL-1.0", "BSD-2-Clause", "BSD-3-Clause", "BSD-3-Clause-Clear", "WTFPL", "ECL-2.0"),
    *("EPL-1.0", "EPL-2.0", "EUPL-1.1", "ISC", "LPPL-1.3c", "MS-PL", "MPL-2.0", "OSL-3.0", "PostgreSQL", "OFL-1.1"),
    *("NCSA", "Unlicense", "Zlib"),
    *(f"{name}-{rest}" for name in ("GPL-2.0", "GPL-3.0", "LGPL-2.1", "LGPL-3.0") for rest in ("only", "or-later")),
    *("AGPL-3.0-only", "AGPL-3.0-or-later"),
)
"""SPDX names of the licences that the hub of Hugging Face knows (its documentation, "Licenses")."""
_BY_KEY = {name.lower(): name for name in _SPDX}
_OTHER_SPELLINGS = {"odc-by-1.0": "odc-by", "odbl-1.0": "odbl", "pddl-1.0": "pddl", "c-uda-1.0": "c-uda"}


def spdx_name(licence: str) -> str | None:
    """Return the SPDX name of a licence that Hugging Face knows; None for any other text.

    Capitals do not matter, and spaces may stand for hyphens.

    >>> spdx_name("CC BY 4.0"), spdx_name("cc-by-4.0"), spdx_name("Our own terms")
    ('CC-BY-4.0', 'CC-BY-4.0', None)
    """
    return _BY_KEY.get(re.sub(r"[\s_-]+", "-", licence.strip()).lower())


def hub_licence(licence: str) -> dict[str, str]:
    """Return the fields for a licence in the card of a data set on Hugging Face; empty without a licence.

    >>> hub_licence("ODbL-1.0"), hub_licence("GPL-3.0-or-later"), hub_licence("Ask us (2026)")
    ({'license': 'odbl'}, {'license': 'gpl-3.0'}, {'license': 'other', 'license_name': 'ask-us-2026'})
    """
    if not licence:
        return {}
    if name := spdx_name(licence):
        key = name.lower()
        return {"license": _OTHER_SPELLINGS.get(key, key.removesuffix("-only").removesuffix("-or-later"))}
    return {"license": "other", "license_name": re.sub(r"[^a-z0-9.]+", "-", licence.lower()).strip("-.") or "custom"}
