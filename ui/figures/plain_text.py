"""Names of strangers (classes of somebody's data) inside a figure."""


def plain(text: str) -> str:
    """The text as Plotly shows it unchanged: it reads <tags>, &entities; and, in hover texts, %{placeholders}.

    >>> plain("<a href='x'>T&N</a> %{y}")
    "&lt;a href='x'&gt;T&amp;N&lt;/a&gt; %&#123;y}"
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("%{", "%&#123;")
