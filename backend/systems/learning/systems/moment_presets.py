"""The published sizes of MMN's network and options of its training by data set, for the systems that build on it."""

from collections.abc import Mapping

from backend.systems.learning.system import Presets

MODELS: Mapping[str, Mapping[str, object]] = {
    "charades": {"power": 0.5},
    "activitynet": {"clips": 256, "pool": 4, "pooling": [15, 8, 8], "kernel": 9, "layers": 4, "power": 0.5},
    "tacos": {"clips": 256, "pool": 2, "pooling": [15, 8, 8, 8], "power": 0.3},
}
"""Options of the network where they differ from the defaults, which are those for Charades-STA."""


PREDICT: Mapping[str, Mapping[str, object]] = {
    "charades": {"nms": 0.5},
    "activitynet": {"nms": 0.5},
    "tacos": {"nms": 0.4},
}
"""Moments are suppressed before they are scored, in the public code of MMN, CroCs and G2L."""


def published_training(learning_rate: float, batch: int, epochs: int) -> Mapping[str, object]:
    """Return the options of training of a preset; the weight decay is that of MMN."""
    return {"learning_rate": learning_rate, "weight_decay": 1e-5, "batch": batch, "epochs": epochs}


MMN_PRESETS: Presets = {
    "charades": {
        "model": MODELS["charades"],
        "loss": {"full_epochs": 7},
        "training": published_training(1e-4, 48, 18),
        "predict": PREDICT["charades"],
    },
    "activitynet": {
        "model": MODELS["activitynet"],
        "loss": {"margin": 0.3, "weight": 0.1, "full_epochs": 6},
        "training": published_training(8e-4, 48, 18),
        "predict": PREDICT["activitynet"],
    },
    "tacos": {
        "model": MODELS["tacos"],
        "loss": {"min_iou": 0.3, "max_iou": 0.7, "top": 3, "margin": 0.1, "weight": 0.1, "full_epochs": 100},
        "training": published_training(1.5e-3, 4, 250),
        "predict": PREDICT["tacos"],
    },
}
"""The configurations of MMN's public code."""
