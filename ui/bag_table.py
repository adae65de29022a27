"""A bag as a table that a person can read: one row per instance, one column per feature."""

import pandas as pd

from bag_generators import Bag


def bag_table(bag: Bag) -> pd.DataFrame:
    """Instances as rows (index = instance number as drawn on the picture), features by their names."""
    table = pd.DataFrame(bag.features, columns=list(bag.feature_names))
    table.index.name = "instance"
    return table
