"""People hear of changes: feeds, mail, webhooks.

The log is the queue, so nothing is kept here but how far each target has got. From a change to a person:

    feeds       Atom and JSON Feed; their files, brought up to date after each round
    webhook     one target: POST, signed
    mail        another: a digest by SMTP
    outbox      what is delivered, and to each target each change once, however often it or we are down
    herald      all of it, as the options want it, and as a task beside the crawl
"""
