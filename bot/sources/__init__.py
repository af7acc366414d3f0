"""The haystacks (H6), behind one protocol, asked side by side."""
