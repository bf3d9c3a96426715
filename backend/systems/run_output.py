"""Write the answers of a system as a run file, whole or not at all."""

from pathlib import Path

import msgspec

from backend.core.atomic_output import new_files, require_new_file
from backend.systems.model import Answers


def write_answers(out: Path, answers: Answers) -> None:
    """`{query_id: [[video, start, end, score], ...]}`, best first, a query a line; as `evaluate` reads it.

    Raises:
        ProjectError: the file is there already, or cannot be made.
    """
    require_new_file(out)
    lines = (msgspec.json.encode(query) + b": " + msgspec.json.encode(found) for query, found in answers.items())
    with new_files(out.parent) as own:
        (own / out.name).write_bytes(b"{\n" + b",\n".join(lines) + b"\n}\n")
