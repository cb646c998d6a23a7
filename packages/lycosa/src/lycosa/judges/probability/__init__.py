"""The default judge: the probability that a user interested in the topic would label a page relevant.

- evidence: match scores, features and vector of a page; a table of these for all pages so far
- relevance_line: the regression, and the threshold from the expected number of relevant pages
- learned_model: the model update learned from the pages so far
- judge: the judge itself, which parses the topic, judges, learns and applies model updates
"""

from lycosa.judges.probability.judge import Probability

__all__ = ["Probability"]
