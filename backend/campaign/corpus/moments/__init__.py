"""Add moments without an annotation file: detected shots, windows of fixed length, or spans entered by hand."""
