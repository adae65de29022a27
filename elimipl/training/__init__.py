"""Algorithm 1 and what it needs: batches, steps, checkpoints, reports, splits and the paper's protocol."""
