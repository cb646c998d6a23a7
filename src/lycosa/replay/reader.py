"""The reader of WARC files: fastwarc's, without the warning about its own older classes that importing it gives."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator

__all__ = ["ArchiveIterator"]
