"""Language models behind an endpoint, and taggers of names: the only room that loads openai and flair."""
