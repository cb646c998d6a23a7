"""What touches the web: addresses, requests, robots rules and the bodies that come back."""
