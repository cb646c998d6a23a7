"""Reading of finished and running crawls: pages and their text, search, export, report."""
