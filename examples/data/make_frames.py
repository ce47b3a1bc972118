"""Writes the tables with texts and missing cells of this folder from copies in Python packages (python3 make_frames.py, with
palmerpenguins, statsmodels, orange3 and ISLP on the path; of the last two only the data files are read, so that installing
them with `pip install --no-deps` is enough). Neither Tokamak nor its tests need this: the files are stored."""
import csv
import importlib.util
import json
import pathlib
import re

FOLDER = pathlib.Path(__file__).parent


def packaged(package, path):
    """The text of a file of an installed package, which is not imported."""
    found = importlib.util.find_spec(package)
    return (pathlib.Path(found.submodule_search_locations[0]) / path).read_text()


def write(name, types, rows, description, missing="", new=()):
    """types: of the columns by their names; new: the rows (counted from 0) that go to a file of their own, which models are not
    trained with."""
    if new:
        write(f"{name}-new", types, [rows[i] for i in new], f"{description}; rows that models are not trained with", missing)
        rows = [row for i, row in enumerate(rows) if i not in new]
    with open(FOLDER / f"{name}.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([types, *rows])
    metadata = {
        "data_type": "frame", "rows": len(rows), "cols": len(types), "format": "csv", "header": True, "sep": ",",
        "naStrings": missing, "schema": ",".join(types.values()), "description": description,
    }
    (FOLDER / f"{name}.csv.mtd").write_text(json.dumps({k: v for k, v in metadata.items() if v != ""}, indent=2) + "\n")


def orange_rows(path):
    """Orange's tables have three header lines: names, types and roles."""
    lines = packaged("Orange", path).splitlines()
    return [[cell.strip() for cell in line.split("\t")] for line in lines[3:] if line.strip()]


STRING, FLOAT, INTEGER = "STRING", "FP64", "INT64"

penguins = list(csv.reader(packaged("palmerpenguins", "data/penguins.csv").splitlines()))
write("penguins",
      dict(zip(penguins[0], [STRING, STRING, FLOAT, FLOAT, FLOAT, FLOAT, STRING, INTEGER])), penguins[1:],
      "Palmer penguins; NA: not measured", missing="NA", new=(20, 120, 218, 250, 290, 330))

heart = {"age": FLOAT, "sex": STRING, "chest_pain": STRING, "blood_pressure": FLOAT, "cholesterol": FLOAT, "sugar": STRING,
         "ecg": STRING, "heart_rate": FLOAT, "exercise_pain": STRING, "st_depression": FLOAT, "st_slope": STRING,
         "vessels": FLOAT, "thallium": STRING, "disease": STRING}
words = {"sugar": {"0": "normal", "1": "high"}, "exercise_pain": {"0": "no", "1": "yes"}, "disease": {"0": "no", "1": "yes"},
         "chest_pain": {"typical ang": "typical", "atypical ang": "atypical", "non-anginal": "other", "asymptomatic": "none"},
         "ecg": {"left vent hypertrophy": "hypertrophy", "ST-T abnormal": "abnormal"},
         "thallium": {"reversable defect": "reversible", "fixed defect": "fixed"}}
write("heart-disease", heart,
      [[words.get(name, {}).get(cell, cell) for name, cell in zip(heart, row)]
       for row in orange_rows("datasets/heart_disease.tab")],
      "Heart disease, Cleveland; ?: unknown; last column: a coronary artery is narrowed by more than half", missing="?",
      new=(11, 61, 111, 161, 192, 261))

car = {"risk": INTEGER, "losses": FLOAT, "make": STRING, "fuel": STRING, "aspiration": STRING, "doors": STRING, "body": STRING,
       "drive": STRING, "engine_place": STRING, "wheel_base": FLOAT, "length": FLOAT, "width": FLOAT, "height": FLOAT, "weight": FLOAT,
       "engine": STRING, "cylinders": STRING, "engine_size": FLOAT, "fuel_system": STRING, "bore": FLOAT, "stroke": FLOAT,
       "compression": FLOAT, "horsepower": FLOAT, "peak_rpm": FLOAT, "city_mpg": FLOAT, "highway_mpg": FLOAT, "price": FLOAT}
write("car-prices", car, orange_rows("tests/datasets/imports-85.tab"),
      "Cars imported into the USA in 1985; ?: unknown; last column: the price in dollars", missing="?",
      new=(9, 44, 63, 90, 120, 151, 180, 200))

mileage = {"mpg": FLOAT, "cylinders": INTEGER, "displacement": FLOAT, "horsepower": FLOAT, "weight": FLOAT, "acceleration": FLOAT,
           "year": INTEGER, "origin": STRING, "name": STRING}
origins = {"1": "America", "2": "Europe", "3": "Japan"}
rows = []
for line in packaged("ISLP", "data/Auto.data").splitlines()[1:]:
    *cells, name = re.match(r"\s*" + r"(\S+)\s+" * 8 + '"?([^"]*)"?', line).groups()
    rows.append([repr(float(cell)).removesuffix(".0") if cell != "?" else cell for cell in cells[:7]]
                + [origins[cells[7]], name.strip()])
write("car-mileage", mileage, rows, "Cars of the years 1970 to 1982; ?: unknown; first column: miles per gallon", missing="?",
      new=(32, 70, 120, 180, 240, 300, 350, 390))

carbon = [[f"{date[:4]}-{date[4:6]}-{date[6:]}", value]
          for date, value in list(csv.reader(packaged("statsmodels", "datasets/co2/co2.csv").splitlines()))[1:]]
write("carbon-dioxide", {"week": STRING, "co2": FLOAT}, carbon,
      "Carbon dioxide in the air on Mauna Loa, weekly means in parts per million; an empty cell: not measured",
      new=[i for i, row in enumerate(carbon) if row[0] > "2001"])

survey = list(csv.reader(packaged("statsmodels", "datasets/anes96/anes96.csv").splitlines(), delimiter="\t", quotechar="'"))
words = {"PID": ["strong Democrat", "weak Democrat", "leans Democrat", "independent", "leans Republican", "weak Republican",
                 "strong Republican"], "vote": ["Clinton", "Dole"]}
names = dict(zip(survey[0], ["population", "tv_news", "self", "clinton", "dole", "party", "age", "education", "income", "vote"]))
write("election", {new: STRING if old in words else INTEGER for old, new in names.items()},
      [[words[old][int(cell)] if old in words else cell for old, cell in zip(names, row)] for row in survey[1:]],
      "American National Election Study 1996, people who preferred one of two candidates; last column: which",
      new=(30, 180, 330, 480, 630, 780))
