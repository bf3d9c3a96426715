"""Truth and runs as columns, and which prediction meets which moment."""
