"""The model judge: a model that sees pictures grades pairs, apart from all judgements."""
