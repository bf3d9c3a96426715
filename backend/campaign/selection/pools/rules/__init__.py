"""Pure: which videos belong into a pool, and at which similarity a video counts as matching a sentence."""
