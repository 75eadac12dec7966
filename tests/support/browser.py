"""Chromium without a window, for tests that look at pages. Nothing is fetched: browser and driver are the machine's."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, ChromeOptions, ChromeService

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ADVICE = "is missing; Debian and Ubuntu: apt install chromium chromium-driver (as root, `make test` does it)"


@contextmanager
def browser(width: int = 1280, height: int = 900, is_dark: bool = False) -> Iterator[Chrome]:
    """Start a browser whose window has this size."""
    binary = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.fail(f"{'Chromium' if binary is None else 'chromedriver'} {ADVICE}")
    options = ChromeOptions()
    options.binary_location = binary
    # The sandbox needs rights that a container does not have; the pages are our own.
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = Chrome(options=options, service=ChromeService(executable_path=driver))
    try:
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]
        chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        yield chrome
    finally:
        chrome.quit()


def complaints(chrome: Chrome) -> list[str]:
    """Return what the pages said on the console since this was asked last: errors and warnings."""
    return [entry["message"] for entry in chrome.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def keep_picture(chrome: Chrome, path: Path) -> Path:
    """Keep a picture of the whole page."""
    height = chrome.execute_script("return document.documentElement.scrollHeight")
    width = chrome.execute_script("return innerWidth")
    size = {"width": width, "height": min(height, 6000), "deviceScaleFactor": 1, "mobile": False}
    before = chrome.execute_script("return innerHeight")
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    path.parent.mkdir(parents=True, exist_ok=True)
    chrome.save_screenshot(str(path))
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size | {"height": before})
    return path
