"""The judge that `lycosa crawl` has unless another is named: the probability that a person would say yes.

asking      the topic as it was typed: words, phrases, words that speak against
evidence    what is seen of a page: how it answers the words, its features, its vector
pages       the evidence of all pages so far, in columns
regression  from pages that are known to be relevant to a direction in which such pages lie
line        how many of the pages are relevant, and so where the line between yes and no is drawn
judge       puts them together: judge, learn, lesson, adopt
"""

from lycosa.topics.probability.judge import Probability

__all__ = ["Probability"]
