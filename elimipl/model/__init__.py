"""The paper's section 3: embedding, attention, head, losses and the beliefs in candidate labels."""
