"""Read the files of truths and runs into columns."""
