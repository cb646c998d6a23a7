"""The server's data about people: accounts, interests, sharing, feedback, suggestions, and the crawl queue.

    person --has--> interest --is searched by--> crawl (a directory: log, archive, index)
                       |--shared with--> people, to read or to edit
                       |--learns from--> feedback: yes and no to pages

All of it is in one database, SQLite or PostgreSQL (`database.py`); crawled pages are in the crawl directories. Nothing
here depends on HTTP.
"""
