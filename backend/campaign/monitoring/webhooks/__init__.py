"""Webhooks: other programs are told of finished batches, releases and quality flags, by signed HTTP requests."""
