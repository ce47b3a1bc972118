"""Computes what the examples "from data to report" print, with pandas, SciPy, scikit-learn and statsmodels, and writes it to
test/examples/NAME.out and NAME-scoring.out. The programs share nothing with the examples but the data and what is to be
computed: encoding, filling, models and measures are those libraries'.

Needs a virtual environment with them: `python3 test/golden/make_examples.py [NAME ...]` from the root of the repository.
"""
import pathlib
import sys

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, confusion_matrix, mean_absolute_error, mean_squared_error, r2_score, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

ROOT = pathlib.Path(__file__).parent.parent.parent
DATA = ROOT / "examples/data"


class Report:
    def __init__(self):
        self.lines = []

    def say(self, text="", *values):
        self.lines.append(text % values if values else text)

    def text(self):
        return "".join(line + "\n" for line in self.lines)


def load(name, missing):
    """A table, and its rows that models are not trained with."""
    return [pd.read_csv(DATA / f"{part}.csv", na_values=[missing], keep_default_na=False) for part in (name, f"{name}-new")]


class Encoding:
    """Fills missing numbers with the mean and missing words with the most frequent one, and gives each word a column."""

    def __init__(self, table):
        numbers = table.select_dtypes("number").columns
        self.fill = {c: table[c].mean() if c in numbers else table[c].mode()[0] for c in table}
        self.words = {c: list(table[c].dropna().unique()) for c in table if c not in numbers}

    def columns(self, table):
        """Names and cells of the columns."""
        found = {}
        for c in table:
            filled = table[c].fillna(self.fill[c])
            if c not in self.words:
                found[c] = filled.astype(float)
            for word in self.words.get(c, ()):
                found[f"{c}: {word}"] = (filled == word).astype(float)
        return list(found), np.column_stack([np.asarray(v) for v in found.values()])

    def __call__(self, table):
        return self.columns(table)[1]


def standardised(model):
    """The model on columns with mean 0 and variance 1, which constant columns keep."""
    class Scale:
        def fit(self, X):
            self.mean = X.mean(axis=0)
            deviation = X.std(axis=0, ddof=1)
            self.factor = np.where(deviation > 1e-12, deviation, 1)
            return self

    class Model:
        def fit(self, X, y):
            self.scale = Scale().fit(X)
            self.model = model().fit((X - self.scale.mean) / self.scale.factor, y)
            return self

        def predict(self, X):
            return self.model.predict((X - self.scale.mean) / self.scale.factor)

        def predict_proba(self, X):
            return self.model.predict_proba((X - self.scale.mean) / self.scale.factor)

        def weights(self):
            return np.ravel(self.model.coef_) / self.scale.factor
    return Model()


class Multinomial:
    """Multinomial regression with a penalty on the weights of all classes but the last, which has none."""

    def __init__(self, penalty):
        self.penalty = penalty

    def fit(self, X, y):
        design = np.c_[X, np.ones(len(X))]
        truth = np.eye(y.max())[y - 1]
        penalty = self.penalty * np.c_[np.ones((1, X.shape[1])), 0].T

        def objective(b):
            B = b.reshape(design.shape[1], -1)
            scores = np.c_[design @ B, np.zeros(len(X))]
            total = logsumexp(scores, axis=1)
            gradient = design.T @ (np.exp(scores - total[:, None]) - truth)[:, :-1] + penalty * B
            return total.sum() - (truth * scores).sum() + 0.5 * (penalty * B * B).sum(), gradient.ravel()

        b = np.zeros(design.shape[1] * (truth.shape[1] - 1))
        self.B = minimize(objective, b, jac=True, options={"gtol": 1e-6}).x.reshape(design.shape[1], -1)
        return self

    def predict_proba(self, X):
        scores = np.c_[np.c_[X, np.ones(len(X))] @ self.B, np.zeros(len(X))]
        return np.exp(scores - logsumexp(scores, axis=1)[:, None])


