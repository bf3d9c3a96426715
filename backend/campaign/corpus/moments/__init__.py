"""Make moments without annotation files: from shots, from windows, and by a lead's hand."""
