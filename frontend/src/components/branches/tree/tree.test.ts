import { describe, expect, test } from 'vitest';
import { treeOf } from '$lib/backend/fake/branches';
import { seedForks } from '$lib/backend/fake/forks';
import { FakeStore } from '$lib/backend/fake/store';
import type { BranchTree } from '$lib/backend/types';
import { versionsOf } from '$lib/state/versions';
import { findNodes, grow, turnsOf, walk, type Forest, type Form, type Node } from './forest';
import { signsOf } from './labels';
import { layOut } from './layout';
import { centre, covers, fit, reveal, seen, touches, within, zoomAt } from './viewport';

/** main #1..#4; a after #2 with two turns; b after #2, empty; c off a's first turn (#3); d before turn 1. */
function small() {
  const store = new FakeStore(0);
  const session = store.addSession('Small');
  const main = session.row.activeBranch;
  for (let i = 1; i <= 4; i++) store.addTurn(main, { id: `m${i}` });
  const fork = (label: string, parent: string, after: number, ids: string[]) => {
    const branch = store.addBranch(session.row.id, label, parent, after);
    for (const id of ids) store.addTurn(branch.view.id, { id });
    return branch.view.id;
  };
  const a = fork('a', main, 2, ['a3', 'a4']);
  const b = fork('b', main, 2, []);
  const c = fork('c', a, 3, ['c4']);
  const d = fork('d', '', 0, ['d1']);
  return { store, session: session.row.id, main, a, b, c, d, tree: () => treeOf(store, session.row.id) };
}

function large(forks = 300): BranchTree {
  const store = new FakeStore(0);
  seedForks(store, forks);
  return treeOf(store, [...store.sessions.keys()][0]!);
}

const plain = (forest: Forest) => forest.nodes.map(({ run, parent }) => [run.id, parent?.run.id ?? '', run.fromSeq, run.toSeq]);

describe('the runs of the fake program', () => {
  test('end at forks, and are ordered parents first, oldest sibling first', () => {
    const { b, tree } = small();
    expect(tree().runs.map((run) => [run.id, run.parent, run.fromSeq, run.toSeq, run.ends])).toEqual([
      ['m1', '', 1, 2, false], ['m3', 'm1', 3, 4, true], ['a3', 'm1', 3, 3, false], ['a4', 'a3', 4, 4, true], ['c4', 'a3', 4, 4, true], [b, 'm1', 3, 2, true], ['d1', '', 1, 1, true],
    ]);
  });

  test('form the lineage of each branch, from its end to the root', () => {
    const store = new FakeStore(0);
    seedForks(store, 60);
    const [session] = [...store.sessions.keys()];
    const tree = treeOf(store, session!);
    const runs = new Map(tree.runs.map((run) => [run.id, run]));
    for (const end of tree.runs.filter((run) => run.ends)) {
      const turns: number[] = [];
      for (let run = runs.get(end.id); run; run = runs.get(run.parent)) turns.unshift(...Array.from({ length: turnsOf(run) }, (_, i) => run!.fromSeq + i));
      expect(turns).toEqual(store.lineage(end.branchId).map((turn) => turn.seq));
    }
    expect(tree.runs.reduce((sum, run) => sum + turnsOf(run), 0)).toBe(tree.turns);
  });
});

