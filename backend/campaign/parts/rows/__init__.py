"""SQL that copies the rows of a part, compares the rows of several parts, and joins them."""
