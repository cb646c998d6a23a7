"""The people who use one Lycosa together: accounts, interests, sharing, feedback, suggestions, and what is to be
crawled for them.

    person --has--> interest --is hunted by--> crawl (a directory: log, archive, index)
                       |--shared with--> people, to read or to edit
                       |--learns from--> feedback: yes and no to pages

All of it lies in one database, SQLite or PostgreSQL (`database.py`); what a crawl found lies in its directory. Nothing
here knows of HTTP: `lycosa_server` asks, on behalf of a person.
"""
