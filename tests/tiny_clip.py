"""A CLIP model that nobody trained, small enough to be made in a moment."""

import json
from pathlib import Path


def write_clip(place: Path, seed: int = 4) -> Path:
    """Letters for tokens, two layers of width 32, pictures of 32 x 32."""
    import torch
    import transformers

    place.mkdir()
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    vocabulary = [*letters, *[f"{letter}</w>" for letter in letters], "<|startoftext|>", "<|endoftext|>"]
    (place / "vocab.json").write_text(json.dumps({token: n for n, token in enumerate(vocabulary)}))
    (place / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = transformers.CLIPTokenizer(str(place / "vocab.json"), str(place / "merges.txt"), model_max_length=77)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    last = len(vocabulary) - 1
    config = transformers.CLIPConfig(
        text_config={"vocab_size": last + 1, "bos_token_id": last - 1, "eos_token_id": last, **sizes},
        vision_config={"image_size": 32, "patch_size": 8, **sizes},
        projection_dim=16,
    )
    torch.manual_seed(seed)
    transformers.CLIPModel(config).save_pretrained(place)
    pictures = transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    transformers.CLIPProcessor(image_processor=pictures, tokenizer=tokenizer).save_pretrained(place)
    return place
