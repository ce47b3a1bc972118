// What stands beside the graph: the list of blocks, the block's summary, the source and the details of
// what is selected. All texts of the program are set as text, never as markup.

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else element.setAttribute(key, value);
  element.append(...children.filter(child => child !== null && child !== undefined && child !== ""));
  return element;
}

const byId = id => document.getElementById(id);

function factList(pairs) {
  return make("dl", {}, ...pairs.filter(pair => pair[1]).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

// A list; of a long one, the rest is collapsed.
function listOf(title, texts, kind) {
  if (texts.length === 0) return null;
  const items = texts => make("ul", {}, ...texts.map(text => make("li", {}, sentenceText(text))));
  const most = 6, rest = texts.slice(most);
  return make("section", { class: kind ?? "" }, make("h4", {}, title), items(texts.slice(0, most)),
    rest.length > 0 ? make("details", { class: "rest" }, make("summary", {}, `${rest.length} more`), items(rest)) : null);
}

// Texts of kernels may be long: they are added when they are asked for.
function collapsed(title, text) {
  if (!text) return null;
  const details = make("details", {}, make("summary", {}, title, make("small", {}, countText(text.trimEnd().split("\n").length, "line"))));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(make("pre", { tabindex: 0 }, text));
  });
  return details;
}

//----- blocks ------------------------------------------------------------------------------------

function blockButton(plan, most, select) {
  const fused = plan.operators.filter(operator => operator.members.length > 1).length;
  const share = plan.ns / most;
  const button = make("button", { type: "button", onclick: () => select(plan) },
    make("span", { class: "name" }, plan.title), make("span", { class: "time" }, plan.ns > 0 ? timeText(plan.ns) : "–"),
    make("span", { class: "note" }, `${countText(plan.operators.length, "operator")}, ${fused} fused${plan.version ? ` · ${plan.version}` : ""}`),
    make("span", { class: "share", "aria-hidden": "true" }, make("i", { style: `width:${(100 * share).toFixed(1)}%` })));
  button.dataset.plan = plan.number;
  return make("li", {}, button);
}

function drawBlocks(select) {
  const most = Math.max(...planOrder.map(plan => plan.ns), 1);
  byId("blocks").replaceChildren(...planOrder.map(plan => blockButton(plan, most, select)));
  if (stepsOutside.length > 0) {
    const button = make("button", { type: "button", onclick: () => select(null) },
      make("span", { class: "name plain" }, "Outside of blocks"),
      make("span", { class: "time" }, timeText(stepsOutside.reduce((sum, step) => sum + step.ns, 0))),
      make("span", { class: "note" }, countText(stepsOutside.length, "native")));
    button.dataset.plan = "outside";
    byId("blocks").append(make("li", {}, button));
  }
}

//----- the block ---------------------------------------------------------------------------------

function drawAbout(plan) {
  const [first, ...rest] = plan.summary.map(sentenceText);
  byId("about").replaceChildren(
    make("h2", {}, plan.title, make("small", {}, plan.version || plan.block)),
    make("p", {}, first),
    make("ul", {}, ...rest.map(sentence => make("li", {}, sentence))));
}

function drawOutside() {
  byId("about").replaceChildren(make("h2", {}, "Outside of blocks"),
    make("p", {}, "What control flow executes itself: reading, printing and other natives between the blocks."));
  const rows = stepsOutside.map(step => make("tr", {},
    make("td", { class: "code" }, step.name), make("td", { class: "number" }, `${step.calls}×`),
    make("td", { class: "number" }, timeText(step.ns)), make("td", {}, step.place ? `${step.place.file}:${step.place.line}` : "")));
  byId("graph").replaceChildren(make("table", {}, make("thead", {}, make("tr", {},
    ...["Native", "Calls", "Time", "Place"].map(name => make("th", {}, name)))), make("tbody", {}, ...rows)));
}

function blockDetails(plan) {
  return [
    make("h3", {}, "This block"),
    factList([["Name", plan.block], ["Planned for", sizeText(plan.inputs)], ["Because", plan.reason], ["Selector", plan.selector],
            ["Planned and compiled in", timeText(plan.compile_ms * 1e6)],
            ["Measured", plan.ns > 0 ? `${timeText(plan.ns)} in ${countText(plan.runs, "run")}` : "nothing"]]),
    listOf("Search for the plan", plan.search),
    listOf("Kernels that could not be merged", plan.refused_merges, "refusals"),
    make("p", { class: "advice" }, "Select an operation or a kernel to see how it could have been fused, and why it was not.")];
}

//----- what is selected --------------------------------------------------------------------------

function timesOf(measured, predicted) {
  if (!measured) return [["Measured", "not executed"], ["Predicted", predicted === undefined ? "" : timeText(predicted)]];
  const each = measured.ns / measured.calls;
  const others = Math.max(...measured.steps.map(step => step.plans.size)) - 1;
  return [["Measured", `${timeText(each)}${measured.calls > 1 ? ` a run, ${timeText(measured.ns)} in ${measured.calls} runs` : ""}`],
          ["Predicted", predicted === undefined ? "" : timeText(predicted)],
          ["Note", others > 0 ? `measured together with ${countText(others, "other plan")} of this place` : ""]];
}

function savingText(operator) {
  if (operator.members.length < 2) return "";
  const saved = operator.separate_ns - operator.predicted_ns;
  return `${timeText(operator.separate_ns)} as ${operator.members.length} operators: fusion ${saved >= 0 ? "saves" : "costs"} ${timeText(Math.abs(saved))}`;
}