describe('the forest', () => {
  test('marks only the path to the open branch', () => {
    const { c, tree } = small();
    const forest = grow(tree(), { current: c, archived: false });
    expect(forest.nodes.filter((node) => node.lit).map((node) => node.run.id)).toEqual(['m1', 'a3', 'c4']);
    expect(forest.nodes.filter((node) => node.here).map((node) => node.run.id)).toEqual(['c4']);
  });

  test('hides archived branches, joins the runs they separated, and shows them on request', () => {
    const { store, main, a, b, c, tree } = small();
    for (const id of [a, b]) store.branch(id).view.archived = true;
    // c was forked from a, so the turns of a before that fork stay.
    const forest = grow(tree(), { current: main, archived: false });
    expect(plain(forest)).toEqual([['m1', '', 1, 2], ['m3', 'm1', 3, 4], ['a3', 'm1', 3, 3], ['c4', 'a3', 4, 4], ['d1', '', 1, 1]]);
    store.branch(c).view.archived = true;
    const fewer = grow(tree(), { current: main, archived: false });
    expect(plain(fewer)).toEqual([['m1', '', 1, 4], ['d1', '', 1, 1]]);
    expect(fewer.byId.get('m3')).toBe(fewer.nodes[0]);
    expect(fewer.nodes[0]!.run).toMatchObject({ lastTurn: 'm4', ends: true });
    expect(grow(tree(), { current: main, archived: true }).nodes).toHaveLength(7);
    // The open branch is always drawn.
    expect(grow(tree(), { current: c, archived: false }).nodes.find((node) => node.here)?.run.id).toBe('c4');
  });

  /** main #1..#4 on desk; two turns on workshop, and one more on desk. */
  function travelled() {
    const store = new FakeStore(0);
    const session = store.addSession('Travelled').row.id;
    const main = store.session(session).row.activeBranch;
    for (let i = 1; i <= 4; i++) store.addTurn(main, { id: `m${i}` });
    const goOn = (from: string, after: number, machine: string, ids: string[]) => {
      const branch = store.addBranch(session, `main · ${machine}`, from, after);
      Object.assign(branch.view, { continues: from, machine });
      for (const id of ids) store.addTurn(branch.view.id, { id });
      return branch.view.id;
    };
    store.branch(main).view.machine = 'desk';
    const there = goOn(main, 4, 'workshop', ['w5', 'w6']);
    return { store, main, tree: () => treeOf(store, session), goOn, there, back: goOn(there, 6, 'desk', ['m7']) };
  }

  test('draws what goes on on another machine as one line, with the machine where it changes', () => {
    const { main, there, back, tree } = travelled();
    const forest = grow(tree(), { current: back, archived: false });
    expect(plain(forest)).toEqual([['m1', '', 1, 7]]);
    expect(forest.nodes[0]).toMatchObject({ here: true, lit: true, branch: { id: back }, machines: [{ seq: 5, name: 'workshop' }, { seq: 7, name: 'desk' }] });
    expect(signsOf(forest.nodes[0]!).map((sign) => sign.text)).toContain('workshop from #5');
    // An open branch that ends earlier stays visible as such.
    expect(plain(grow(tree(), { current: main, archived: false }))).toEqual([['m1', '', 1, 4], ['w5', 'm1', 5, 7]]);
    expect(plain(grow(tree(), { current: there, archived: false }))).toEqual([['m1', '', 1, 6], ['m7', 'm1', 7, 7]]);
  });

  test('forks where two machines went on, and not for one that changed nothing', () => {
    const { store, main, there, back, goOn, tree } = travelled();
    const empty = goOn(back, 7, 'workshop', []);
    goOn(empty, 7, 'desk', ['m8']);
    expect(plain(grow(tree(), { current: '', archived: false }))).toEqual([['m1', '', 1, 8]]);
    store.addTurn(main, { id: 'm5' });
    const forest = grow(tree(), { current: '', archived: false });
    expect(plain(forest)).toEqual([['m1', '', 1, 4], ['m5', 'm1', 5, 5], ['w5', 'm1', 5, 8]]);
    expect(forest.byId.get('w5')!.machines[0]).toEqual({ seq: 5, name: 'workshop' });
    expect(forest.byId.get('m5')!.machines).toEqual([]);
    expect(forest.byId.get('w5')!.branch!.id).not.toBe(there);
    // The line of the first machine stays straight.
    const [trunk, own] = ['m1', 'm5'].map((id) => layOut(forest, 'rows', 360).byId.get(id)!);
    expect(own!.x).toBe(trunk!.x);
  });

  test('finds by label, words and turn, the open branch first', () => {
    const { store, c, tree } = small();
    store.turn('a4').user = [{ ...store.turn('a4').user[0]!, text: 'Sourdough Überraschung' }];
    const forest = grow(tree(), { current: c, archived: false });
    const ids = (query: string) => findNodes(forest, query).map((node) => node.run.id);
    expect(ids('  ÜBERRASCHUNG sour')).toEqual(['a4']);
    expect(ids('d')).toContain('d1');
    expect(ids('#3')).toEqual(['a3', 'm3']);
    expect(ids('#99')).toEqual([]);
    expect(ids('')).toEqual([]);
  });
});

