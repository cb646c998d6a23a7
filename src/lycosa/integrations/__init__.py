"""Lycosa as a part of other frameworks.

telemetry.py      spans for OpenTelemetry
"""
