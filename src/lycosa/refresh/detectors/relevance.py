"""The page entered the topic or left it: its score beta passed the threshold. Magnitude: |beta - beta'|, at most 1."""

from __future__ import annotations

from lycosa.refresh.change import Verdict
from lycosa.refresh.snapshot import Snapshot


def compare(old: Snapshot, new: Snapshot) -> Verdict | None:
    """Whether one version counts as found and the other doesn't.

    >>> compare(Snapshot("a", beta=0.75, threshold=0.5), Snapshot("a", beta=0.25, threshold=0.5))
    Verdict(changed=True, kind='topic', magnitude=0.5, says='left the topic: 0.75, now 0.25')
    """
    was, now = old.beta >= old.threshold, new.beta >= new.threshold
    if was == now:
        return Verdict(False)
    says = f"{'entered' if now else 'left'} the topic: {old.beta:.3g}, now {new.beta:.3g}"
    return Verdict(True, "topic", min(1.0, abs(old.beta - new.beta)), says)
