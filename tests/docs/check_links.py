"""check_links.py SOURCE: links between the Markdown pages of the repository lead somewhere, anchors too."""
import glob
import os
import re
import sys
import unittest

SOURCE = os.path.abspath(sys.argv.pop())
PAGES = [path for pattern in ("*.md", "docs/**/*.md", "meshes/*.md", "profiling/*.md", "profiling/results/*.md")
         for path in glob.glob(os.path.join(SOURCE, pattern), recursive=True)]


def text(path):
    """A page without its blocks of code, in which a # begins a comment."""
    with open(path, encoding="utf-8") as file:
        return re.sub(r"^(```.*?^```$|(    |\t).*?$)", "", file.read(), flags=re.MULTILINE | re.DOTALL)


def anchors(path):
    """What a link into a page can name: its headings, as GitHub writes them, and what it names itself."""
    headings = re.findall(r"^#+ +(.*?) *$", text(path), re.MULTILINE)
    slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    return set(slugs) | set(re.findall(r'<a id="([^"]*)">', text(path)))


def links(path):
    """Where a page leads to inside the repository."""
    for target in re.findall(r"\]\(([^)\s]*)\)", text(path)):
        if not re.match(r"[a-z]+:", target):
            name, _, anchor = target.partition("#")
            yield target, os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path, anchor


class Links(unittest.TestCase):
    def test_every_link_leads_to_a_file(self):
        missing = [f"{os.path.relpath(path, SOURCE)}: {target}" for path in PAGES for target, file, _ in links(path)
                   if not os.path.exists(file)]
        self.assertEqual(missing, [])

    def test_every_anchor_is_a_heading_or_is_named(self):
        missing = [f"{os.path.relpath(path, SOURCE)}: {target}" for path in PAGES
                   for target, file, anchor in links(path)
                   if anchor and file.endswith(".md") and os.path.exists(file) and anchor not in anchors(file)]
        self.assertEqual(missing, [])

    def test_pages_have_links(self):
        self.assertGreater(sum(len(list(links(path))) for path in PAGES), 100)

    def test_every_page_and_test_that_code_names_is_there(self):
        missing = []
        for folder in ("src", "include", "tests", "profiling"):
            for path in glob.glob(os.path.join(SOURCE, folder, "**", "*.*"), recursive=True):
                if path.endswith((".c", ".h", ".cu", ".cuh", ".py")):
                    with open(path, encoding="utf-8") as file:
                        named = re.findall(r"\b(docs/[\w/-]+\.md|tests/[\w/-]+\.(?:c|py)\b)(?:#([\w-]+))?", file.read())
                    missing += [f"{os.path.relpath(path, SOURCE)}: {page}#{anchor}" for page, anchor in named
                                if not os.path.exists(os.path.join(SOURCE, page))
                                or anchor and anchor not in anchors(os.path.join(SOURCE, page))]
        self.assertEqual(missing, [])


if __name__ == "__main__":
    unittest.main()
