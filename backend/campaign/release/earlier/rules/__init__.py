"""What the files of an earlier campaign say."""