function operatorDetails(plan, operator, choose) {
  const kernel = facts.kernels[operator.kernel];
  const members = operator.members.map(index => {
    const operation = plan.byIndex.get(index);
    return make("li", {}, make("button", { type: "button", class: "link code", onclick: () => choose({ operation: index, within: operator.number }) },
      operation.definition ?? operation.text), make("span", { class: "place" }, operation.line ? ` line ${operation.line}` : ""));
  });
  return [
    make("h3", {}, operator.native ? "Native" : `Kernel ${operator.number + 1}`, make("small", { class: "code" }, operator.kernel ?? "")),
    factList([["Loops over", sizeText(operator.loops)], ...timesOf(operator.measured, operator.predicted_ns),
            ["Unfused", savingText(operator)], ["Reads", sizeText(operator.reads)], ["Writes", sizeText(operator.writes)]]),
    make("section", {}, make("h4", {}, countText(members.length, "operation")), make("ul", { class: "members" }, ...members)),
    collapsed("Schedule", kernel?.schedule), collapsed("Loops", kernel?.loops), collapsed("Assembly", kernel?.assembly)];
}

function operationDetails(plan, operation, choose) {
  const within = operation.operators.map(operator => make("li", {},
    make("button", { type: "button", class: "link", onclick: () => choose({ operator: operator.number }) },
      operator.native ? sizeText(operator.loops) : `Kernel ${operator.number + 1}`),
    ` ${sizeText(operator.native ? "" : operator.loops)}, ${operatorTime(operator)}`));
  return [
    make("h3", { class: "code" }, operation.definition ?? operation.text),
    factList([["Place", operation.line ? `${operation.file}:${operation.line}:${operation.column}` : ""], ["Kind", operation.kind],
            ["Result", sizeText(operation.size ?? "a scalar")], ["Decision", operation.outcome],
            ...(operation.operators.length === 0 && operation.measured ? timesOf(operation.measured) : [])]),
    within.length > 0 ? make("section", {}, make("h4", {}, "Computed in"), make("ul", {}, ...within)) : null,
    listOf("Refused", operation.refusals, "refusals"),
    listOf("Candidates: loops, and operands that may be computed inside", operation.ways, "ways")];
}

function drawDetails(plan, selected, choose) {
  const parts = !plan ? [] : selected?.operation !== undefined ? operationDetails(plan, plan.byIndex.get(selected.operation), choose)
    : selected?.operator !== undefined ? operatorDetails(plan, plan.operators[selected.operator], choose) : blockDetails(plan);
  byId("details").replaceChildren(...parts.filter(Boolean));
  byId("details").scrollTop = 0;
}

//----- source ------------------------------------------------------------------------------------

// The nanoseconds measured at each line of a file.
function lineTimes(file) {
  const times = new Map();
  for (const step of facts.steps)
    if (step.place?.file === file) times.set(step.place.line, (times.get(step.place.line) ?? 0) + step.ns);
  return times;
}

const planLines = new Map(); // by file and line: [plan, operation] of all that stands there
for (const plan of planOrder)
  for (const operation of plan.operations) {
    const key = `${operation.file}:${operation.line}`;
    planLines.set(key, [...(planLines.get(key) ?? []), [plan, operation]]);
  }

function drawSource(file, openFile, openLine) {
  const source = facts.sources.find(each => each.file === file) ?? facts.sources[0];
  if (!source) return;
  const times = lineTimes(source.file), most = Math.max(...times.values(), 1);
  const lines = source.text.replace(/\n$/, "").split("\n").map((text, i) => {
    const number = i + 1, isLinked = planLines.has(`${source.file}:${number}`);
    const time = times.get(number) ?? 0;
    const line = make(isLinked ? "button" : "div", { class: "line", ...(isLinked ? { type: "button", tabindex: -1 } : {}),
      ...(time > 0 ? { title: `${timeText(time)} measured` } : {}) },
      make("span", { class: "gutter" }, String(number)),
      make("i", { class: "heat", style: `opacity:${time > 0 ? (0.15 + 0.85 * Math.sqrt(time / most)).toFixed(2) : 0}` }),
      make("code", {}, text || " "));
    line.dataset.line = number;
    if (isLinked) line.addEventListener("click", () => openLine(source.file, number));
    return line;
  });
  const picker = make("select", { "aria-label": "Source file", onchange: event => openFile(event.target.value) },
    ...facts.sources.map(each => make("option", { value: each.file, ...(each === source ? { selected: "" } : {}) }, each.file)));
  const list = make("div", { class: "lines", tabindex: 0, role: "group", "aria-label": `Source of ${source.file}` }, ...lines);
  byId("source").replaceChildren(make("h3", {}, "Source", facts.sources.length > 1 ? picker : make("small", { class: "code" }, source.file)), list);
  byId("source").dataset.file = source.file;
}

// Marks the lines of what is selected and, less, those of the block.
function markLines(plan, operations) {
  const file = byId("source").dataset.file;
  const ofBlock = new Set(plan?.operations.filter(each => each.file === file).map(each => each.line));
  const ofSelection = new Set(operations.filter(each => each.file === file).map(each => each.line));
  for (const line of byId("source").querySelectorAll(".line")) {
    line.classList.toggle("block", ofBlock.has(+line.dataset.line));
    line.classList.toggle("selected", ofSelection.has(+line.dataset.line));
  }
  const list = byId("source").querySelector(".lines");
  const target = byId("source").querySelector(".line.selected") ?? byId("source").querySelector(".line.block");
  if (!target || !list) return;
  const above = target.offsetTop - list.offsetTop;
  if (above < list.scrollTop || above + target.offsetHeight > list.scrollTop + list.clientHeight)
    list.scrollTop = Math.max(0, above - list.clientHeight / 3);
}
