"""Choose what is judged: queries, candidate lists, batches and massive-video pools."""