def penguins():
    birds, new = load("penguins", "NA")
    names = list(birds.species.unique())
    y = birds.species.map({name: i + 1 for i, name in enumerate(names)}).to_numpy()
    features = birds[birds.columns[1:7]]
    train, score = Report(), Report()
    train.say("Palmer penguins: which species is it?")
    train.say("  %d birds, of which %d lack all four measures and %d the sex", len(birds), features.bill_length_mm.isna().sum(),
              features.sex.isna().sum())
    train.say()
    train.say("Cross-validation in five parts")
    train.say("  part    birds    right")
    predicted = np.zeros(len(y), int)
    part = np.arange(len(y)) % 5
    for k in range(5):
        encode = Encoding(features[part != k])
        model = standardised(lambda: Multinomial(1)).fit(encode(features[part != k]), y[part != k])
        predicted[part == k] = model.predict_proba(encode(features[part == k])).argmax(axis=1) + 1
        train.say("  %4d   %6d   %5.1f %%", k + 1, sum(part == k), 100 * accuracy_score(y[part == k], predicted[part == k]))
    train.say("  all    %6d   %5.1f %%", len(y), 100 * accuracy_score(y, predicted))
    train.say()
    train.say("  what it is       taken for  %s   %s   %s", *names)
    for name, row in zip(names, confusion_matrix(y, predicted)):
        train.say("  %-16s          %6.0f   %6.0f   %9.0f", name, *row)
    train.say()
    train.say("The model, trained with all birds, is in build/penguins.")

    encode = Encoding(features)
    P = standardised(lambda: Multinomial(1)).fit(encode(features), y).predict_proba(encode(new[new.columns[1:7]]))
    score.say("Palmer penguins: birds that the model has not seen")
    score.say("  island      bill      flipper      mass   sex         taken for     sure     is")
    for bird, p in zip(new.itertuples(), P):
        score.say("  %-9s %4.1f mm   %4.0f mm   %4.0f g   %-9s   %-9s %6.1f %%   %s", bird.island, bird.bill_length_mm,
                  bird.flipper_length_mm, bird.body_mass_g, "unknown" if pd.isna(bird.sex) else bird.sex,
                  names[p.argmax()], 100 * p.max(), bird.species)
    return train, score


def heart_disease():
    patients, new = load("heart-disease", "?")
    features = patients.drop(columns="disease")
    sick = (patients.disease == "yes").to_numpy()
    logistic = lambda: LogisticRegression(C=1 / 5, tol=1e-12, max_iter=10000)
    part = np.arange(len(sick)) % 10
    risk = np.zeros(len(sick))
    for k in range(10):
        encode = Encoding(features[part != k])
        model = standardised(logistic).fit(encode(features[part != k]), sick[part != k])
        risk[part == k] = model.predict_proba(encode(features[part == k]))[:, 1]
    train, score = Report(), Report()
    train.say("Heart disease, Cleveland: %d patients, %d of them sick", len(sick), sick.sum())
    train.say("  Of a sick and a healthy patient, the sick one has the higher risk in %.1f %% of all cases.",
              100 * roc_auc_score(sick, risk))
    train.say()
    train.say("  alarm from    sick, found   sick, missed   healthy, alarmed   right")
    for threshold in (0.3, 0.5, 0.7):
        (_, alarmed), (missed, found) = confusion_matrix(sick, risk > threshold)
        train.say("  %6.0f %%    %12d   %12d   %16d   %.1f %%", 100 * threshold, found, missed, alarmed,
                  100 * accuracy_score(sick, risk > threshold))
    train.say()
    train.say("  risk              patients   sick as expected   sick in fact")
    for i, here in enumerate([np.ceil(risk * 5) == k for k in range(1, 6)]):
        train.say("  %3d %% to %3d %%   %9d   %16.1f   %12d", 20 * i, 20 * i + 20, here.sum(), risk[here].sum(), sick[here].sum())

    encode = Encoding(features)
    names, X = encode.columns(features)
    model = standardised(logistic).fit(X, sick)
    effect = model.weights() * np.where([":" in name for name in names], 1, X.std(axis=0, ddof=1))
    train.say()
    train.say("  the findings that say most      odds")
    for column in np.argsort(-np.round(1000 * abs(effect)), kind="stable")[:7]:
        train.say("  %-28s  x %.2f", names[column], np.exp(effect[column]))
    train.say()
    train.say("The model, trained with all patients, is in build/heart-disease.")

    score.say("Heart disease: patients that the model has not seen")
    score.say("  age   sex      pain in the chest   thallium test    risk                          sick")
    for patient, p in zip(new.itertuples(), model.predict_proba(encode(new.drop(columns="disease")))[:, 1]):
        score.say("  %3.0f   %-8s %-19s %-14s %4.0f %%  %-20s   %s", patient.age, patient.sex, patient.chest_pain, patient.thallium,
                  100 * p, "#" * round(20 * p), patient.disease)
    return train, score