describe.each<Form>(['rows', 'tree'])('laid out as %s', (form) => {
  const tree = large();
  const forest = grow(tree, { current: tree.active, archived: true });
  const layout = layOut(forest, form, 360);

  test('nothing overlaps', () => {
    const boxes = [...layout.placed].sort((a, b) => a.y - b.y);
    for (let i = 0; i < boxes.length; i++) {
      for (let j = i + 1; j < boxes.length && boxes[j]!.y < boxes[i]!.y + boxes[i]!.h; j++) {
        const [a, b] = [boxes[i]!, boxes[j]!];
        expect(a.x + a.w <= b.x || b.x + b.w <= a.x, `${a.node.run.id} and ${b.node.run.id}`).toBe(true);
      }
    }
  });

  test('every run has a position, parents above their children, nothing beyond the left edge', () => {
    expect(layout.placed).toHaveLength(forest.nodes.length);
    for (const box of layout.placed) {
      const parent = box.node.parent && layout.byId.get(box.node.parent.run.id)!;
      if (parent) expect(box.y).toBeGreaterThanOrEqual(parent.y + parent.h);
      expect(Math.min(box.x, box.y)).toBeGreaterThanOrEqual(0);
      expect(box.x + box.w).toBeLessThanOrEqual(layout.width);
      expect(box.y + box.h).toBeLessThanOrEqual(layout.height);
    }
    expect(layout.edges).toHaveLength(forest.nodes.length - forest.roots.length);
  });

  test('siblings are ordered by age', () => {
    for (const node of forest.nodes) {
      const beside = node.children.filter((child) => child.run.branchId !== node.run.branchId).map((child) => layout.byId.get(child.run.id)!);
      const positions = beside.map((box) => (form === 'rows' ? box.y : box.x));
      expect(positions).toEqual([...positions].sort((a, b) => a - b));
    }
  });

  test('opening another branch moves nothing', () => {
    const other = layOut(grow(tree, { current: tree.branches.at(-1)!.id, archived: true }), form, 360);
    const places = (result: typeof layout) => result.placed.map(({ node, x, y }) => [node.run.id, x, y]);
    expect(places(other)).toEqual(places(layout));
  });

  test('a new fork does not change the order of the others', () => {
    const store = new FakeStore(0);
    seedForks(store, 40);
    const session = [...store.sessions.keys()][0]!;
    const order = () => layOut(grow(treeOf(store, session), { current: '', archived: true }), form, 360).placed.filter(({ node }) => node.run.ends).map(({ node }) => node.run.branchId);
    const before = order();
    const branch = store.addBranch(session, 'new', store.session(session).branchIds[0]!, 20);
    store.addTurn(branch.view.id);
    expect(order().filter((id) => id !== branch.view.id)).toEqual(before);
  });

  test('works for an empty tree', () => {
    const empty = layOut(grow({ ...tree, runs: [], branches: [] }, { current: '', archived: false }), form, 360);
    expect([empty.placed, empty.edges, empty.width, empty.height]).toEqual([[], [], 0, 0]);
  });
});

describe('keys', () => {
  const { tree, c } = small();
  const forest = grow(tree(), { current: c, archived: false });
  const steps = (form: Form, from: string, keys: string[]) => {
    const order = layOut(forest, form, 360).placed.map(({ node }) => node);
    return keys.reduce((node, key) => walk(forest, form, order, node, key) ?? node, forest.byId.get(from)!).run.id;
  };

  test.each<[string, Form, string, string[], string]>([
    ['down to the child on the open branch', 'tree', 'm1', ['ArrowDown'], 'a3'],
    ['up to the parent', 'tree', 'c4', ['ArrowUp', 'ArrowUp'], 'm1'],
    ['right to the next sibling', 'tree', 'm3', ['ArrowRight'], 'a3'],
    ['left to the one before', 'tree', 'c4', ['ArrowLeft'], 'a4'],
    ['nowhere beyond the edge', 'tree', 'm1', ['ArrowUp', 'ArrowLeft'], 'm1'],
    ['from root to root', 'tree', 'm1', ['ArrowRight'], 'd1'],
    ['down the rows', 'rows', 'm1', ['ArrowDown', 'ArrowDown'], 'c4'],
    ['up the rows', 'rows', 'c4', ['ArrowUp'], 'a3'],
    ['left to the parent', 'rows', 'm3', ['ArrowLeft'], 'm1'],
    ['right to the first child', 'rows', 'a3', ['ArrowRight'], 'a4'],
    ['Home to the root', 'rows', 'c4', ['Home'], 'm1'],
    ['End to the current position', 'rows', 'm1', ['End'], 'c4'],
    ['] to the next fork, and around again', 'rows', 'm1', [']', ']'], 'm1'],
    ['[ to the previous fork', 'tree', 'c4', ['['], 'a3'],
  ])('lead %s', (_, form, from, keys, to) => expect(steps(form, from, keys)).toBe(to));

  test('visit every run of a large tree', () => {
    const all = large(80);
    const big = grow(all, { current: all.active, archived: false });
    const order = layOut(big, 'rows', 360).placed.map(({ node }) => node);
    const seenRuns = new Set([order[0]!]);
    for (let node: Node | null = order[0]!; node; node = walk(big, 'rows', order, node, 'ArrowDown')) seenRuns.add(node);
    expect(seenRuns.size).toBe(big.nodes.length);
  });
});

