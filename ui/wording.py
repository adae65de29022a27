"""Every text a person reads more than once, in one place."""

APP_TITLE = "ELIMIPL pathology explorer"
NOT_A_DEVICE = "For teaching and research. Not a medical device: never use it for a diagnosis."

PAGES = (("app.py", "Explore", ":material/biotech:"),)

PICTURE_HEADING = "Picture"
SAMPLE_LABEL = "Sample"
SAMPLE_HELP = "Ready pictures that ship with the app. Phantoms are drawn, so we know which parts carry the class."
UPLOAD_LABEL = "Or upload your own"
UPLOAD_HELP = "PNG, JPEG, TIFF, BMP or WebP of colorectal H&E tissue. The picture stays on this machine."
UPLOAD_TYPES = ("png", "jpg", "jpeg", "tif", "tiff", "bmp", "webp")
UPLOAD_IN_USE = "Your upload is shown. Remove it above to return to the samples."

GENERATOR_HEADING = "Bag generator"
OUTLINE_LABEL = "Outline the instances"
BAG_HEADING = "The bag: one row per instance"

EXPECTED_SCALE = "The models expect about 0.5 µm per pixel on a tile of 224 × 224 pixels."
