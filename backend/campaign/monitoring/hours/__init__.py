"""Report working time: how much, what it costs, and how much is still to come."""
