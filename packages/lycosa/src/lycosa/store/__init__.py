"""What is kept: the log of events, the archive of bytes."""
