// The graph of a block: a box for each kernel around the operations that it computes, in which pills show
// what it reads and what it stores besides its last results; operations of natives stand outside. An
// operation that several kernels compute is there several times.

const font = { text: "12px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
               small: "11px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" };
const pen = document.createElement("canvas").getContext("2d");
const widths = new Map();
function widthOf(text, kind) {
  const key = kind + text;
  if (!widths.has(key)) {
    pen.font = font[kind];
    widths.set(key, Math.ceil(pen.measureText(text).width));
  }
  return widths.get(key);
}

function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const inside = { gapX: 14, gapY: 20, widest: 620 };
const outside = { gapX: 34, gapY: 34, widest: 1500 };
const headHeight = 34, hullPadding = 12;

// A box for an operation or a pill, with what it shows.
function boxOf(kind, text, note, operation) {
  const label = shortened(text, kind === "pill" ? 24 : 36);
  const width = Math.max(widthOf(label, "text") + 20, note ? widthOf(note, "small") + 20 : 0, 44);
  return { kind, label, note, operation, width, height: kind === "pill" ? 22 : note ? 40 : 26 };
}

const operationBox = operation => boxOf("operation", operation.text, sizeText(operation.size ?? ""), operation);

// A kernel: its boxes, laid out, and where edges of the block meet it.
function kernelOf(plan, operator) {
  const boxes = [], edges = [], ports = { reads: new Map(), results: new Map() };
  const numbers = new Map();
  for (const member of operator.members) {
    numbers.set(member, boxes.length);
    boxes.push(operationBox(plan.byIndex.get(member)));
  }
  const link = (from, to) => edges.push({ from, to, fromPort: boxes[from].width / 2, toPort: boxes[to].width / 2 });
  const reads = new Map();
  const read = (key, text, size, user) => {
    if (!reads.has(key)) {
      reads.set(key, boxes.length);
      boxes.push({ ...boxOf("pill", `${shortened(text, size ? 14 : 22)}${size ? ` ${sizeText(size)}` : ""}`), layer: "first", title: text });
    }
    if (!edges.some(edge => edge.from === reads.get(key) && edge.to === user)) link(reads.get(key), user);
    return reads.get(key);
  };
  const isReadInside = new Set();
  for (const member of operator.members) {
    const seen = new Set();
    for (const operand of plan.byIndex.get(member).operands) {
      const user = numbers.get(member);
      if (operand.operation !== undefined && numbers.has(operand.operation)) {
        isReadInside.add(operand.operation);
        if (!seen.has(operand.operation)) link(numbers.get(operand.operation), user);
        seen.add(operand.operation);
      } else if (operand.operation !== undefined) {
        const producer = plan.byIndex.get(operand.operation);
        if (!producer) continue;
        const pill = read(`operation ${operand.operation}`, producer.text, producer.size, user);
        boxes[pill].isFed = true;
        ports.reads.set(operand.operation, pill);
      } else if (operand.size) {
        read(`value ${operand.value}`, operand.value, operand.size, user);
      }
    }
  }
  for (const result of operator.results) {
    let number = numbers.get(result);
    boxes[number].isResult = true;
    if (isReadInside.has(result)) {
      const pill = boxes.length;
      boxes.push({ ...boxOf("pill", `${shortened(plan.byIndex.get(result).text, 14)} stored`), title: plan.byIndex.get(result).text });
      boxes[pill].isOutput = true;
      link(number, pill);
      number = pill;
    }
    boxes[number].layer = "last";
    ports.results.set(result, number);
  }
  const inner = layered(boxes, edges, inside);
  const title = `${operator.number + 1} · ${sizeText(operator.loops)}`, time = operatorTime(operator);
  const width = Math.max(inner.width, widthOf(shortened(title, 48), "small") + widthOf(time, "small") + 28) + 2 * hullPadding;
  const shift = { x: (width - inner.width) / 2, y: headHeight };
  for (const [i, { x, y }] of inner.boxes.entries()) Object.assign(boxes[i], { x: x + shift.x, y: y + shift.y });
  const middle = number => boxes[number].x + boxes[number].width / 2;
  return { operator, boxes, shift, routes: inner.routes, title, time, width, height: headHeight + inner.height + hullPadding,
           readPort: index => middle(ports.reads.get(index)), resultPort: index => middle(ports.results.get(index)) };
}

function operatorTime(operator) {
  if (operator.measured) return timeText(operator.measured.ns / operator.measured.calls);
  return `predicted ${timeText(operator.predicted_ns)}`;
}

