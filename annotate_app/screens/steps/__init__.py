"""The steps of the page Set up, a file each."""
