"""Where the pages of a corpus come from: each module turns one kind of source into recorded pages or a graph."""
