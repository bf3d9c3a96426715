"""The guideline (instructions for annotators): its versions, who has read which, its examples, and practice pairs."""
