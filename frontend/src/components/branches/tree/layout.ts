/**
 * The positions of the runs of a tree, in pixels at 100 %: as rows, one run per line with its forks beside it, which
 * fits a narrow column; or as a tidy tree from the top down, as compact as the outlines of its subtrees allow (Reingold
 * and Tilford). The same forest always has the same layout, and opening another branch moves nothing.
 */
import type { Form, Forest, Node } from './forest';

export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Placed extends Box {
  node: Node;
}

export interface Edge extends Box {
  /** The child at its end. */
  node: Node;
  d: string;
}

export interface Layout {
  form: Form;
  /** In drawing order: top to bottom, then left to right. */
  placed: Placed[];
  edges: Edge[];
  byId: ReadonlyMap<string, Placed>;
  width: number;
  height: number;
}

/** Rows: line height, lane width, size of the pill. */
export const row = { height: 28, lane: 22, pill: 30, minWidth: 220 };
/** Tree: size of a card and the gaps around it. */
export const card = { w: 176, h: 60, gapX: 16, gapY: 36 };

/** width: available width of a line, in pixels at 100 %. */
export function layOut(forest: Forest, form: Form, width: number): Layout {
  return form === 'rows' ? rows(forest, width) : tidy(forest);
}

/** The run that continues the same branch; forks are between them, beside the line. */
const straight = (node: Node): Node | undefined =>
  node.children.length === 1 ? node.children[0] : node.children.find((child) => child.begins === node.run.branchId);

function rows(forest: Forest, width: number): Layout {
  const placed: Placed[] = [];
  const stack: [Node, number][] = forest.roots.map((node): [Node, number] => [node, 0]).reverse();
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [node, lane] = next;
    const x = lane * row.lane;
    placed.push({ node, x, y: placed.length * row.height, w: Math.max(row.minWidth, width - x), h: row.height });
    const continued = straight(node);
    const forks = node.children.filter((child) => child !== continued);
    if (continued) stack.push([continued, lane]);
    for (const child of forks.reverse()) stack.push([child, lane + 1]);
  }
  return finish('rows', placed, rowEdge);
}

function rowEdge(from: Placed, to: Placed): Edge {
  const [x, top] = [from.x + row.pill / 2, from.y + row.height / 2];
  const bottom = to.y + row.height / 2;
  const bend = 8;
  const d = from.x === to.x ? `M${x} ${top}V${bottom}` : `M${x} ${top}V${bottom - bend}q0 ${bend} ${bend} ${bend}H${to.x + row.pill / 2}`;
  return { node: to.node, d, x, y: top, w: to.x + row.pill / 2 - x, h: bottom - top };
}

/** Left and right edges of a subtree per level, relative to its root's centre. */
interface Outline {
  left: number[];
  right: number[];
}

function tidy(forest: Forest): Layout {
  const outlines = new Map<Node, Outline>();
  const offsets = new Map<Node, number>();
  for (const node of [...forest.nodes].reverse()) outlines.set(node, outlineOf(node.children, outlines, offsets));
  const placed: Placed[] = [];
  const middles = new Map<Node, number>();
  placeSideBySide(forest.roots, outlines, offsets, false);
  for (const node of forest.nodes) {
    const middle = (node.parent ? middles.get(node.parent)! : 0) + (offsets.get(node) ?? 0);
    middles.set(node, middle);
    placed.push({ node, x: middle - card.w / 2, y: node.depth * (card.h + card.gapY), w: card.w, h: card.h });
  }
  const left = Math.min(0, ...placed.map((at) => at.x));
  for (const at of placed) at.x -= left;
  return finish('tree', placed, treeEdge);
}

/** Computes the outline of a node and its children, and sets the children's offsets from its centre. */
function outlineOf(children: readonly Node[], outlines: Map<Node, Outline>, offsets: Map<Node, number>): Outline {
  const below = placeSideBySide(children, outlines, offsets, true);
  for (const child of children) outlines.delete(child);
  below.left.unshift(-card.w / 2);
  below.right.unshift(card.w / 2);
  return below;
}

/**
 * Places subtrees side by side as close as their outlines allow. The parent is placed above the child that continues
 * its branch, so that a long trunk is a straight line, otherwise above the middle.
 */
function placeSideBySide(nodes: readonly Node[], outlines: Map<Node, Outline>, offsets: Map<Node, number>, under: boolean): Outline {
  const all: Outline = { left: [], right: [] };
  for (const node of nodes) {
    const own = outlines.get(node)!;
    let at = 0;
    for (let i = 0; i < Math.min(all.right.length, own.left.length); i++) at = Math.max(at, all.right[i]! - own.left[i]! + card.gapX);
    offsets.set(node, at);
    own.left.forEach((x, i) => (all.left[i] ??= x + at));
    own.right.forEach((x, i) => (all.right[i] = x + at));
  }
  const parent = nodes[0]?.parent;
  const continued = parent ? straight(parent) : undefined;
  const shift = !under || nodes.length === 0 ? 0 : continued ? offsets.get(continued)! : (offsets.get(nodes[0]!)! + offsets.get(nodes.at(-1)!)!) / 2;
  for (const node of nodes) offsets.set(node, offsets.get(node)! - shift);
  return { left: all.left.map((x) => x - shift), right: all.right.map((x) => x - shift) };
}

function treeEdge(from: Placed, to: Placed): Edge {
  const [x1, y1] = [from.x + from.w / 2, from.y + from.h];
  const [x2, y2] = [to.x + to.w / 2, to.y];
  const half = (y2 - y1) / 2;
  const d = x1 === x2 ? `M${x1} ${y1}V${y2}` : `M${x1} ${y1}C${x1} ${y1 + half} ${x2} ${y2 - half} ${x2} ${y2}`;
  return { node: to.node, d, x: Math.min(x1, x2), y: y1, w: Math.abs(x2 - x1), h: y2 - y1 };
}

function finish(form: Form, placed: Placed[], edge: (from: Placed, to: Placed) => Edge): Layout {
  const at = new Map(placed.map((spot) => [spot.node.run.id, spot]));
  const edges = placed.flatMap((to) => {
    const from = to.node.parent && at.get(to.node.parent.run.id);
    return from ? [edge(from, to)] : [];
  });
  // Lit parts are drawn above others.
  edges.sort((a, b) => Number(a.node.lit) - Number(b.node.lit));
  return { form, placed, edges, byId: at, width: extent(placed, (box) => box.x + box.w), height: extent(placed, (box) => box.y + box.h) };
}

const extent = (boxes: readonly Box[], of: (box: Box) => number): number => boxes.reduce((most, box) => Math.max(most, of(box)), 0);