def car_prices():
    catalogue, new = load("car-prices", "?")
    sold = catalogue[catalogue.price.notna()]
    cars, price = sold.drop(columns="price"), sold.price.to_numpy()
    part = np.arange(len(cars)) % 10
    train, score = Report(), Report()
    train.say("Car prices of 1985: %d cars, %d of them without a price", len(catalogue), len(catalogue) - len(cars))
    train.say()
    train.say("Cross-validation in ten parts")
    train.say("  penalty      R^2     typical error    within 20 %")
    found = {}
    for penalty in (0.1, 1, 10, 100, 1000):
        predicted = np.zeros(len(cars))
        for k in range(10):
            encode = Encoding(cars[part != k])
            model = standardised(lambda: Ridge(alpha=penalty)).fit(encode(cars[part != k]), np.log(price[part != k]))
            predicted[part == k] = model.predict(encode(cars[part == k]))
        relative = abs(np.exp(predicted) / price - 1)
        found[penalty] = r2_score(np.log(price), predicted)
        train.say("  %7.1f   %6.3f   %10.1f %%       %8.1f %%", penalty, found[penalty], 100 * np.median(relative),
                  100 * np.mean(relative < 0.2))
    best = max(found, key=found.get)
    train.say("  Best is a penalty of %.1f.", best)

    encode = Encoding(cars)
    names, X = encode.columns(cars)
    model = standardised(lambda: Ridge(alpha=best)).fit(X, np.log(price))
    makes = [i for i, name in enumerate(names) if name.startswith("make: ")]
    weights = model.weights()[makes]
    worth = 100 * (np.exp(weights - X[:, makes].mean(axis=0) @ weights) - 1)
    ranks = np.argsort(-worth)
    train.say()
    train.say("What the make adds to the price when all else is equal")
    for dear, cheap in zip(ranks[:4], ranks[::-1]):
        train.say("  %-14s %+6.1f %%       %-14s %+6.1f %%", names[makes[dear]][6:], worth[dear], names[makes[cheap]][6:], worth[cheap])
    train.say()
    train.say("The model, trained with all cars that have a price, is in build/car-prices.")

    score.say("Car prices of 1985: cars that the model has not seen")
    score.say("  make         body        horsepower   expected       price   the model is")
    for car, expected in zip(new.itertuples(), np.exp(model.predict(encode(new.drop(columns="price"))))):
        percent = np.floor(100 * (expected / car.price - 1) + 0.5)
        known = not np.isnan(car.price)
        score.say("  %-12s %-11s %10.0f    $ %6.0f   %9s   %s", car.make, car.body, car.horsepower, expected,
                  f"$ {car.price:.0f}" if known else "unknown",
                  f"{abs(percent):.0f} % {'below' if percent < 0 else 'above'}" if known else "-")
    return train, score


