"""Files of other programs, made by hand: workbooks, studies, logs of evaluations."""

import contextlib
import io
import json
import sqlite3
import tempfile
import zipfile
from pathlib import Path

import xlsxwriter


def content_of(make):
    """The bytes that a function writes to a path."""
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder, "file"))
        return Path(folder, "file").read_bytes()


def of_zip(files, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


HEADER = json.dumps({"eval": {"model": "m", "task": "t"}, "status": "success"})
SAMPLE = json.dumps({"id": 1, "scores": {"match": {"value": 1}}})


def log_of(header=HEADER, sample: str | bytes = SAMPLE, method=zipfile.ZIP_DEFLATED):
    return of_zip({"header.json": header, "samples/1_epoch_1.json": sample}, method)


def workbook(*cells):
    file = io.BytesIO()
    with xlsxwriter.Workbook(file) as book:
        sheet = book.add_worksheet()
        for cell in cells:
            sheet.write(*cell)
    return file.getvalue()


TABLE = [(0, 0, "a"), (0, 1, "b"), *((row, column, row) for row in (1, 2) for column in (0, 1))]


def study(change=""):
    """Two trials of Optuna, and what is done to them by hand."""

    def make(path):
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.executescript(
                """
                CREATE TABLE studies (study_id, study_name);
                CREATE TABLE study_directions (direction, study_id, objective);
                CREATE TABLE trials (trial_id, number, study_id, state);
                CREATE TABLE trial_params (trial_id, param_name, param_value, distribution_json);
                CREATE TABLE trial_values (trial_id, value, value_type);
                CREATE TABLE trial_intermediate_values
                    (trial_id, step, intermediate_value, intermediate_value_type);
                INSERT INTO studies VALUES (1, 'x');
                INSERT INTO study_directions VALUES ('MAXIMIZE', 1, 0);
                """
            )
            kind = json.dumps(
                {"name": "CategoricalDistribution", "attributes": {"choices": ["u", "v"]}}
            )
            for number in range(2):
                db.execute("INSERT INTO trials VALUES (?, ?, 1, 'COMPLETE')", (number, number))
                db.execute("INSERT INTO trial_params VALUES (?, 'p', ?, ?)", (number, number, kind))
                db.execute("INSERT INTO trial_values VALUES (?, ?, 'FINITE')", (number, number))
                for step in range(2):
                    told = number, step, number + step
                    db.execute(
                        "INSERT INTO trial_intermediate_values VALUES (?, ?, ?, 'FINITE')", told
                    )
            db.executescript(change)
            db.commit()

    return make


def harness(**metrics):
    line = {"doc_id": 1, "resps": [], "filter": "none", "metrics": ["acc"], "acc": 1.0} | metrics
    return json.dumps(line).encode()
