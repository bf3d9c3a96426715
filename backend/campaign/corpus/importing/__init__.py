"""Import videos, moments and captions from annotation files."""
