"""Videos and moments without annotation files: shots, windows, and what a lead makes of them."""
