"""Words: tokens, stems, vocabularies, fingerprints."""
