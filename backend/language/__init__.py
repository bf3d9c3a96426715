"""Ask language models for rewrites, and find names of people with taggers."""
