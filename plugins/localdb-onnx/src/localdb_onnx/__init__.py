"""Local ONNX embedder for localdb."""