class Boosted:
    """Boosted regression trees from the median: the splits that lower the squared error most, of equal ones the first feature's.
    (Those of scikit-learn draw among features that are equally good, which changes what unseen rows get.)"""

    def fit(self, X, y, trees=50, rate=0.1, levels=3):
        self.rate, self.asked, self.median = rate, [], np.median(y)
        self.trees = []
        fitted = np.full(len(y), self.median)
        for _ in range(trees):
            self.trees.append(self.grow(X, y - fitted, levels))
            fitted = fitted + rate * self.say(self.trees[-1], X)
        return self

    def grow(self, X, residual, levels):
        best = (1e-9 * (residual @ residual), None, None)
        for feature in range(X.shape[1] if levels else 0):
            values = np.unique(X[:, feature])
            for threshold in (values[1:] + values[:-1]) / 2:
                left = X[:, feature] < threshold
                l, r, n = residual[left].sum(), residual[~left].sum(), left.sum()
                gain = l * l / n + r * r / (len(left) - n) - (l + r) ** 2 / len(left)
                if gain > best[0] * (1 + 1e-11):
                    best = (gain, feature, threshold)
        _, feature, threshold = best
        if feature is None:
            return residual.mean()
        self.asked.append(feature)
        left = X[:, feature] < threshold
        return feature, threshold, self.grow(X[left], residual[left], levels - 1), self.grow(X[~left], residual[~left], levels - 1)

    def say(self, tree, X):
        if not isinstance(tree, tuple):
            return np.full(len(X), tree)
        feature, threshold, low, high = tree
        return np.where(X[:, feature] < threshold, self.say(low, X), self.say(high, X))

    def predict(self, X):
        return self.median + self.rate * sum(self.say(tree, X) for tree in self.trees)


def car_mileage():
    cars, new = load("car-mileage", "?")
    mpg, features = cars.mpg.to_numpy(), cars[cars.columns[1:8]]
    written = cars.name.str.split(" ").str[0]
    makers = written.replace({"chevroelt": "chevrolet", "chevy": "chevrolet", "vw": "volkswagen", "vokswagen": "volkswagen",
                              "toyouta": "toyota", "maxda": "mazda", "mercedes": "mercedes-benz"})
    train, score = Report(), Report()
    train.say("Miles per gallon of %d cars of the years 1970 to 1982", len(cars))
    train.say("  Their names begin with %d words, which are spellings of %d makers.", written.nunique(), makers.nunique())
    train.say()
    train.say("  many cars are from    number   miles per gallon")
    groups = cars.mpg.groupby(makers, sort=False).agg(["size", "mean"]).sort_values("size", ascending=False, kind="stable")
    for maker, row in groups.head(5).iterrows():
        train.say("  %-20s  %6.0f   %16.1f", maker, row["size"], row["mean"])

    part = np.arange(len(cars)) % 5
    predicted = np.zeros((3, len(cars)))
    for k in range(5):
        encode = Encoding(features[part != k])
        X, y, test = encode(features[part != k]), mpg[part != k], encode(features[part == k])
        predicted[0, part == k] = y.mean()
        predicted[1, part == k] = standardised(lambda: Ridge(alpha=1)).fit(X, y).predict(test)
        predicted[2, part == k] = Boosted().fit(X, y).predict(test)
    train.say()
    train.say("  what predicts          R^2   off by (root mean square)   off by (mean)")
    for name, p in zip(("the mean of all", "linear regression", "boosted trees"), predicted):
        train.say("  %-19s %6.3f   %14.2f miles   %15.2f miles", name, r2_score(mpg, p), np.sqrt(mean_squared_error(mpg, p)),
                  mean_absolute_error(mpg, p))

    encode = Encoding(features)
    model = Boosted().fit(encode(features), mpg)
    questions = np.array([model.asked.count(j) for j in range(6)] + [sum(j > 5 for j in model.asked)])
    train.say()
    train.say("The trees ask most often for %s, %s and %s.", *features.columns[np.argsort(-questions, kind="stable")[:3]])
    train.say("The boosted trees, trained with all cars, are in build/car-mileage.")

    score.say("Miles per gallon of cars that the trees have not seen")
    score.say("  car                                    year   expected   measured   off by")
    for car, expected in zip(new.itertuples(), model.predict(encode(new[new.columns[1:8]]))):
        score.say("  %-36s   19%2.0f   %8.1f   %8.1f   %+6.1f", car.name, car.year, expected, car.mpg, expected - car.mpg)
    return train, score