describe('the view', () => {
  const size = { width: 400, height: 300 };
  const all = { width: 4000, height: 2000 };

  test('zooms around the pointer', () => {
    const view = { x: -100, y: -50, scale: 1 };
    const zoomed = zoomAt(view, 1.5, 120, 80);
    expect([(120 - zoomed.x) / zoomed.scale, (80 - zoomed.y) / zoomed.scale]).toEqual([220, 130]);
    expect(zoomAt(view, 1e9, 0, 0).scale).toBeLessThan(10);
    expect(zoomAt(view, 1e-9, 0, 0).scale).toBeGreaterThan(0);
  });

  test('fits everything', () => {
    const view = fit(all, size);
    expect(touches({ x: all.width, y: all.height, w: 0, h: 0 }, seen(view, size, 0))).toBe(true);
    expect(touches({ x: 0, y: 0, w: 0, h: 0 }, seen(view, size, 0))).toBe(true);
    expect(fit({ width: 10, height: 10 }, size).scale).toBe(1);
  });

  test('moves only as far as needed to show a box, and never loses the tree', () => {
    const view = { x: 0, y: 0, scale: 1 };
    expect(reveal(view, { x: 50, y: 50, w: 100, h: 20 }, size)).toEqual(view);
    const far = reveal(view, { x: 900, y: 700, w: 100, h: 20 }, size);
    expect(touches({ x: 900, y: 700, w: 100, h: 20 }, seen(far, size, 0))).toBe(true);
    const clamped = within({ x: 1e6, y: -1e6, scale: 1 }, all, size);
    expect(touches({ x: 0, y: 0, ...{ w: all.width, h: all.height } }, seen(clamped, size, 0))).toBe(true);
    expect(centre(view, { x: 100, y: 100, w: 0, h: 0 }, size)).toMatchObject({ x: 100, y: 50 });
  });
});

describe('the part covered by a map', () => {
  const [size, map, view] = [{ width: 400, height: 300 }, { width: 100, height: 80 }, { x: 10, y: 20, scale: 2 }];
  test.each([
    ['a box in the right corner', { x: 150, y: 110, w: 30, h: 20 }, false, true],
    ['not a box on the right if the map is on the left', { x: 150, y: 110, w: 30, h: 20 }, true, false],
    ['a box in the left corner', { x: 0, y: 110, w: 30, h: 20 }, true, true],
    ['a box that is only partly below the map', { x: 100, y: 90, w: 45, h: 20 }, false, true],
    ['not a box above the map', { x: 150, y: 10, w: 30, h: 20 }, false, false],
    ['not a box that is scrolled out of the view', { x: 150, y: 150, w: 30, h: 20 }, false, false],
  ])('%s', (_, box, left, under) => expect(covers([box], view, size, map, left)).toEqual(under ? [box] : []));
});

describe('versions of a message', () => {
  test('are the turns directly after one fork, each on the most recently used branch that contains it', () => {
    const { store, main, a, c, tree } = small();
    store.branch(c).view.updatedAt = 5_000;
    const versions = versionsOf(tree(), main);
    const excerpt = (id: string) => store.turn(id).user[0]!.text;
    expect(versions.get('m3')).toEqual({ at: 0, all: [{ turnId: 'm3', seq: 3, branchId: main, excerpt: excerpt('m3') }, { turnId: 'a3', seq: 3, branchId: c, excerpt: excerpt('a3') }] });
    expect(versions.get('a3')?.at).toBe(1);
    expect(versions.get('a4')?.all.map((version) => version.turnId)).toEqual(['a4', 'c4']);
    expect(versions.get('m1')?.all.map((version) => version.turnId)).toEqual(['m1', 'd1']);
    expect(versions.get('m2')).toBeUndefined();
    // The open branch is preferred.
    expect(versionsOf(tree(), a).get('m3')?.all[1]?.branchId).toBe(a);
  });

  test('exclude archived branches, except the open one', () => {
    const { store, main, a, c, tree } = small();
    for (const id of [a, c]) store.branch(id).view.archived = true;
    expect(versionsOf(tree(), main).get('m3')).toBeUndefined();
    expect(versionsOf(tree(), a).get('a3')?.all.map((version) => version.turnId)).toEqual(['m3', 'a3']);
  });
});
