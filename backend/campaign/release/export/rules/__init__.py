"""What a release says, from what the project knows. Pure."""
