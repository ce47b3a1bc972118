// What is shown and selected, and how pointer, keyboard and search change it.

const state = { plan: null, selected: null, scale: 1, isFit: true };

function openPlan(plan, selected = null) {
  const isOther = plan !== state.plan || byId("graph").childElementCount === 0;
  state.plan = plan;
  state.selected = selected;
  for (const button of byId("blocks").querySelectorAll("button"))
    button.toggleAttribute("aria-current", button.dataset.plan === (plan ? String(plan.number) : "outside"));
  byId("tools").hidden = !plan;
  if (isOther && plan) {
    drawAbout(plan);
    byId("graph").replaceChildren(drawGraph(plan));
    const first = byId("graph").querySelector("[data-operator], [data-operation]");
    first?.setAttribute("tabindex", 0);
    state.isFit = true;
    if (!plan.operations.some(operation => operation.file === byId("source").dataset.file)) showFile(plan.file);
    markMatches();
  }
  if (!plan) drawOutside();
  resize();
  if (isOther && plan) showTop();
  showSelection();
}

// Scrolls to the first kernel, or else the first operation.
function showTop() {
  const graph = byId("graph"), first = graph.querySelector("[data-operator], [data-operation]");
  if (!first) return;
  const box = first.getBoundingClientRect(), frame = graph.getBoundingClientRect();
  graph.scrollTo(graph.scrollLeft + (box.left + box.right - frame.left - frame.right) / 2, graph.scrollTop + box.top - frame.top - 24);
}

