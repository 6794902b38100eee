"""Drawing: scenes that games emit, and the renderers that turn a scene into SVG, PNG or terminal text."""
