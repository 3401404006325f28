"""What the demo and the integration tests do with a real ONNX model and a built gemmc. One idea per module."""