function choose(selected) {
  state.selected = selected;
  showSelection();
  elementOf(selected)?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function elementOf(selected) {
  if (!selected) return null;
  const graph = byId("graph");
  if (selected.operator !== undefined) return graph.querySelector(`[data-operator="${selected.operator}"]`)
    ?? graph.querySelector(`[data-operation="${state.plan.operators[selected.operator].results[0]}"]`);
  return graph.querySelector(`[data-operation="${selected.operation}"]${selected.within !== undefined ? `[data-within="${selected.within}"]` : ""}`)
    ?? graph.querySelector(`[data-operation="${selected.operation}"]`);
}

function showSelection() {
  const { plan, selected } = state;
  for (const element of byId("graph").querySelectorAll(".selected, .related")) element.classList.remove("selected", "related");
  const operations = [];
  if (plan && selected) {
    elementOf(selected)?.classList.add("selected");
    const indices = selected.operation !== undefined ? [selected.operation] : plan.operators[selected.operator].members;
    for (const index of indices) {
      operations.push(plan.byIndex.get(index));
      if (selected.operation !== undefined)
        for (const copy of byId("graph").querySelectorAll(`[data-operation="${index}"]`)) copy.classList.add("related");
    }
    if (operations.length > 0 && operations[0].file && !operations.some(each => each.file === byId("source").dataset.file))
      showFile(operations[0].file);
  }
  drawDetails(plan, selected, choose);
  markLines(plan, operations);
}

function showFile(file) {
  drawSource(file, chosen => { showFile(chosen); markLines(state.plan, []); }, openLine);
}

// Selects what a line of the source computes: in the block shown if there is something, else in another one.
function openLine(file, line) {
  const here = planLines.get(`${file}:${line}`) ?? [];
  const [plan, operation] = here.find(([plan]) => plan === state.plan) ?? here[0];
  openPlan(plan);
  choose({ operation: operation.index });
}

//----- size of the graph -------------------------------------------------------------------------

function resize() {
  const drawn = byId("graph").querySelector("svg");
  if (!drawn) return;
  if (state.isFit) {
    const room = byId("graph").clientWidth / drawn.dataset.width, high = byId("graph").clientHeight / drawn.dataset.height;
    state.scale = Math.min(1, Math.max(0.7, Math.max(Math.min(room, high), Math.min(room, 0.85))));
  }
  drawn.setAttribute("width", Math.round(drawn.dataset.width * state.scale));
  drawn.setAttribute("height", Math.round(drawn.dataset.height * state.scale));
}

function zoom(factor) {
  state.isFit = false;
  const graph = byId("graph");
  const middle = [(graph.scrollLeft + graph.clientWidth / 2) / state.scale, (graph.scrollTop + graph.clientHeight / 2) / state.scale];
  state.scale = Math.min(2, Math.max(0.1, state.scale * factor));
  resize();
  graph.scrollTo(middle[0] * state.scale - graph.clientWidth / 2, middle[1] * state.scale - graph.clientHeight / 2);
}

function fit() {
  const drawn = byId("graph").querySelector("svg");
  if (!drawn) return;
  state.isFit = false;
  state.scale = Math.min(1.5, byId("graph").clientWidth / drawn.dataset.width, byId("graph").clientHeight / drawn.dataset.height);
  resize();
}

//----- search ------------------------------------------------------------------------------------

function matchesOf(plan, text) {
  if (text === "") return [];
  return plan.operations.filter(operation =>
    (operation.definition ?? operation.text).toLowerCase().includes(text) || `${operation.file ?? ""}:${operation.line}:`.includes(`:${text}:`)
    || `${operation.file}:${operation.line}`.endsWith(text) || operation.operators.some(operator => operator.kernel?.includes(text)));
}

const searched = () => byId("search").value.trim().toLowerCase();

function markMatches() {
  const found = new Set(state.plan ? matchesOf(state.plan, searched()).map(operation => String(operation.index)) : []);
  for (const element of byId("graph").querySelectorAll("[data-operation]"))
    element.classList.toggle("match", found.has(element.dataset.operation));
}

function search() {
  const text = searched();
  let operations = 0, blocks = 0;
  for (const plan of planOrder) {
    const count = matchesOf(plan, text).length;
    operations += count;
    blocks += count > 0;
    byId("blocks").querySelector(`[data-plan="${plan.number}"]`).parentElement.hidden = text !== "" && count === 0;
  }
  byId("matches").textContent = text === "" ? "" : operations === 0 ? "Nothing found"
    : `${countText(operations, "operation")} in ${countText(blocks, "block")}; Enter goes from one to the next`;
  markMatches();
}

// All matches in the order of the list; the one behind what is selected comes next.
function nextMatch(step) {
  const all = planOrder.flatMap(plan => matchesOf(plan, searched()).map(operation => [plan, operation.index]));
  if (all.length === 0) return;
  const now = all.findIndex(([plan, index]) => plan === state.plan && index === state.selected?.operation);
  const [plan, index] = all[(now + step + all.length) % all.length] ?? all[0];
  openPlan(plan);
  choose({ operation: index });
}

//----- pointer -----------------------------------------------------------------------------------

function selectionOf(element) {
  if (element?.dataset.operation !== undefined)
    return { operation: +element.dataset.operation, within: element.dataset.within === undefined ? undefined : +element.dataset.within };
  return element?.dataset.operator === undefined ? null : { operator: +element.dataset.operator };
}

const targetOf = event => event.target.closest?.("[data-operation], [data-operator], [data-title]");

function hintOf(element) {
  if (element.dataset.title !== undefined) return [make("p", { class: "code" }, element.dataset.title)];
  const { operation, operator } = selectionOf(element);
  if (operator !== undefined) {
    const each = state.plan.operators[operator];
    return [make("p", {}, make("b", {}, `Kernel ${operator + 1}`), ` · ${countText(each.members.length, "operation")}`),
      factList([...timesOf(each.measured, each.predicted_ns), ["Unfused", savingText(each)]])];
  }
  const each = state.plan.byIndex.get(operation);
  return [make("p", { class: "code" }, each.definition ?? each.text), each.outcome ? make("p", {}, each.outcome) : null,
    listOf("Refused", each.refusals.slice(0, 3), "refusals"), listOf("Candidates", each.ways.slice(0, 4), "ways")];
}

function showHint(element) {
  const hint = byId("hint");
  hint.hidden = !element;
  if (!element) return;
  hint.replaceChildren(...hintOf(element).filter(Boolean));
  const box = element.getBoundingClientRect(), own = hint.getBoundingClientRect();
  const top = Math.max(box.top, 0);
  const below = Math.min(box.bottom, top + 60) + 8;
  hint.style.left = `${Math.max(8, Math.min(box.left, innerWidth - own.width - 8))}px`;
  hint.style.top = `${below + own.height < innerHeight ? below : Math.max(8, top - own.height - 8)}px`;
}

byId("graph").addEventListener("click", event => choose(selectionOf(targetOf(event))));
byId("graph").addEventListener("pointerover", event => showHint(targetOf(event)));
byId("graph").addEventListener("pointerleave", () => showHint(null));
byId("graph").addEventListener("scroll", () => showHint(null));

//----- keyboard ----------------------------------------------------------------------------------

// The nearest box or kernel in a direction, by distance, sideways counting double.
function neighbour(element, [dx, dy]) {
  const middle = each => {
    const box = each.getBoundingClientRect();
    return each.dataset.operator === undefined ? [(box.left + box.right) / 2, (box.top + box.bottom) / 2] : [box.left + 20, box.top + 10];
  };
  const [x, y] = middle(element);
  let nearest = null, least = Infinity;
  for (const each of byId("graph").querySelectorAll("[data-operation], [data-operator]")) {
    const [toX, toY] = middle(each), along = (toX - x) * dx + (toY - y) * dy;
    const distance = along + 2 * Math.abs((toX - x) * dy + (toY - y) * dx);
    if (each === element || along < 4 || distance >= least) continue;
    nearest = each;
    least = distance;
  }
  return nearest;
}

const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

byId("graph").addEventListener("keydown", event => {
  const focused = event.target.closest?.("[data-operation], [data-operator]");
  const next = focused && arrows[event.key] ? neighbour(focused, arrows[event.key]) : null;
  if (focused && (event.key === "Enter" || event.key === " ")) choose(selectionOf(focused));
  else if (next) {
    focused.setAttribute("tabindex", -1);
    next.setAttribute("tabindex", 0);
    next.focus();
    choose(selectionOf(next));
    showHint(next);
  } else return;
  event.preventDefault();
});
byId("graph").addEventListener("focusout", () => showHint(null));

byId("blocks").addEventListener("keydown", event => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const buttons = [...byId("blocks").querySelectorAll("li:not([hidden]) button")];
  const next = buttons[buttons.indexOf(document.activeElement) + step];
  next?.focus();
  next?.click();
  event.preventDefault();
});

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === byId("search")) {
    if (event.key === "Enter") nextMatch(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") { byId("search").value = ""; search(); byId("search").blur(); }
    return;
  }
  if (event.target.matches?.("select, textarea, input")) return;
  const keys = { "/": () => byId("search").focus(), "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), "0": fit,
                 "Escape": () => { showHint(null); choose(null); } };
  if (!keys[event.key]) return;
  keys[event.key]();
  event.preventDefault();
});

byId("search").addEventListener("input", search);
byId("smaller").addEventListener("click", () => zoom(0.8));
byId("larger").addEventListener("click", () => zoom(1.25));
byId("fit").addEventListener("click", fit);
addEventListener("resize", resize);

//----- the beginning -----------------------------------------------------------------------------

document.title = `${facts.script.split("/").at(-1)} – Tokamak`;
byId("script").textContent = facts.script;
byId("run").textContent = [`ran in ${timeText(facts.run_ns)}`, `${timeText(facts.compile_ns)} of it planning and compiling`,
  countText(facts.plans.length, "block"), countText(Object.keys(facts.kernels).length, "kernel"), countText(facts.threads, "thread")].join(" · ");
showFile(facts.script);
drawBlocks(openPlan);
if (planOrder.length > 0 || stepsOutside.length > 0) openPlan(planOrder[0] ?? null);
else byId("about").replaceChildren(make("p", {}, "Nothing of this program runs on arrays."));
