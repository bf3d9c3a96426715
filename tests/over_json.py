"""A transport that sends everything as JSON and files as bytes, as one over a network would."""

from pathlib import Path
from typing import Any

import msgspec

from backend.api.campaign import OPERATIONS, InThisProcess
from backend.core.messages import as_text


class OverJson:
    """Reaches a campaign in this process, but takes and hands over nothing that JSON or a file cannot hold."""

    def __init__(self, folder: Path, person: str | None, spool: Path) -> None:
        self._inner, self._spool = InThisProcess(folder, person), spool
        spool.mkdir(exist_ok=True)

    def call(self, name: str, /, **arguments: Any) -> Any:
        operation = OPERATIONS[name]
        signature = operation.signature
        sent: dict[str, Any] = {}
        for argument, value in arguments.items():
            if argument in operation.files and value is not None:
                sent[argument] = self._spool / Path(value).name
                sent[argument].write_bytes(Path(value).read_bytes())
            else:
                text = msgspec.json.encode(value)
                sent[argument] = msgspec.json.decode(text, type=signature.parameters[argument].annotation)
        result = self._inner.call(name, **sent)
        if signature.return_annotation is Path:
            return result
        text = msgspec.json.encode(result, enc_hook=as_text)
        return msgspec.json.decode(text, type=signature.return_annotation)

    def close(self) -> None:
        self._inner.close()
