"""The look of all pages that Streamlit's theme has no words for, as one style sheet.

It comes with the page itself (`elimipl_app.server.app`), so that nothing moves when it takes effect. What belongs to
the compact pages only hangs on the key of their head. Sizes are those of widgets whose code the browser still has to
load: without them everything below moves once it has.
"""

COMPACT_HEAD = "compact-head"
"""Key of the head that leaves the first screen to the page itself."""
_COMPACT = f'[data-testid="stAppViewContainer"]:has(.st-key-{COMPACT_HEAD})'

NO_SIDEBAR = '<span class="no-sidebar"></span>'
"""What a page without a sidebar says, so that nobody waits for one."""

EVERY_PAGE = """
@keyframes appear {to {visibility: visible}}
[data-testid="stAppViewContainer"]:not(:has([data-testid="stSidebar"], .stException, .no-sidebar))
  {visibility: hidden; animation: appear 0s 6s forwards}
.stMainBlockContainer {padding-top: 2.2rem; padding-bottom: 3rem}
[data-testid^="stBaseButton-primary"] {color: light-dark(#FFFFFF, #14111A)}
.st-key-pages {gap: .25rem}
.st-key-pages :is(.stElementContainer, [data-testid="stPageLink"], [data-testid="stSkeleton"])
  {height: 2rem; min-height: 2rem; margin: 0 !important}
@media (max-width: 1200px) {
  .stMainBlockContainer {padding-left: 1.5rem; padding-right: 1.5rem}
  [class*="st-key-panels"] > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] {flex-wrap: wrap}
  [class*="st-key-panels"] > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] > .stColumn
    {flex: 1 1 100%; min-width: 100%}
}
"""
"""Streamlit leaves much room around the page and keeps columns side by side down to the width of a phone. Panels (a
container whose key begins with “panels”) stand below each other already in a narrow window. White on the accent of the
dark theme is hard to read. Until the sidebar stands the page is blank, for six seconds at most: otherwise it is drawn
across the window first and then pushed aside."""

COMPACT = f"""
{_COMPACT} [data-testid="stHeader"] {{background: transparent; height: 2.6rem; min-height: 0}}
{_COMPACT}:has([data-testid="stExpandSidebarButton"]) .st-key-{COMPACT_HEAD} {{padding-left: 2.6rem}}
{_COMPACT} .stMainBlockContainer {{padding: .7rem 1.6rem 3rem 1.6rem}}
{_COMPACT} .stMainBlockContainer > [data-testid="stVerticalBlock"] {{gap: .5rem}}
.st-key-{COMPACT_HEAD} {{padding-right: 2.6rem}}
.st-key-{COMPACT_HEAD} h1 {{font-size: 1.4rem; padding: 0}}
@media (max-width: 640px) {{
  {_COMPACT} .stMainBlockContainer {{padding-left: .9rem; padding-right: .9rem}}
}}
"""
"""The head lies beside Streamlit's own, which gives way."""

EXPLORE = """
.st-key-upload {min-height: 8rem}
.st-key-sample {min-height: 4.3rem}
[class*="st-key-thumb-"], [class*="st-key-thumb-"] [data-testid="stSkeleton"] {width: 3.1rem; height: 3.1rem}
[class*="st-key-thumb-"] button {width: 3.1rem; height: 3.1rem; min-height: 0; padding: 0; border-radius: .4rem;
  background-size: cover; background-position: center; border: 2px solid transparent}
[class*="st-key-thumb-"] button p {position: absolute; width: 1px; height: 1px; overflow: hidden; opacity: 0}
.st-key-answer h3 {font-size: 1.4rem; line-height: 1.2; padding: .1rem 0 .5rem 0}
.st-key-map-place {min-height: 50.3rem}
.st-key-answer-place {min-height: 35.2rem}
.st-key-overlay {min-height: 436px}
.st-key-figure-two {min-height: 99px}
.st-key-map-kinds, .st-key-map-tools, :is(.st-key-map-kinds, .st-key-map-tools) [data-testid="stSkeleton"]
  {height: 2rem; min-height: 2rem}
.st-key-map-kinds button, .st-key-map-tools button {min-height: 2rem; padding: .1rem .6rem}
.st-key-map-kinds button p {font-size: .86rem}
.st-key-map-says p, .st-key-answer p, .st-key-answer li {font-size: .875rem; line-height: 1.35}
@media (max-width: 1200px) {
  .st-key-answer-place {min-height: 0}
}
@media (max-width: 640px) {
  .st-key-map-kinds {height: auto; min-height: 4.25rem}
  .st-key-map-tools {gap: .4rem}
  .st-key-map-kinds button, .st-key-map-tools button {padding: .1rem .4rem}
  .st-key-hide kbd {display: none}
  .st-key-map-place {min-height: 50.9rem}
  .st-key-detail small {display: none}
  .st-key-detail p {font-size: .875rem; line-height: 1.35}
}
"""

STYLE = f"<style>{EVERY_PAGE}{COMPACT}{EXPLORE}</style>"
