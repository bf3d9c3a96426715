"""How sure a comparison is."""
