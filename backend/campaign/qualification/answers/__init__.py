"""Answers that are not judgements: what exam, calibration round, gold questions and practice share."""
