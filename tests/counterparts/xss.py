"""Hostile texts that others collected, out of a package that is read and never run.

Takes the folder with the wheel and writes one JSON list of texts.
"""

import ast
import json
import pathlib
import sys
import zipfile

(wheel,) = pathlib.Path(sys.argv[1]).glob("brs_kb-*.whl")
found = set()
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if not name.startswith("brs_kb/payloads/") or not name.endswith(".py"):
            continue
        for node in ast.walk(ast.parse(archive.read(name))):
            if isinstance(node, ast.keyword) and node.arg == "payload" and isinstance(node.value, ast.Constant):
                found.add(node.value.value)
json.dump(sorted(text for text in found if isinstance(text, str)), sys.stdout, indent=0)
