"""Rewrite captions with language models, and find names of people with named-entity taggers."""
