"""The published sizes of MMN's network and options of its training by data set, for the systems that build on it."""

from collections.abc import Mapping

MODELS: Mapping[str, Mapping[str, object]] = {
    "charades": {"power": 0.5},
    "activitynet": {"clips": 256, "pool": 4, "pooling": [15, 8, 8], "kernel": 9, "layers": 4, "power": 0.5},
    "tacos": {"clips": 256, "pool": 2, "pooling": [15, 8, 8, 8], "power": 0.3},
}
"""Options of the network where they differ from the defaults, which are those for Charades-STA."""


def published_training(learning_rate: float, batch: int, epochs: int) -> Mapping[str, object]:
    """Return the options of training of a preset; the weight decay is that of MMN."""
    return {"learning_rate": learning_rate, "weight_decay": 1e-5, "batch": batch, "epochs": epochs}
