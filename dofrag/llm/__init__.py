"""Language models behind one protocol: what is asked, what came back, and every way in which that can fail."""
