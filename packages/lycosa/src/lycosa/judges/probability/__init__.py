"""The default judge: the probability that a person who asked for the topic would call a page relevant.

evidence        how a page answers the words, its features and its vector; and those of all pages so far
relevance_line  the regression, the number of relevant pages to expect, and so the line
learned_model   the model update that the pages so far teach
judge           the judge: the topic as it was typed, judging, learning, adopting model updates
"""

from lycosa.judges.probability.judge import Probability

__all__ = ["Probability"]
