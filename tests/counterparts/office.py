"""Reads and makes office documents with libraries by others.

read FILE prints what is in it as JSON; make FILE writes one of the kind that its ending says.
"""

import datetime
import json
import sys

import docx
import openpyxl
import pptx


def read(path):
    if path.endswith(".docx"):
        document = docx.Document(path)
        return {
            "paragraphs": [[one.style.name, one.text] for one in document.paragraphs if one.text],
            "bold": [run.text for one in document.paragraphs for run in one.runs if run.bold],
            "links": [link.address for one in document.paragraphs for link in one.hyperlinks],
            "tables": [[[cell.text for cell in row.cells] for row in one.rows] for one in document.tables],
        }
    if path.endswith(".xlsx"):
        book = openpyxl.load_workbook(path)
        return {one.title: [list(row) for row in one.iter_rows(values_only=True)] for one in book}
    slides = pptx.Presentation(path).slides
    return [
        {
            "title": one.shapes.title.text,
            "points": [[line.level, line.text] for line in one.placeholders[1].text_frame.paragraphs],
        }
        for one in slides
    ]


def make(path):
    if path.endswith(".docx"):
        document = docx.Document()
        document.add_heading("Report", 1)
        document.add_paragraph("first", style="List Bullet")
        document.add_paragraph("one", style="List Number")
        table = document.add_table(rows=1, cols=2)
        table.rows[0].cells[0].text, table.rows[0].cells[1].text = "a", "b"
        document.save(path)
    elif path.endswith(".xlsx"):
        book = openpyxl.Workbook()
        book.active.title = "Sales"
        book.active.append(["day", "sum", "what"])
        book.active.append([datetime.date(2026, 1, 31), 1.5, "tea"])
        book.active["D9"] = "far"
        book.save(path)
    else:
        show = pptx.Presentation()
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = "Plan"
        slide.placeholders[1].text = "first"
        slide.notes_slide.notes_text_frame.text = "say it slowly"
        show.save(path)


if sys.argv[1] == "read":
    json.dump(read(sys.argv[2]), sys.stdout)
else:
    make(sys.argv[2])
