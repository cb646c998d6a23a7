"""A recorded web, served again: WARC files behind an HTTP proxy."""