def time_features(weeks):
    dates = pd.to_datetime(weeks)
    time = (dates.dt.year - 1980 + (dates.dt.month - 1 + (dates.dt.day - 0.5) / 31) / 12).to_numpy()
    return dates.dt.year.to_numpy(), time


def waves(time):
    return np.column_stack([(time / 10) ** k for k in (1, 2, 3)]
                           + [f(2 * np.pi * k * time) for k in (1, 2, 3) for f in (np.sin, np.cos)])


def carbon_dioxide():
    weeks, new = load("carbon-dioxide", "")
    missing = weeks.co2.isna()
    train, score = Report(), Report()
    train.say("Carbon dioxide on Mauna Loa, parts per million")
    train.say("  %d weeks from %s to %s; %d are missing, up to %d in a row", len(weeks), weeks.week.iloc[0], weeks.week.iloc[-1],
              missing.sum(), missing.groupby((~missing).cumsum()).sum().max())
    known = weeks[~missing]
    (year, time), y = time_features(known.week), known.co2.to_numpy()

    def fit(rows):
        model = LinearRegression().fit(waves(time[rows]), y[rows])
        last = np.flatnonzero(rows)[-26:]
        model.intercept_ += np.mean(y[last] - model.predict(waves(time[last])))
        return model
    train.say()
    train.say("What is forecast from the years before is off by (root mean square)")
    train.say("  year   measured, mean   trend and seasons   simple rule")
    errors, simple_errors = [], []
    for k in range(1991, 2001):
        now, before = year == k, year == k - 1
        error = fit(year < k).predict(waves(time[now])) - y[now]
        rise = y[before].mean() - y[year == k - 2].mean()
        nearest = abs(np.subtract.outer(time[now] - 1, time[before])).argmin(axis=1)
        simple = y[before][nearest] + rise - y[now]
        train.say("  %d   %14.1f   %17.2f   %11.2f", k, y[now].mean(), np.sqrt(np.mean(error**2)), np.sqrt(np.mean(simple**2)))
        errors, simple_errors = np.r_[errors, error], np.r_[simple_errors, simple]
    train.say("  all    %14s   %17.2f   %11.2f", "", np.sqrt(np.mean(errors**2)), np.sqrt(np.mean(simple_errors**2)))
    model = fit(year > 0)
    months = pd.date_range("2001-01-01", periods=12, freq="MS").month_name()
    season = waves((np.arange(12) + 0.5) / 12)[:, 3:] @ model.coef_[3:]
    train.say()
    train.say("The seasons, in parts per million")
    for month, value in zip(months, season):
        star = round(4 * value)
        line = {0: "|", star: "*"}
        train.say("  %-10s %+5.1f   %s", month, round(value, 1) + 0, "".join(line.get(p, " ") for p in range(-14, max(0, star) + 1)))
    train.say()
    train.say("The model, trained with all years, is in build/carbon-dioxide.")

    forecast = model.predict(waves(time_features(new.week)[1]))
    score.say("Carbon dioxide on Mauna Loa in 2001, parts per million")
    score.say("  month        forecast   measured   off by")
    means = pd.DataFrame({"forecast": forecast, "measured": new.co2}).groupby(pd.to_datetime(new.week).dt.month).mean()
    for month, row in zip(months, means.itertuples()):
        score.say("  %-10s   %8.1f   %8.1f   %+6.1f", month, row.forecast, row.measured, round(row.forecast - row.measured, 1) + 0)
    score.say("  root mean square of %d weeks: %.2f", len(new), np.sqrt(mean_squared_error(new.co2, forecast)))
    return train, score


PARTIES = ["strong Democrat", "weak Democrat", "leans Democrat", "independent", "leans Republican", "weak Republican",
           "strong Republican"]


