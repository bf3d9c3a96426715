"""Language models behind an endpoint: the only room that loads openai."""
