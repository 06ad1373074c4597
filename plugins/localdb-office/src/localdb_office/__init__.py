"""Word, PowerPoint, Excel and CSV files for localdb."""
