"""Personal tokens: what programs send to call the HTTP interface as a person of the project."""
