"""BibTeX and BibLaTeX for localdb, on the standard library."""
