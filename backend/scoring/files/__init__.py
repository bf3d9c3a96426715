"""Read the files of truths and runs into columns (arrays with one value for each moment)."""
