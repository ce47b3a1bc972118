// Draws directed acyclic graphs in layers, after Sugiyama: layers of bounded width, placeholders where
// an edge passes a layer, fewest crossings by medians, then the straightest edges that leave the boxes
// apart. Edges bend only between layers, so that none passes under a box.
//
//   layered([{width, height, layer}], [{from, to, fromPort, toPort}], {gapX, gapY, widest})
//     -> {width, height, boxes: [{x, y}], routes: [[{x, y, bends}]]}
//
// Ports are distances from a box's left side. `layer` is "first", "last" or undefined.

function layered(boxes, edges, { gapX, gapY, widest }) {
  const layers = layersOf(boxes, edges, widest, gapX);
  const graph = withPlaceholders(boxes, edges, layers);
  orderLayers(graph);
  placeAcross(graph, gapX);
  return routed(graph, boxes, edges, gapY);
}

// The layer of each box: below all that it reads, where there is room.
function layersOf(boxes, edges, widest, gap) {
  const layers = new Array(boxes.length).fill(0), used = [];
  const into = boxes.map(() => []), outOf = boxes.map(() => []);
  for (const { from, to } of edges) {
    into[to].push(from);
    outOf[from].push(to);
  }
  const open = into.map(list => list.length);
  const ready = boxes.map((_, i) => i).filter(i => open[i] === 0);
  const order = [];
  for (let next = 0; next < ready.length; ++next) {
    const box = ready[next];
    order.push(box);
    for (const to of outOf[box]) if (--open[to] === 0) ready.push(to);
  }
  const put = (box, layer) => {
    layers[box] = layer;
    used[layer] = (used[layer] ?? 0) + boxes[box].width + gap;
  };
  const isFirst = boxes.some(box => box.layer === "first") ? 1 : 0;
  for (const box of order) {
    if (boxes[box].layer === "first") {
      put(box, 0);
      continue;
    }
    let layer = Math.max(isFirst, ...into[box].map(from => layers[from] + 1));
    while ((used[layer] ?? 0) > 0 && used[layer] + boxes[box].width > widest) ++layer;
    put(box, layer);
  }
  // What reads nothing stands just above its first reader.
  for (const box of order)
    if (into[box].length === 0 && outOf[box].length > 0 && boxes[box].layer !== "first") {
      const layer = Math.max(isFirst, Math.min(...outOf[box].map(to => layers[to])) - 1);
      if ((used[layer] ?? 0) + boxes[box].width > widest) continue;
      used[layers[box]] -= boxes[box].width + gap;
      put(box, layer);
    }
  const end = Math.max(0, ...layers);
  const isBelow = box => outOf[box].length === 0 && boxes[box].layer === "last";
  for (const box of order) if (isBelow(box)) layers[box] = end;
  return layers;
}

// Edges over several layers become chains of placeholders; those that leave a box at the same port share one.
function withPlaceholders(boxes, edges, layers) {
  const nodes = boxes.map((box, i) => ({ width: box.width, height: box.height, layer: layers[i], up: [], down: [], weight: 1 }));
  const chains = new Map();
  const link = (above, below, abovePort, belowPort) => {
    nodes[above].down.push({ node: below, own: abovePort, other: belowPort });
    nodes[below].up.push({ node: above, own: belowPort, other: abovePort });
  };
  const paths = edges.map(({ from, to, fromPort, toPort }) => {
    const key = `${from} ${fromPort}`;
    const chain = chains.get(key) ?? chains.set(key, []).get(key);
    const path = [from];
    let previous = from, port = fromPort;
    for (let layer = layers[from] + 1, i = 0; layer < layers[to]; ++layer, ++i) {
      if (chain[i] === undefined) {
        chain[i] = nodes.length;
        nodes.push({ width: 8, height: 0, layer, up: [], down: [], weight: 4, isPlaceholder: true });
        link(previous, chain[i], port, 4);
      }
      previous = chain[i];
      port = 4;
      path.push(previous);
    }
    link(previous, to, port, toPort);
    path.push(to);
    return path;
  });
  const rows = Array.from({ length: Math.max(0, ...nodes.map(node => node.layer)) + 1 }, () => []);
  nodes.forEach((node, i) => rows[node.layer].push(i));
  return { nodes, rows, paths };
}

function orderLayers({ nodes, rows }) {
  const number = () => rows.forEach(row => row.forEach((node, i) => { nodes[node].place = i; }));
  const median = (links, place) => {
    if (links.length === 0) return place;
    const places = links.map(({ node, other }) => nodes[node].place + other / (nodes[node].width + 1)).sort((a, b) => a - b);
    const middle = places.length >> 1;
    return places.length % 2 ? places[middle] : (places[middle - 1] + places[middle]) / 2;
  };
  // Pairs of edges between neighbouring layers that cross.
  const crossings = () => {
    let sum = 0;
    for (const row of rows) {
      const ends = row.flatMap(node => nodes[node].down
        .map(({ node: below, own, other }) => [own, nodes[below].place + other / (nodes[below].width + 1)])
        .sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(pair => pair[1]));
      for (let i = 1; i < ends.length; ++i)
        for (let j = 0; j < i; ++j) if (ends[j] > ends[i]) ++sum;
    }
    return sum;
  };
  number();
  let best = rows.map(row => [...row]), least = crossings();
  for (let sweep = 0; sweep < 16 && least > 0; ++sweep) {
    const down = sweep % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) {
      const wish = new Map(row.map(node => [node, median(down ? nodes[node].up : nodes[node].down, nodes[node].place)]));
      row.sort((a, b) => wish.get(a) - wish.get(b) || nodes[a].place - nodes[b].place);
      row.forEach((node, i) => { nodes[node].place = i; });
    }
    const now = crossings();
    if (now >= least) continue;
    least = now;
    best = rows.map(row => [...row]);
  }
  best.forEach((row, i) => { rows[i] = row; });
  number();
}

