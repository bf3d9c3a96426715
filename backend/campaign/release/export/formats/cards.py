"""Write the card of a release in another form; Parquet's begins with YAML for Hugging Face's programs. Pure."""

from collections.abc import Sequence

import msgspec

from backend import __version__
from backend.campaign.judging.rules import RULE_VERSION
from backend.campaign.nouns import Split
from backend.campaign.release.export.formats.model import MadeTable
from backend.campaign.release.export.model import LICENCES, Contents

TABLES = """Each table holds what the file of its name holds in a release in the form of TVR-Ranking: `truth` the graded
moments of each query, `train_top01`, `train_top20` and `train_top40` the most similar moments of each training query
with the similarity as weight, `grades` every grade that counts, `pairs` every pair that was judged, `videos` their
durations.

    from datasets import load_dataset
    truth = load_dataset("path/to/this/folder", "truth")
"""
_OTHER_NAMES = {"ODC-By-1.0": "odc-by", "ODbL-1.0": "odbl"}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def card(contents: Contents, form: str, said: str, tables: Sequence[MadeTable]) -> str:
    """The text of `README.md`.

    Args:
        contents: of the release.
        form: its name.
        said: what a reader must know of the form.
        tables: the tables, where there are any; then the card begins with YAML.
    """
    counts, terms, selection = contents.counts, contents.terms, contents.selection
    simulated = (
        f"\n> **Simulated judgements.** {counts['simulated']} of the {counts['judgements']} grades were made up by "
        "the demo, not given by people. Do not use this as ground truth.\n"
        if counts["simulated"]
        else ""
    )
    licence = f"\nLicence: {terms.licence}\n" if terms.licence else ""
    citation = f"\n## Citation\n\n```\n{terms.citation}\n```\n" if terms.citation else ""
    text = f"""# {contents.name}: graded ground truth for ranked video moment retrieval, as {form}
{simulated}
Made with ReelRank {__version__}. Candidates chosen by {contents.chosen_by}; consensus rule `{RULE_VERSION}`.
{licence}
| | |
| --- | ---: |
| validation queries | {len(contents.truth[Split.VAL])} |
| test queries | {len(contents.truth[Split.TEST])} |
| pairs with a relevance | {selection.moments} |
| of them decided by a lead | {selection.adjudicated} |
| grades | {counts["judgements"]} |

{said}
`manifest.json` has the settings, the counts and the SHA-256 of each file.
{citation}"""
    return _yaml(contents, tables) + text if tables else text


def _yaml(contents: Contents, tables: Sequence[MadeTable]) -> str:
    """The header. JSON is YAML, so that no text can break it."""
    configs: dict[str, list[MadeTable]] = {}
    for table in tables:
        configs.setdefault(table.config, []).append(table)
    queries = sum(table.rows for table in tables if table.config == "truth")
    header: dict[str, object] = {
        "pretty_name": contents.name,
        **_licence(contents.terms.licence),
        "task_categories": ["text-retrieval"],
        "tags": ["video", "video-moment-retrieval", "reelrank"],
        "size_categories": [next((name for most, name in _SIZES if queries < most), "n>1M")],
        "configs": [
            {
                "config_name": config,
                **({"default": True} if config == "truth" else {}),
                "data_files": [{"split": table.split, "path": table.path} for table in found],
            }
            for config, found in configs.items()
        ],
        "dataset_info": [
            {
                "config_name": config,
                "splits": [
                    {"name": table.split, "num_bytes": table.size, "num_examples": table.rows} for table in found
                ],
                "download_size": sum(table.size for table in found),
                "dataset_size": sum(table.size for table in found),
            }
            for config, found in configs.items()
        ],
    }
    lines = (f"{key}: {msgspec.json.encode(value).decode()}\n" for key, value in header.items())
    return f"---\n{''.join(lines)}---\n\n"


def _licence(licence: str) -> dict[str, str]:
    """As Hugging Face names licences: those of SPDX in lower case, any other by its own name."""
    if licence in LICENCES:
        return {"license": _OTHER_NAMES.get(licence, licence.lower())}
    return {"license": "other", "license_name": licence} if licence else {}
