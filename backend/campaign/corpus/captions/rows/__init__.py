"""The SQL of rewritten captions and of what people decided about them."""
