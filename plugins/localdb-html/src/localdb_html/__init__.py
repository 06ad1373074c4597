"""HTML pages for localdb."""
