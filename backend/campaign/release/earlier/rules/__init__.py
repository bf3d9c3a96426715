"""Rules that read the files of an earlier campaign."""
