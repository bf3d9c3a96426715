"""What leads read and decide."""
