"""Run by the Python that has flair, which need not be ReelRank's: sentences in, names of people out.

Standard input is one JSON list of texts. Standard output is a line a text, in their order: a JSON list of the people
that the model finds in it. The one argument is the model, such as `ner`. Imports nothing of ReelRank.
"""

import json
import os
import sys

MIN_SCORE = 0.8
"""A name counts if the model is surer of it than this (TVR-Ranking: the same, by flair)."""

PEOPLE = ("PER", "PERSON")
"""What flair's models call people: those of CoNLL-03 the first, those of OntoNotes the second."""

TEXTS = 256
"""Sentences at a time."""


def main(model: str) -> None:
    """Answer what is asked on standard input."""
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
