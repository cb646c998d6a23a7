"""Trap detection: pages that cost requests and give nothing are recognised and held back, never forbidden."""
