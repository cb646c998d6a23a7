"""What a crawl has gathered, for reading: pages and their text, search, export, report."""
