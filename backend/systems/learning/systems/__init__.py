"""The systems of the papers: one module each, with its network, its loss, and how it scores spans."""
