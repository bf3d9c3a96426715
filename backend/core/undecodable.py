"""What decoders of JSON and TOML raise about files that people hand in; whoever decodes one catches all of it."""

import msgspec

UNDECODABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""Not of that form, or of another shape; not UTF-8, or a number of more digits than Python takes; nested too deep."""
