"""One module per stage of the pipeline; a stage reads what earlier stages wrote."""
