"""Train and test annotators: guideline, tutorial, qualification exam, calibration round and gold questions."""
