"""Cases of the report page in a browser, run one after the other. A case is a method of a suite."""

import pathlib
import subprocess
import tempfile

from browser import Browser, Failure

# Figures of the tiles, as numbers.
FIGURES = """Object.fromEntries(Array.from(document.querySelectorAll('[data-figure]'),
    (t) => [t.dataset.figure, Number(t.dataset.exact)]))"""
NAMED = {"button", "checkbox", "radio", "searchbox", "combobox", "treeitem", "tree", "image",
         "img", "dialog", "textbox", "link"}
WIDTHS = (390, 1440, 2560)  # of windows on a desk, where bars to scroll take space


def expect(found, wanted, what):
    if found != wanted:
        raise Failure(f"{what}: found {found!r}, expected {wanted!r}")


def require(true, what):
    if not true:
        raise Failure(what)


def expect_fit(page, width):
    """Nothing is wider than the window, but for what scrolls by itself."""
    page.settle()
    wide = page.evaluate("Array.from(document.querySelectorAll('body *')).filter((e) => "
                         f"e.getBoundingClientRect().right > {width + 1} && "
                         "!e.closest('.table-frame, .boxes-frame, pre')).map((e) => "
                         "e.outerHTML.slice(0, 90))")
    expect([page.evaluate("document.documentElement.scrollWidth"), wide], [width, []],
           "width of the page, and what is beyond the screen")


def expect_use(page, width):
    """The page and its plots, tables and graphs take the width of a wide window."""
    page.settle()
    used = page.evaluate("Array.from(document.querySelectorAll('main > *'), "
                         "(e) => e.getBoundingClientRect().width)")
    require(min(used) > 0.95 * width, f"of {width} pixels the parts of the page use {used}")
    cards = page.evaluate("Array.from(document.querySelectorAll('.card'), (c) => "
                          "[c.id || c.className, c.getBoundingClientRect().width])")
    narrow = [name for name, wide in cards if wide < 0.2 * width]
    expect(narrow, [], "cards that leave the width to others")


def expect_whole_graph(page):
    """All rows of a small flame graph are in sight without a bar to scroll by, and boxes are as
    wide as what they stand for: none lies on the next or is wider than its share."""
    for width in WIDTHS:
        page.resize(width, 900, mobile=False)
        found = page.evaluate("""(() => { const f = document.querySelector('.boxes-frame');
            return [f.offsetWidth - f.clientWidth, f.offsetHeight - f.clientHeight,
                f.scrollWidth - f.clientWidth, f.scrollHeight - f.clientHeight]; })()""")
        expect(found, [0] * 4, f"at {width}: bars of the flame graph, and what is out of sight")
        boxes = page.evaluate("""(() => {
            const whole = document.querySelector('.boxes').getBoundingClientRect();
            return Array.from(document.querySelectorAll('.box'), (b) => {
                const { left, right, bottom } = b.getBoundingClientRect();
                return [right - left - whole.width * parseFloat(b.style.width) / 100,
                    right - whole.right, bottom - whole.bottom]; }); })()""")
        over = [box for box in boxes if max(map(abs, box[:1])) > 0.1 or max(box[1:]) > 0.1]
        expect(over, [], f"at {width}: boxes that are too wide, or beyond the graph")


def expect_whole_labels(page):
    """No text of a plot is cut at its edge."""
    for width in WIDTHS:
        page.resize(width, 900, mobile=False)
        cut = page.evaluate("""(() => {
            const texts = Array.from(document.querySelectorAll('.plot svg text'));
            return texts.filter((t) => {
                const text = t.getBoundingClientRect();
                const plot = t.closest('.plot').getBoundingClientRect();
                return text.left < plot.left || text.right > plot.right ||
                    text.bottom > plot.bottom;
            }).map((t) => t.textContent); })()""")
        expect(cut, [], f"at {width}: texts that are cut")


def expect_placeholder(page):
    """What stands in the empty box of the search is to be read to its end."""
    over = page.evaluate("""(() => { const box = document.querySelector('#search');
        const style = getComputedStyle(box), pen = document.createElement('canvas')
            .getContext('2d');
        pen.font = style.font;
        return pen.measureText(box.placeholder).width - (box.clientWidth -
            parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)); })()""")
    require(over <= 0, f"{over} pixels of the placeholder are cut off")


def expect_names(page):
    """Whatever can be used says what it is; returns the roles."""
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    missing = [node["role"]["value"] for node in nodes
               if not node.get("ignored") and node.get("role", {}).get("value") in NAMED
               and not node.get("name", {}).get("value")]
    expect(missing, [], "controls without a name")
    return [node.get("role", {}).get("value") for node in nodes]


def run(suite, helpers, missing, asked):
    """Prints a line of Test Anything Protocol per method of the suite that is no helper.
    `suite` is made of a folder and a browser; `asked` are cases as they are printed."""
    asked = [name.replace(" ", "_") for name in asked]
    names = [name for name, value in vars(suite).items()
             if callable(value) and not name.startswith("_") and name not in helpers
             and (not asked or name in asked)]
    print(f"1..{len(names)}", flush=True)
    if missing:
        for number, name in enumerate(names, 1):
            print(f"ok {number} - {name.replace('_', ' ')} # SKIP missing {', '.join(missing)}")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder, Browser(folder) as browser:
        made = suite(pathlib.Path(folder), browser)
        for number, name in enumerate(names, 1):
            try:
                getattr(made, name)()
                print(f"ok {number} - {name.replace('_', ' ')}", flush=True)
            except (Failure, subprocess.CalledProcessError, KeyError, StopIteration) as error:
                failed += 1
                print(f"not ok {number} - {name.replace('_', ' ')}")
                said = f"{error!r} {getattr(error, 'stderr', '') or ''}"
                print("\n".join("# " + line for line in said.splitlines()), flush=True)
    return 1 if failed else 0