def election():
    people, new = load("election", "")
    vote = (people.vote == "Dole").to_numpy() + 1
    population = np.quantile(people.population, np.arange(1, 6) / 5, method="inverted_cdf")
    age = np.linspace(people.age.min(), people.age.max(), 9)[1:]

    def encode(table):
        return np.column_stack([np.searchsorted(population, table.population), table.tv_news, table.self, table.clinton, table.dole,
                                np.searchsorted(age, table.age), table.education, table.income, table.party.map(PARTIES.index)])

    def grow(X, y, levels):
        return DecisionTreeClassifier(max_depth=levels, min_samples_leaf=20, min_samples_split=40, random_state=0).fit(X, y)

    def classes(tree, X):
        """Of classes that are equally frequent in a leaf, the last."""
        return np.where(tree.predict_proba(X)[:, 1] >= 0.5, 2, 1)
    X = encode(people)
    train, score = Report(), Report()
    train.say("American election study of 1996: %d people, of whom %d prefer Clinton and %d Dole", len(vote), sum(vote == 1),
              sum(vote == 2))
    train.say()
    train.say("Cross-validation in ten parts")
    train.say("  levels of questions    right")
    part = np.arange(len(vote)) % 10
    found = {}
    for levels in range(1, 6):
        predicted = np.zeros(len(vote), int)
        for k in range(10):
            predicted[part == k] = classes(grow(X[part != k], vote[part != k], levels), X[part == k])
        found[levels] = accuracy_score(vote, predicted), predicted
        train.say("  %19d   %4.1f %%", levels, 100 * found[levels][0])
    best = max(found, key=lambda levels: found[levels][0])
    train.say()
    train.say("With %d level(s)            prefers Clinton   prefers Dole", best)
    for name, column in zip(("Clinton", "Dole   "), confusion_matrix(vote, found[best][1]).T):
        train.say("  taken for %s        %15d   %12d", name, *column)

    shown = max(best, 3)
    tree = grow(X, vote, shown)
    limits = {0: population, 1: np.arange(8), 5: age, 8: PARTIES}
    names = ["population", "tv_news", "self", "clinton", "dole", "age", "education", "income", "party"]

    def answers(node):
        t = tree.tree_
        if t.feature[node] < 0:
            return {"Clinton" if t.value[node][0][0] > t.value[node][0][1] else "Dole"}
        return answers(t.children_left[node]) | answers(t.children_right[node])

    def show(node, place, indent):
        t = tree.tree_
        if len(answers(node)) == 1:
            train.say(place + answers(node).pop())
            return
        feature = t.feature[node]
        # scikit-learn's thresholds lie between two values that occur; what is asked names the lower one.
        below = X[(tree.decision_path(X)[:, node].toarray().ravel() > 0) & (X[:, feature] <= t.threshold[node]), feature].max()
        limit = limits[feature][below] if feature in limits else below
        train.say(f"{place}{names[feature]} up to {limit if isinstance(limit, str) else round(limit)}?")
        show(t.children_left[node], indent + "  yes  ", indent + "  |    ")
        show(t.children_right[node], indent + "  no   ", indent + "       ")
    train.say()
    train.say("A tree of %d levels, in which questions that change nothing are left out", shown)
    show(0, "  ", "  ")
    train.say()
    train.say("The tree, grown with all %d people, is in build/election.", len(vote))

    score.say("American election study of 1996: people whom the tree has not met")
    score.say("  age   income   party               places Clinton at   places Dole at   taken for   prefers")
    for person, label in zip(new.itertuples(), classes(tree, encode(new))):
        score.say("  %3d   %6d   %-17s   %17d   %14d   %-9s   %s", person.age, person.income, person.party, person.clinton, person.dole,
                  "Clinton" if label == 1 else "Dole", person.vote)
    return train, score


EXAMPLES = {"penguins": penguins, "heart-disease": heart_disease, "car-prices": car_prices, "car-mileage": car_mileage,
            "carbon-dioxide": carbon_dioxide, "election": election}

if __name__ == "__main__":
    for name in sys.argv[1:] or EXAMPLES:
        for suffix, report in zip(("", "-scoring"), EXAMPLES[name]()):
            (ROOT / f"test/examples/{name}{suffix}.out").write_text(report.text())
