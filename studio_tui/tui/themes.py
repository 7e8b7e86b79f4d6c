"""The tokens of the look, as themes. No colour is written anywhere else.

A token is a theme variable in style sheets (``$soft``) and a name for the line widgets (``palette.style("bold fail")``).
Five themes: dark, light, high contrast, sixteen colours of the terminal's own, and none at all (``NO_COLOR``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rich.color import Color
from rich.style import Style
from textual.theme import Theme

TOKENS: Final = (
    *("ground", "raised", "line", "ink", "soft", "faint", "accent", "pick"),
    *("run", "ok", "fail", "warn", "gate", "mute"),
)
DEFAULT_THEME: Final = "dark"


def _tokens(values: str) -> dict[str, str]:
    return dict(zip(TOKENS, values.split(), strict=True))


_DARK: Final = _tokens(
    "#0e1116 #151a21 #262e38 #d5dbe3 #8893a1 #66717f #6aaef7 #1d3450 #6aaef7 #6fb39a #ff8a5c #e6b450 #b79af0 #7d8896"
)
_LIGHT: Final = _tokens(
    "#fbfbf9 #f1f1ec #d9d9d2 #22262b #666e78 #868e97 #1f6fbf #d6e7f8 #1f6fbf #2c7a60 #c2410c #9a6700 #6d4bc3 #6b737d"
)
_CONTRAST: Final = _tokens(
    "#000000 #101010 #8a8a8a #ffffff #e0e0e0 #c4c4c4 #8fd0ff #003f7f #8fd0ff #8ff0c8 #ffa27a #ffd866 #d9c2ff #c8c8c8"
)
_ANSI: Final = _tokens(
    "ansi_default ansi_default ansi_bright_black ansi_default ansi_default ansi_bright_black ansi_bright_blue ansi_default "
    "ansi_bright_blue ansi_green ansi_bright_red ansi_yellow ansi_bright_magenta ansi_bright_black"
)
_MONO: Final = dict.fromkeys(TOKENS, "ansi_default")


@dataclass(frozen=True)
class Palette:
    """Styles for segments, from one theme's tokens.

    With ``reverse`` the picked row is one flat reversed bar, since sixteen colours (or none) have no quiet background.
    """

    tokens: Mapping[str, str]
    reverse: bool = False
    _styles: dict[tuple[str, str], Style] = field(default_factory=dict)

    def style(self, name: str, on: str = "ground") -> Style:
        """The style of a token, ``"soft"`` or ``"bold fail"``, on one of the backgrounds ground, raised and pick."""
        key = (name, on)
        found = self._styles.get(key)
        if found is None:
            found = self._styles[key] = self._make(name, on)
        return found

    def _make(self, name: str, on: str) -> Style:
        token = name.removeprefix("bold ")
        bold = token != name
        if self.reverse and on == "pick":
            return Style(bold=bold, reverse=True)
        return Style(color=_rich(self.tokens[token]), bgcolor=_rich(self.tokens[on]), bold=bold or None)


def _rich(color: str) -> Color:
    return Color.parse(color.removeprefix("ansi_"))


PALETTES: Final[dict[str, Palette]] = {
    "dark": Palette(_DARK),
    "light": Palette(_LIGHT),
    "contrast": Palette(_CONTRAST),
    "ansi": Palette(_ANSI, reverse=True),
    "mono": Palette(_MONO, reverse=True),
}


def palette(theme: str) -> Palette:
    """The palette of one of our themes; any other name gets the default one."""
    return PALETTES.get(theme, PALETTES[DEFAULT_THEME])


def themes() -> list[Theme]:
    """Every theme, ready to register. Textual's own widgets get their colours from the same tokens."""
    return [_theme(name, entry) for name, entry in PALETTES.items()]


def _theme(name: str, entry: Palette) -> Theme:
    t = entry.tokens
    ansi = entry.reverse
    return Theme(
        name=name,
        primary=t["accent"],
        secondary=t["soft"],
        accent=t["accent"],
        foreground=t["ink"],
        background=t["ground"],
        surface=t["ground"],
        panel=t["raised"],
        boost=t["raised"],
        success=t["ok"],
        warning=t["warn"],
        error=t["fail"],
        dark=name != "light",
        ansi=ansi,
        variables={**t, **_of_textual(t, ansi)},
    )


def _of_textual(t: Mapping[str, str], ansi: bool) -> dict[str, str]:
    """The variables by which Textual's own widgets draw cursors, borders and selections."""
    picked = {"foreground": t["ink"], "background": t["pick"], "text-style": "bold reverse" if ansi else "bold"}
    quiet = {"foreground": t["ink"], "background": t["raised"], "text-style": "reverse" if ansi else "none"}
    return {
        **{f"block-cursor-{part}": value for part, value in picked.items()},
        **{f"block-cursor-blurred-{part}": value for part, value in quiet.items()},
        "block-hover-background": t["raised"],
        "border": t["accent"],
        "border-blurred": t["line"],
        "input-cursor-background": t["accent"],
        "input-cursor-foreground": t["ground"],
        "input-cursor-text-style": "reverse" if ansi else "none",
        "input-selection-background": t["pick"],
        "screen-selection-background": t["pick"],
        "screen-selection-foreground": t["ink"],
        "footer-key-foreground": t["accent"],
        "scrollbar": t["line"],
        "scrollbar-hover": t["soft"],
        "scrollbar-active": t["accent"],
        "scrollbar-background": t["ground"],
        "scrollbar-background-hover": t["ground"],
        "scrollbar-background-active": t["ground"],
        "scrollbar-corner-color": t["ground"],
        "ansi-background": t["ground"],
        "ansi-foreground": t["ink"],
        "link-color": t["accent"],
        "link-background": t["ground"],
    }
