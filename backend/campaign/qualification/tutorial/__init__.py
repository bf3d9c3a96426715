"""The tutorial: practice pairs with the explanation at once."""
