"""One screen a module; each has `page()`, and checks by itself who may see it."""
