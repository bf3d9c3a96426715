"""Find names of people in sentences with flair. This script runs in any Python that has flair, in its own process.

Standard input is one JSON list of texts. Standard output gets one line for each text, in order: a JSON list of the
names of people that the model finds in it. The one argument is the model, such as `ner`. The script imports nothing of
ReelRank, which may not be installed there.
"""

import json
import os
import sys

MIN_SCORE = 0.8
"""A name counts if the model's score is above this (the same as TVR-Ranking, which uses flair)."""

PEOPLE = ("PER", "PERSON")
"""The tags of people: the first in models for CoNLL-03, the second in those for OntoNotes."""

TEXTS = 256
"""Sentences in a batch."""


def main(model: str) -> None:
    """Read texts from standard input, and write the names that this model finds in each to standard output."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # flair's log goes to standard output
    texts = json.load(sys.stdin.buffer)
    from flair.data import Sentence
    from flair.models import SequenceTagger

    tagger = SequenceTagger.load(model)
    for start in range(0, len(texts), TEXTS):
        sentences = [Sentence(text) for text in texts[start : start + TEXTS]]
        tagger.predict(sentences, label_name="ner")
        for sentence in sentences:
            spans = [span for span in sentence.get_spans("ner") if span.tag in PEOPLE and span.score > MIN_SCORE]
            answers.write(json.dumps([span.text for span in spans]) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
