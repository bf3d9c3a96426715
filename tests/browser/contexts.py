"""Browser contexts for many tests: who comes next gets one that is warm, and empty."""

from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

# What unfolds moves the buttons in it for half a second: a click in that time would land beside its button.
AT_ONCE = """
    const { animate } = Element.prototype;
    Element.prototype.animate = function (frames, options) {
        return animate.call(this, frames, { ...(typeof options === "object" ? options : {}), duration: 0 });
    };
"""


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """A browser context whose pages animate nothing."""
    context = browser.new_context(**options)
    context.add_init_script(AT_ONCE)
    context.set_default_timeout(60_000)
    return context


class Contexts:
    """Browser contexts that tests hand on to one another, each with its page: a page costs two thirds in a process that
    has run the app's scripts before.

    Nothing else of a test is left there: nothing shown, no other page, no cookie, nothing stored, no way back.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[str, list[Page]] = {}

    def take(self, options: dict[str, Any]) -> Page:
        """An empty page that nobody has, in a context with these options."""
        free = self._free.get(str(options))
        return free.pop() if free else self.new(options)

    def new(self, options: dict[str, Any]) -> Page:
        """An empty page in a context of its own that nobody has used before."""
        return new_context(self._browser, **options).new_page()

    def hand_back(self, options: dict[str, Any], page: Page, origin: str) -> None:
        """Make page and context as new, but for the files and scripts they have loaded; `origin` is where they were."""
        context = page.context
        if page.is_closed():
            context.close()
            return
        for other in context.pages:
            if other != page:
                other.close()
        page.unroute_all()
        if page.url.startswith("http"):
            page.evaluate("sessionStorage.clear()")
        page.goto("about:blank")
        page.emulate_media(media="null", reduced_motion="null", forced_colors="null")
        context.set_offline(False)
        context.clear_cookies()
        session = context.new_cdp_session(page)
        session.send("Page.resetNavigationHistory")
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        session.detach()
        self._free.setdefault(str(options), []).append(page)
