"""People hear of changes: feeds, mail, webhooks.

The log is the queue, so nothing is kept here but how far each target has got. From a change to a person:

    words       a change in a line, for all of them
    target      what is delivered, who takes it, and what they answer
    atom        a feed, as RFC 4287 has it
    json_feed   the same as JSON Feed 1.1
    feeds       both files, brought up to date after each round
    webhook     one target: POST, signed
    mail        another: a digest by SMTP
    outbox      to each target each change once, however often it or we are down
    making      the targets, from the options
    herald      all of it, for whoever watches
    crier       the same as a task beside the crawl
"""
