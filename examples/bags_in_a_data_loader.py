"""Read bags of different sizes with torch's own DataLoader, for training loops of your own."""

import torch
from torch.utils.data import DataLoader

from elimipl import collate_bags
from elimipl.datasets.benchmark_sets import build_digits

digits = build_digits(r=1)
print(digits[0].name, digits[0].features.shape, digits[0].candidates)
for batch in DataLoader(digits, batch_size=32, shuffle=True, collate_fn=collate_bags):
    sums = torch.zeros(len(batch.labels), digits.dim).index_add(0, batch.bag_of, batch.x)  # one vector for each bag
    means = sums / torch.bincount(batch.bag_of)[:, None]
    print(f"{len(batch.x)} instances of {len(batch.labels)} bags, means {tuple(means.shape)}")
