"""What the application can do, one module per noun; put together by ``app.py``."""
