"""What the web holds that costs pages and gives none: recognised, held back, never forbidden."""
