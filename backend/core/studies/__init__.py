"""Studies of measures: how they agree, how stable they are, what noise does to them. Pure functions of values."""
