"""Every text of the page “Bag generators” that is not about a single generator."""

GENERATORS_INTRO = (
    "One picture, four ways to cut it into a **bag of instances**. Click anywhere in a map: the same place is "
    "followed through all four, and below you see how its numbers came about, step by step."
)
UNIT_LABEL = "One colour scale for all four"
UNIT_TITLES = {"share": "Share of the bag", "even": "Times an even share"}
UNIT_HELP = (
    "Share of the bag: the attention itself, which sums to one over a bag, so bags of few instances look brighter. "
    "Times an even share: attention × number of instances; 1 means no preference."
)
UNIT_AXIS = {"share": "attention (share of the bag)", "even": "attention ÷ even share"}
FOLLOW_LABEL = "Follow it step by step"
INSTANCE_LABEL = "Instance"
NOT_SEEN = "does not look at this place"
NO_MODEL = "No ELIMIPL model for this generator is installed; the map shows an even share."
SAME_PLACE_HEADING = "The same place in all four bags"
HOW_HEADING = "How the numbers came about"

STEP_TITLES = {
    "row": (
        "**1** The picture at 224 × 224 px, the band framed",
        "**2** Blurred, then averaged to an 8 × 8 grid",
        "**3** Mean colour of the row above, this row, the row below",
        "**4** The instance: 9 numbers",
    ),
    "sbn": (
        "**1** The picture at 224 × 224 px, the centre blob framed",
        "**2** Blurred, averaged to 8 × 8: one blob of 2 × 2 cells and four neighbours",
        "**3** Mean colour of the five blobs",
        "**4** The instance: 15 numbers",
    ),
    "kmeansseg": (
        "**1** Blocks of 4 × 4 px: their mean brightness",
        "**2** Wavelet transform of each block: how rough it is",
        "**3** k-means with 2, 3, … clusters, until one more lowers the spread D by less than 2·10⁸",
        "**4** The clusters are the instances; this one is in colour",
        "**5** The instance: 6 numbers, the cluster's centre",
    ),
    "sift": (
        "**1** Grey picture, the 64 px patch and its 4 × 4 cells framed",
        "**2** Gradients: where brightness changes, and how much",
        "**3** In each cell, how much it brightens towards 8 directions",
        "**4** The instance: 128 numbers",
    ),
}
WRAPPED_ROW = "The first and the last row count as neighbours."
