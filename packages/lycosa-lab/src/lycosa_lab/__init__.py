"""The lab: experiments on recorded graphs, with the production code. docs/architecture.md says how data flow.

The judge is never the guide: what counts as found is decided by the subject's truth, which no strategy sees.
"""
