"""Share between the front ends of a project what each would otherwise know alone."""
