"""Describe a release in Croissant 1.0, the vocabulary of MLCommons for data sets: `croissant.json`.

Catalogues and loaders such as `mlcroissant` read it to learn the release's files, their SHA-256, and the types of the
fields in its tables. See https://docs.mlcommons.org/croissant/docs/croissant-spec.html.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from backend.campaign.nouns import Split
from backend.campaign.release.export.licences import spdx_name
from backend.campaign.release.export.model import Contents, Field, ReleaseTable

_OWN_TERMS = (
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet", "format"),
    *("includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex"),
    *("repeated", "replace", "samplingRate", "separator", "source", "subField", "transform"),
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _OWN_TERMS},
}
"""The context that the specification prescribes."""
_MEDIA_TYPES = {
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".csv": "text/csv",
    ".md": "text/markdown",
    ".png": "image/png",
}
_DATA_TYPES = {
    "int64": "sc:Integer",
    "float64": "sc:Float",
    "string": "sc:Text",
    "bool": "sc:Boolean",
    "timestamp": "sc:DateTime",
}
CROISSANT = "croissant.json"
_ABOUT = "Graded ground truth for ranked video moment retrieval"


def croissant(
    contents: Contents, tables: Sequence[ReleaseTable], files: Mapping[str, tuple[str, int]]
) -> dict[str, Any]:
    """Return the content of `croissant.json`.

    Args:
        contents: content of the release.
        tables: the tables in its files.
        files: maps the name of each file to its SHA-256 and its size in bytes.
    """
    changed = datetime.fromtimestamp(contents.changed_at, UTC)
    licence, citation = contents.terms.licence, contents.terms.citation
    spdx = spdx_name(licence)
    queries = {split: len(contents.truth[split]) for split in (Split.VAL, Split.TEST)}
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": contents.name,
        "description": f"{_ABOUT}: {queries[Split.VAL]} validation and {queries[Split.TEST]} test queries with "
        f"{contents.moments} graded moments. README.md tells more.",
        **({"license": f"https://spdx.org/licenses/{spdx}.html" if spdx else licence} if licence else {}),
        **({"citeAs": citation} if citation else {}),
        "datePublished": f"{changed:%Y-%m-%d}",
        "version": f"{changed.year}.{changed.month}.{changed.day}",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": name,
                "encodingFormat": _MEDIA_TYPES[PurePath(name).suffix],
                "contentSize": f"{size} B",
                "sha256": sha256,
            }
            for name, (sha256, size) in sorted(files.items())
        ],
        "recordSet": [_record_set(table) for table in tables],
    }


def _record_set(table: ReleaseTable) -> dict[str, Any]:
    """Return the Croissant record set that describes a table.

    It names a CSV file as the source of the data, also for a table in JSON Lines: the CSV file of the same name.
    """
    name, suffix = PurePath(table.path).stem, PurePath(table.path).suffix
    file = f"{name}.csv" if suffix == ".jsonl" else table.path
    fields = []
    for field in table.fields:
        extract = {"column": field.name} if file.endswith(".csv") else {"jsonPath": f"$[*].{field.name}"}
        fields.append(_field(field, name, {"fileObject": {"@id": file}, "extract": extract}))
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}


def _field(field: Field, parent: str, source: dict[str, Any]) -> dict[str, Any]:
    """Return the Croissant description of a table's field.

    If its values are lists of objects, the fields of these objects are described inside it.
    """
    id_ = f"{parent}/{field.name}"
    result: dict[str, Any] = {"@type": "cr:Field", "@id": id_, "name": field.name}
    if field.fields or field.length:
        result["repeated"] = True
    if field.fields:
        parts = [_field(part, id_, {**source, "transform": {"jsonPath": part.name}}) for part in field.fields]
        return {**result, "source": source, "subField": parts}
    return {**result, "dataType": _DATA_TYPES[field.kind], "source": source}