// Moves the nodes of a row as near to their wishes as the distances between them allow: the least sum of
// squares, found by joining neighbours that would overlap into groups.
function settle(row, nodes, wishes, gap) {
  const groups = [];
  let offset = 0;
  row.forEach((index, i) => {
    const node = nodes[index];
    let group = { first: i, sum: (wishes[i] - offset) * node.weight, weight: node.weight };
    while (groups.length > 0 && groups.at(-1).sum / groups.at(-1).weight > group.sum / group.weight) {
      const before = groups.pop();
      group = { first: before.first, sum: before.sum + group.sum, weight: before.weight + group.weight };
    }
    groups.push(group);
    node.offset = offset;
    offset += node.width + gap;
  });
  groups.forEach((group, g) => {
    const end = g + 1 < groups.length ? groups[g + 1].first : row.length;
    for (let i = group.first; i < end; ++i) nodes[row[i]].x = nodes[row[i]].offset + group.sum / group.weight;
  });
}

function placeAcross({ nodes, rows }, gap) {
  for (const row of rows) settle(row, nodes, row.map(() => 0), gap);
  for (let sweep = 0; sweep < 24; ++sweep) {
    const down = sweep % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) {
      const wishes = row.map(index => {
        const links = sweep > 15 ? [...nodes[index].up, ...nodes[index].down] : down ? nodes[index].up : nodes[index].down;
        if (links.length === 0) return nodes[index].x;
        return links.reduce((sum, { node, own, other }) => sum + nodes[node].x + other - own, 0) / links.length;
      });
      settle(row, nodes, wishes, gap);
    }
  }
  // At last the edges over many layers become straight, and nodes stand below the only one that they read.
  for (const row of rows) {
    const wishes = row.map(index => {
      const node = nodes[index], [first] = node.up;
      if (node.up.length !== 1 || (node.isPlaceholder && !nodes[first.node].isPlaceholder && node.down.length > 1)) return node.x;
      const below = nodes[first.node].x + first.other - first.own;
      return node.isPlaceholder || Math.abs(below - node.x) < 16 ? below : node.x;
    });
    for (const index of row) if (nodes[index].isPlaceholder) nodes[index].weight = 32;
    settle(row, nodes, wishes, gap);
  }
  const shift = Math.min(...nodes.map(node => node.x));
  for (const node of nodes) node.x -= shift;
}

function routed({ nodes, rows, paths }, boxes, edges, gapY) {
  let y = 0;
  const bands = rows.map(row => {
    const band = { top: y, bottom: y + Math.max(0, ...row.map(node => nodes[node].height)) };
    // The more edges bend below a layer, the more room they get.
    const links = row.reduce((sum, node) => sum + nodes[node].down.length, 0);
    y = band.bottom + gapY + Math.min(links, 24) * gapY / 24;
    return band;
  });
  const placed = boxes.map((box, i) => ({ x: nodes[i].x, y: bands[nodes[i].layer].top }));
  const routes = paths.map((path, e) => path.flatMap((index, i) => {
    const node = nodes[index], band = bands[node.layer];
    if (node.isPlaceholder) return [{ x: node.x + 4, y: band.top }, { x: node.x + 4, y: band.bottom }];
    const top = band.top;
    if (i === 0) return [{ x: node.x + edges[e].fromPort, y: top + node.height }, { x: node.x + edges[e].fromPort, y: band.bottom }];
    return [{ x: node.x + edges[e].toPort, y: top }];
  }));
  return { width: Math.max(0, ...nodes.map(node => node.x + node.width)), height: bands.at(-1)?.bottom ?? 0,
           boxes: placed, routes };
}

// An SVG path through the points of a route: straight down within layers, a curve between them.
function pathOf(route) {
  let text = `M${route[0].x.toFixed(1)} ${route[0].y.toFixed(1)}`;
  for (let i = 1; i < route.length; ++i) {
    const from = route[i - 1], to = route[i], middle = ((from.y + to.y) / 2).toFixed(1);
    text += Math.abs(from.x - to.x) < 0.5 ? `V${to.y.toFixed(1)}`
      : `C${from.x.toFixed(1)} ${middle} ${to.x.toFixed(1)} ${middle} ${to.x.toFixed(1)} ${to.y.toFixed(1)}`;
  }
  return text;
}
