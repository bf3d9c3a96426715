"""Examples of the guideline, chosen by leads."""
