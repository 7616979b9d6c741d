"""The page of `strata report` in headless Chromium: reading, zooming, keys, widths, hostile names.

Screenshots of what was tested are kept in the build's folder screenshots.
"""
import json
import os
import re
import subprocess
import tempfile
import unittest

import chromium

STRATA, MAKER = os.environ["STRATA_PROGRAM"], os.environ["STRATA_MAKER"]
SCREENSHOTS = os.environ["STRATA_SCREENSHOTS"]
KERNEL = "figure[data-plot=kernel] .plot"


def make(path, processes, ticks, every=5, seed=1):
    subprocess.run([MAKER, path, str(processes), str(ticks), str(every), str(seed)], check=True)


def report(*words):
    return subprocess.run([STRATA, "report", *words], check=True, capture_output=True, timeout=240)


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(SCREENSHOTS, exist_ok=True)
        cls.home = tempfile.TemporaryDirectory(prefix="strata-report-")
        cls.path = {name: os.path.join(cls.home.name, name) for name in ("new.db", "old.db", "page.html", "both.html")}
        make(cls.path["new.db"], 12, 1440)
        make(cls.path["old.db"], 9, 700, seed=2)
        report(cls.path["new.db"], "-o", cls.path["page.html"])
        report(cls.path["new.db"], "--compare", cls.path["old.db"], "-o", cls.path["both.html"])
        cls.browser = chromium.Browser()
        cls.browser.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.home.cleanup()

    def page(self, name="page.html", **look):
        self.browser.events.clear()
        page = self.browser.page(**look)
        page.open(self.path[name])
        return page

    def plotted(self, page, selector=KERNEL):
        """Scrolls to a plot and waits until it is drawn; its box on the screen."""
        page.box(selector)
        page.wait(f"document.querySelector({json.dumps(selector + ' canvas')}) !== null")
        return page.box(selector)

    def keep(self, page, name):
        page.run("document.querySelectorAll('.plot').forEach((one) => one.scrollIntoView({behavior: 'instant'}))")
        page.run("scrollTo(0, 0)")
        page.screenshot(os.path.join(SCREENSHOTS, name + ".png"), whole=True)

    def test_nothing_is_loaded_and_nothing_complained_about(self):
        page = self.page()
        self.plotted(page)
        self.plotted(page, "figure[data-plot=layers] .plot")
        page.run("document.querySelector('td .open').click()")
        self.plotted(page, "#detail .plot")
        self.keep(page, "light")
        self.assertEqual(page.complaints(), [])
        self.assertIn("default-src 'none'", page.run("document.querySelector('meta[http-equiv]').content"))

    def test_names_are_never_markup(self):
        page = self.page()
        self.assertEqual(page.run("document.querySelectorAll('img').length"), 0)
        self.assertEqual(page.run("document.querySelectorAll('script').length"), 3)
        self.assertIn("<img src=x onerror=alert(1)>", page.run("document.querySelector('#members').textContent"))

    def test_hover_reads_values(self):
        page = self.page()
        left, top, width, height = self.plotted(page)
        page.mouse("mouseMoved", left + width * 0.6, top + height / 2)
        page.wait(f"document.querySelector('{KERNEL} + .reading').dataset.at !== ''")
        at = float(page.run(f"document.querySelector('{KERNEL} + .reading').dataset.at"))
        begin, end = (float(page.run(f"document.querySelector('{KERNEL}').dataset.{side}")) for side in ("from", "to"))
        self.assertTrue(begin + (end - begin) * 0.4 < at < begin + (end - begin) * 0.8)
        self.assertRegex(page.run("document.querySelector('[data-series=anon] b').textContent"), r"^\d+(\.\d+)? [MG]iB$")

    def test_drag_zooms_all_plots_and_back(self):
        page = self.page()
        left, top, width, height = self.plotted(page)
        whole = float(page.run(f"document.querySelector('{KERNEL}').dataset.to"))
        page.drag(left + width * 0.3, top + height / 2, left + width * 0.6)
        page.wait(f"Number(document.querySelector('{KERNEL}').dataset.to) < {whole} - 600")
        self.plotted(page, "figure[data-plot=layers] .plot")
        self.assertEqual(page.run("new Set([...document.querySelectorAll('.plot[data-from]')].map((one) => one.dataset.from)).size"), 1)
        self.keep(page, "zoomed")
        page.run("document.getElementById('zoom-out').click()")
        page.wait(f"Number(document.querySelector('{KERNEL}').dataset.to) === {whole}")

    def test_series_can_be_hidden(self):
        page = self.page()
        self.plotted(page)
        ink = f"""(() => {{ const c = document.querySelector('{KERNEL} canvas'); let n = 0;
            const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
            for (let i = 3; i < d.length; i += 4) n += d[i] > 150; return n; }})()"""
        before = page.run(ink)
        page.run("document.querySelector('[data-series=anon]').click()")
        self.assertEqual(page.run("document.querySelector('[data-series=anon]').getAttribute('aria-pressed')"), "false")
        self.assertLess(page.run(ink), before * 0.8)
        page.run("document.querySelector('[data-series=anon]').click()")
        self.assertAlmostEqual(page.run(ink) / before, 1, delta=0.05)

    def test_a_line_far_above_is_shown_when_asked_for(self):
        """The limit that would press the areas flat is in words, and on when its key is pressed."""
        pressed = "document.querySelector('[data-series=limit]').getAttribute('aria-pressed')"
        page = self.page()
        self.assertEqual(page.run(pressed), "true")
        with open(self.path["page.html"], encoding="utf-8") as file:
            text = file.read()
        self.path["far.html"] = os.path.join(self.home.name, "far.html")
        with open(self.path["far.html"], "w", encoding="utf-8") as file:
            file.write(re.sub(r'("id":"limit"[^}]*"values":\[)(\d+)', lambda match: match[1] + match[2] + "0", text))
        page = self.page("far.html")
        self.plotted(page)
        self.assertEqual(page.run(pressed), "false")
        self.assertIn("limit 1.88 GiB", page.run("document.querySelector('figcaption').textContent"))
        page.run("document.querySelector('[data-series=limit]').click()")
        self.assertEqual(page.run(pressed), "true")

    def test_keys(self):
        page = self.page()
        self.plotted(page)
        page.run(f"document.querySelector('{KERNEL}').focus()")
        page.key("End")
        last = float(page.run(f"document.querySelector('{KERNEL} + .reading').dataset.at"))
        page.key("ArrowLeft")
        self.assertLess(float(page.run(f"document.querySelector('{KERNEL} + .reading').dataset.at")), last)
        self.assertIn("anonymous", page.run(f"document.querySelector('{KERNEL} + .reading').textContent"))
        whole = page.run(f"document.querySelector('{KERNEL}').dataset.from")
        page.key("+")
        self.assertNotEqual(page.run(f"document.querySelector('{KERNEL}').dataset.from"), whole)
        page.key("0")
        self.assertEqual(page.run(f"document.querySelector('{KERNEL}').dataset.from"), whole)
        self.assertEqual(page.run("[...document.querySelectorAll('button, input, summary, [tabindex=\"0\"]')].filter((one) => one.getClientRects().length && !(one.textContent || one.ariaLabel || one.getAttribute('aria-label'))).length"), 0)

    def test_a_table_stands_behind_each_plot(self):
        page = self.page()
        page.run("document.querySelectorAll('figure details.data').forEach((one) => { one.open = true; })")
        page.wait("document.querySelectorAll('figure details.data table').length === document.querySelectorAll('figure[data-plot]').length")
        self.assertGreater(page.run("document.querySelectorAll('figure details.data tbody tr').length"), 100)
        self.assertEqual(page.run("[...document.querySelectorAll('figure[data-plot]')].every((one) => one.getAttribute('aria-label').length > 10)"), True)

    def test_processes_are_sorted_and_filtered(self):
        page = self.page()
        first = "document.querySelector('#members tbody tr:not([hidden])').textContent"
        page.run("[...document.querySelectorAll('#members th button')].find((one) => one.textContent === 'process').click()")
        self.assertIn("php-fpm8.2", page.run(first))
        page.run("[...document.querySelectorAll('#members th button')].find((one) => one.textContent === 'process').click()")
        self.assertIn("img", page.run(first))
        page.run("(() => { const i = document.querySelector('input[type=search]'); i.value = '1001'; i.dispatchEvent(new Event('input')); })()")
        self.assertEqual(page.run("document.querySelectorAll('#members tbody tr:not([hidden])').length"), 1)
        self.assertIn("grows on", page.run(first))

    def test_400_pixels_are_wide_enough(self):
        for name in ("page.html", "both.html"):
            for width in (400, 320, 800):
                page = self.page(name, width=width)
                self.plotted(page)
                page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
                self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width, f"{name} at {width}")
                if width == 400:
                    page.run("document.querySelectorAll('details.data').forEach((one) => { one.open = false; })")
                    self.keep(page, name.split(".")[0] + "-400")

    def test_a_change_of_width_redraws(self):
        page = self.page()
        self.plotted(page)
        page.resize(700)
        page.wait(f"document.querySelector('{KERNEL} canvas').getBoundingClientRect().width < 680")

    def test_dark_and_light(self):
        page = self.page(dark=True)
        self.plotted(page)
        dark = "getComputedStyle(document.body).backgroundColor"
        self.assertEqual(page.run(dark), "rgb(18, 22, 28)")
        self.keep(page, "dark")
        page.run("document.getElementById('theme').click()")
        self.assertEqual(page.run(dark), "rgb(255, 255, 255)")
        self.assertEqual(page.complaints(), [])

    def test_contrast_of_text(self):
        """WCAG 2.2, 4.5 to 1, of all colours of text on paper and panels, in both themes."""
        page = self.page()
        worst = page.run("""(() => { const light = (c) => { const v = c.match(/\\w\\w/g).map((h) => parseInt(h, 16) / 255)
              .map((x) => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4); return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
            let worst = 99; for (const theme of ['light', 'dark']) { document.documentElement.dataset.theme = theme;
              const of = (n) => light(getComputedStyle(document.documentElement).getPropertyValue('--' + n).trim());
              for (const text of ['ink', 'soft', 'accent', 'info', 'warn', 'critical', 'good']) for (const ground of ['paper', 'panel']) {
                const [a, b] = [of(text), of(ground)].sort((x, y) => y - x); worst = Math.min(worst, (a + 0.05) / (b + 0.05)); } }
            return worst; })()""")
        self.assertGreaterEqual(worst, 4.5)

    def test_before_and_after(self):
        page = self.page("both.html")
        self.plotted(page, "#compare .plot")
        text = page.run("document.querySelector('#compare').textContent")
        self.assertRegex(text, r"resident, median.*%\)")
        self.assertIn("old.db", text)
        self.keep(page, "compare")
        self.assertEqual(page.complaints(), [])

    def test_it_prints(self):
        page = self.page(dark=True)
        path = os.path.join(SCREENSHOTS, "print.pdf")
        page.pdf(path)
        with open(path, "rb") as file:
            data = file.read()
        self.assertGreater(len(data), 20000)
        self.assertLessEqual(len(re.findall(rb"/Type\s*/Page\b", data)), 8)
        self.assertEqual(page.complaints(), [])

    def test_findings_events_and_growth_are_there(self):
        page = self.page()
        text = page.run("document.querySelector('main').textContent")
        for part in ("growth-leak", "glibc-retained", "the clock was set back by 1 h 0 min", "nothing was recorded for 10 min",
                     "has levelled off", "grows on", "limit of the cgroup", "gap: resident less in use"):
            self.assertIn(part, text)

    def test_one_capture_is_seen(self):
        """A line through one point has no length: a dot stands there."""
        path = os.path.join(self.home.name, "short.db")
        self.path["short.html"] = os.path.join(self.home.name, "short.html")
        make(path, 3, 1)
        report(path, "-o", self.path["short.html"])
        page = self.page("short.html")
        self.assertEqual(page.run("document.querySelector('figure[data-plot=layers] figcaption .soft').textContent"), "1 point")
        layers = "figure[data-plot=layers] .plot"
        self.plotted(page, layers)
        dots = page.run(f"""(() => {{
            const canvas = document.querySelector('{layers} canvas');
            const wanted = getComputedStyle(document.querySelector('figure[data-plot=layers] [data-series=free_resident] i')).backgroundColor
                .match(/\\d+/g).slice(0, 3).map(Number);
            const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            let found = 0;
            for (let i = 0; i < data.length; i += 4) {{
                found += wanted.every((value, k) => data[i + k] === value) && data[i + 3] === 255;
            }}
            return found;
        }})()""")
        self.assertGreater(dots, 10)

    def test_json_has_the_peaks_that_plots_must_not_lose(self):
        """Least and most of each bucket are kept: the peak of one tick is in the plot of a long span."""
        path = os.path.join(self.home.name, "peak.db")
        make(path, 5, 5000)
        data = json.loads(report(path, "--json").stdout)["recording"]
        for subject in data["subjects"][1:]:
            plot = subject["plots"][0]
            totals = [sum(values) for values in zip(*(one["values"] for one in plot["series"] if one["role"] == "stack"))
                      if None not in values]
            self.assertEqual(max(totals), subject["peak"])
            self.assertLess(len(plot["times"]), 1100)
            self.assertEqual(plot["times"], sorted(plot["times"]))


if __name__ == "__main__":
    unittest.main()
