"""Findings as pages, pictures and tables for LaTeX."""