function graphOf(plan) {
  const parts = [], producers = new Map(); // of each operation: the part that stores it
  for (const operator of plan.operators) {
    const part = operator.native ? null : kernelOf(plan, operator);
    if (!part) continue;
    parts.push(part);
    for (const result of operator.results) producers.set(result, parts.length - 1);
  }
  for (const operation of plan.operations) {
    const isInKernel = operation.operators.some(operator => !operator.native);
    if (isInKernel) continue;
    const box = operationBox(operation);
    producers.set(operation.index, parts.length);
    parts.push({ boxes: [Object.assign(box, { x: 0, y: 0 })], operation, width: box.width, height: box.height,
                 readPort: () => box.width / 2, resultPort: () => box.width / 2 });
  }
  const edges = [], seen = new Set();
  parts.forEach((part, to) => {
    for (const { operation } of part.boxes)
      for (const operand of operation?.operands ?? []) {
        const from = producers.get(operand.operation);
        if (operand.operation === undefined || from === undefined || from === to) continue;
        if (part.operator?.members.includes(operand.operation) || seen.has(`${operand.operation} ${to}`)) continue;
        seen.add(`${operand.operation} ${to}`);
        edges.push({ from, to, fromPort: parts[from].resultPort(operand.operation), toPort: part.readPort(operand.operation) });
      }
  });
  return { parts, edges, ...layered(parts, edges, outside) };
}

// Draws the block. Boxes of operations carry `data-operation`, hulls of kernels `data-operator`.
function drawGraph(plan) {
  const graph = graphOf(plan), margin = 20;
  const root = svg("svg", { class: "graph", role: "group", "aria-label": `Operations of ${plan.title}`,
    viewBox: `${-margin} ${-margin} ${graph.width + 2 * margin} ${graph.height + 2 * margin}` });
  root.dataset.width = graph.width + 2 * margin;
  root.dataset.height = graph.height + 2 * margin;
  const most = Math.max(...plan.operators.map(operator => operator.measured?.ns ?? 0), 1);
  for (const route of graph.routes) root.append(svg("path", { class: "edge", d: pathOf(route) }));
  graph.parts.forEach((part, i) => {
    const group = svg("g", { transform: `translate(${graph.boxes[i].x.toFixed(1)} ${graph.boxes[i].y.toFixed(1)})` });
    if (part.operator) drawHull(part, group, most);
    for (const box of part.boxes) group.append(drawBox(box, part));
    root.append(group);
  });
  return root;
}

function drawHull({ operator, title, time, width, height, routes, shift, boxes }, group, most) {
  const hull = svg("g", { class: "hull", tabindex: -1, role: "button",
    "aria-label": `Kernel ${title}, ${time}, ${countText(operator.members.length, "operation")}` });
  hull.dataset.operator = operator.number;
  const outline = svg("rect", { class: "outline", width, height, rx: 8 });
  hull.append(outline,
    svg("text", { class: "small title", x: hullPadding, y: 21 }, shortened(title, 48)),
    svg("text", { class: "small time", x: width - hullPadding, y: 21, "text-anchor": "end" }, time));
  const share = (operator.measured?.ns ?? 0) / most;
  if (share > 0.005)
    hull.append(svg("rect", { class: "heat", x: hullPadding, y: 27, width: Math.max(2, share * (width - 2 * hullPadding)), height: 2, rx: 1 }));
  group.append(hull);
  const lines = svg("g", { transform: `translate(${shift.x.toFixed(1)} ${shift.y.toFixed(1)})` });
  for (const route of routes) lines.append(svg("path", { class: "edge", d: pathOf(route) }));
  group.append(lines);
  // Between the hull's outline and its texts: edges of the block go on to what they bring, those of results begin
  // at what is stored.
  for (const box of boxes) {
    const x = (box.x + box.width / 2).toFixed(1), bottom = box.y + box.height;
    if (box.isFed) outline.after(svg("path", { class: "edge", d: `M${x} 0V${box.y.toFixed(1)}` }));
    if (box.layer === "last" && bottom < height - 1) outline.after(svg("path", { class: "edge", d: `M${x} ${bottom.toFixed(1)}V${height}` }));
  }
}

function drawBox(box, part) {
  const { kind, operation, label, note, width, height } = box;
  const isRefused = operation?.refusals.length > 0;
  const classes = [kind, operation && !part.operator ? "outside" : "", box.isResult && !box.isOutput ? "result" : "", box.isOutput ? "output" : ""];
  const group = svg("g", { class: classes.filter(Boolean).join(" "), transform: `translate(${box.x.toFixed(1)} ${box.y.toFixed(1)})` });
  group.append(svg("rect", { width, height, rx: kind === "pill" ? 11 : 5 }),
    svg("text", { class: "text", x: width / 2, y: kind === "pill" ? 15 : note ? 17 : 17, "text-anchor": "middle" }, label));
  if (note) group.append(svg("text", { class: "small note", x: width / 2, y: 32, "text-anchor": "middle" }, note));
  if (isRefused) group.append(svg("circle", { class: "refusal", cx: width - 1, cy: 1, r: 4 }));
  if (operation) {
    group.dataset.operation = operation.index;
    if (part.operator) group.dataset.within = part.operator.number;
    group.setAttribute("tabindex", -1);
    group.setAttribute("role", "button");
    group.setAttribute("aria-label", `${operation.definition ?? operation.text}${isRefused ? ", fusion refused" : ""}`);
  } else {
    group.dataset.title = box.title;
  }
  return group;
}
