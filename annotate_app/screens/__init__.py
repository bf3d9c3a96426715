"""One screen a module; each has `page()`, which asks the gate before it shows anything."""
