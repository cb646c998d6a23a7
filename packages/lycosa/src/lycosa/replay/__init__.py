"""Replay of a recorded web: WARC files behind an HTTP proxy."""
