"""Videos, moments and captions, from annotation files."""
