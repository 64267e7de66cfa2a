"""docs/projects: do the places that the guides speak of exist? With a folder, the guides are followed there.

    projects.py                      checks that each place is there, once
    projects.py FOLDER [GUIDE.md]    makes the changes in FOLDER, a clone, for who wants to build and test it
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
CHANGE = re.compile(r"[Ii]n `([^`]*)`, (behind|instead of)\n```text\n(.*?)```\n(?:add|write)\n```text\n(.*?)```", re.S)
NEW = re.compile(r"[Ww]rite `([^`]*)`:\n```text\n(.*?)```", re.S)


def follow(guide, folder):
    """The mistakes."""
    mistakes, texts = [], {}
    text = guide.read_text()
    for path, how, place, new in CHANGE.findall(text):
        if path not in texts:
            file = folder / path
            texts[path] = file.read_text() if file.exists() else ""
        if texts[path].count(place) != 1:
            mistakes.append(f"{guide.name}: {path} has {texts[path].count(place)} times\n{place}")
            continue
        texts[path] = texts[path].replace(place, new if how == "instead of" else place + new)
    for path, body in NEW.findall(text):
        texts[path] = body
    return mistakes, texts


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root
    guides = sorted((root / "docs/projects").glob("*.md"))
    if len(sys.argv) > 2:
        guides = [g for g in guides if g.name == sys.argv[2]]
    mistakes = [] if guides else ["there is no guide"]
    for guide in guides:
        wrong, texts = follow(guide, folder)
        mistakes += wrong + ([] if len(texts) > 1 else [f"{guide.name} changes hardly anything"])
        for path, text in texts.items() if folder != root else ():
            (folder / path).write_text(text)
    for mistake in mistakes:
        print("FAILED:", mistake)
    sys.exit(bool(mistakes))


main()
