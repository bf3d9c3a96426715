"""SQL for describing."""
