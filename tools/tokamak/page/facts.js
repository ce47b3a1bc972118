// The facts that `tokamak explain --html` wrote into this page: plans of blocks, with measured times
// joined to their operators.

const facts = JSON.parse(document.getElementById("facts").textContent);

const placeKey = place => `${place.file}:${place.line}:${place.column}`;

// Steps that were measured at a place, kernels by name and place.
const kernelSteps = new Map(), nativeSteps = new Map();
for (const step of facts.steps) {
  if (!step.place) continue;
  const place = placeKey(step.place);
  if (step.kind === "kernel") kernelSteps.set(`${step.name} ${place}`, step);
  else if (nativeSteps.has(place)) nativeSteps.get(place).push(step);
  else nativeSteps.set(place, [step]);
  step.plans = new Set();
}

// What was measured of an operator, or of an operation outside of operators: {ns, calls, plans} where
// `plans` counts the plans with the same kernel at the same place, which are measured together.
function measuredOf(operation, kernel) {
  if (operation.line === undefined) return null;
  const place = placeKey(operation);
  const steps = kernel ? [kernelSteps.get(`${kernel} ${place}`)].filter(Boolean)
                       : nativeSteps.get(place) ?? [];
  if (steps.length === 0) return null;
  return { steps, ns: steps.reduce((sum, step) => sum + step.ns, 0),
           calls: Math.max(...steps.map(step => step.calls)) };
}

for (const [number, plan] of facts.plans.entries()) {
  plan.number = number;
  plan.byIndex = new Map(plan.operations.map(operation => [operation.index, operation]));
  for (const operation of plan.operations) operation.operators = [];
  for (const operator of plan.operators) {
    const last = plan.byIndex.get(operator.results.at(-1));
    operator.measured = measuredOf(last, operator.kernel);
    for (const member of operator.members) plan.byIndex.get(member).operators.push(operator);
  }
  for (const operation of plan.operations)
    if (operation.operators.length === 0) operation.measured = measuredOf(operation, null);
  plan.measured = [...plan.operators, ...plan.operations].map(each => each.measured).filter(Boolean);
  for (const measured of plan.measured)
    for (const step of measured.steps) step.plans.add(plan);
}

const ownShare = step => step.ns / Math.max(step.plans.size, 1);
for (const plan of facts.plans) {
  const steps = new Set(plan.measured.flatMap(measured => measured.steps));
  plan.ns = [...steps].reduce((sum, step) => sum + ownShare(step), 0);
  plan.runs = Math.max(0, ...plan.measured.map(measured => measured.calls));
  // The file with most of its operations names the block.
  const lines = new Map();
  for (const { file, line } of plan.operations)
    if (line !== undefined) lines.set(file, [...(lines.get(file) ?? []), line]);
  const [file, numbers] = [...lines].sort((a, b) => b[1].length - a[1].length)[0]
    ?? [plan.place.file, [plan.place.line]];
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  plan.file = file;
  plan.title = `${file.split("/").at(-1)}:${first}${last > first ? `–${last}` : ""}`;
}

// Several plans of the same lines are told apart by numbers.
for (const plan of facts.plans) {
  const same = facts.plans.filter(other => other.title === plan.title);
  plan.version = same.length > 1 ? `plan ${same.indexOf(plan) + 1} of ${same.length}` : "";
}

const planOrder = [...facts.plans].sort((a, b) => b.ns - a.ns || a.number - b.number);
const stepsOutside = facts.steps.filter(step => !step.plans || step.plans.size === 0);

function timeText(nanoseconds) {
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
    const value = nanoseconds / size;
    if (value >= 1) return `${value < 99.95 ? value.toPrecision(3) : Math.round(value)}\u00a0${unit}`;
  }
  return `${Math.round(nanoseconds)}\u00a0ns`;
}

const sizeText = text => text.replace(/(\d)x(?=~?\d)/g, "$1×");
const sentenceText = text => sizeText(text).replace(/ %/g, "\u00a0%").replace(/(\d+\.\d+) us\b/g, (_, time) => timeText(1000 * time));
const countText = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
const shortened = (text, length) => text.length > length ? text.slice(0, length - 1) + "…" : text;
