"""Measures for ranked video moment retrieval, one small module each."""
