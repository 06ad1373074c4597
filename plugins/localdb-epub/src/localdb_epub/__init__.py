"""EPUB parser for localdb, on EbookLib (AGPL) and markdownify."""
