"""The guideline: its versions, who has read which, and its examples."""
