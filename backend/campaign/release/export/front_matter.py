"""Write the YAML at the start of a release's README.md that tells Hugging Face which tables the data set has.

The website and `datasets.load_dataset` use it to find and read the tables. All tables of a folder must have the same
file format, because `load_dataset` reads each folder in one format.
"""

import re
from collections.abc import Sequence

import msgspec

from backend.campaign.release.export.licences import hub_licence
from backend.campaign.release.export.model import Contents, Field, ReleaseTable

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""Characters that JSON allows in a text and YAML does not."""


def front_matter(contents: Contents, tables: Sequence[ReleaseTable]) -> str:
    """Return the YAML that describes a release and its tables, enclosed in lines of three hyphens.

    Its values are written as JSON, so no text in them can make the YAML invalid.
    """
    configs: dict[str, list[ReleaseTable]] = {}
    for table in tables:
        configs.setdefault(table.config, []).append(table)
    queries = sum(map(len, contents.truth.values()))
    header: dict[str, object] = {
        "pretty_name": contents.name,
        **hub_licence(contents.terms.licence),
        "task_categories": ["text-retrieval"],
        "tags": ["video", "video-moment-retrieval", "reelrank"],
        "size_categories": [next((name for most, name in _SIZES if queries < most), "n>1M")],
        "configs": [
            {
                "config_name": config,
                **({"default": True} if config == "truth" else {}),
                "data_files": [{"split": table.split, "path": table.path} for table in of_config],
            }
            for config, of_config in configs.items()
        ],
        "dataset_info": [
            {"config_name": config, **_features(of_config), **_sizes(of_config)}
            for config, of_config in configs.items()
        ],
    }
    lines = (f"{key}: {_json(value)}\n" for key, value in header.items())
    return f"---\n{''.join(lines)}---\n\n"


def _features(tables: Sequence[ReleaseTable]) -> dict[str, object]:
    return {"features": [_feature(field) for field in tables[0].fields]} if tables[0].fields else {}


def _feature(field: Field) -> dict[str, object]:
    if field.fields:
        return {"name": field.name, "list": [_feature(part) for part in field.fields]}
    if field.length:
        return {"name": field.name, "list": field.kind, "length": field.length}
    return {"name": field.name, "dtype": {"timestamp": "timestamp[s, tz=UTC]"}.get(field.kind, field.kind)}


def _sizes(tables: Sequence[ReleaseTable]) -> dict[str, object]:
    """Return the numbers of rows and bytes of tables, as fields for the YAML; empty if they are not known."""
    if any(table.rows is None for table in tables):
        return {}
    total = sum(table.size for table in tables)
    return {
        "splits": [{"name": table.split, "num_bytes": table.size, "num_examples": table.rows} for table in tables],
        "download_size": total,
        "dataset_size": total,
    }


def _json(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
