"""Report working time: how much, its cost, and how much is still to come."""
