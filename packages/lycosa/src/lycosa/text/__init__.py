"""Text processing: tokens, stems, vocabularies, fingerprints, word meanings."""
