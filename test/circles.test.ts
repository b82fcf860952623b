/** No module imports itself by way of others, types included, so each can be read, moved and tested alone. */
import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import { importsOf, readSources } from './support/sources.ts';

const FOLDERS = [
  'src',
  'packages/submit/src',
  'packages/submit/test',
  'client/src',
  'console/src',
  'portal/src',
  'bench',
  'examples',
  'test',
  'verify',
];

/** Each module with the modules that it imports. */
type Graph = ReadonlyMap<string, readonly string[]>;

/** Reads the imports of every module, by paths in the repository. */
function readGraph(): Graph {
  const sources = FOLDERS.flatMap((folder) =>
    readSources(folder).map(({ path, text }) => ({ path: `${folder}/${path}`, text })),
  );
  const known = new Set(sources.map(({ path }) => path));
  return new Map(
    sources.map(({ path, text }) => {
      const targets = importsOf(text).map((specifier) => posix.join(posix.dirname(path), specifier));
      return [path, [...new Set(targets)].filter((target) => known.has(target))];
    }),
  );
}

/** Some circles of the graph, each as its path: at least one where the graph has any. */
function circlesIn(graph: Graph): string[][] {
  const circles: string[][] = [];
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (node: string) => {
    const start = way.indexOf(node);
    if (start !== -1) circles.push([...way.slice(start), node]);
    if (start !== -1 || done.has(node)) return;
    way.push(node);
    for (const target of graph.get(node) ?? []) visit(target);
    way.pop();
    done.add(node);
  };
  for (const node of graph.keys()) visit(node);
  return circles;
}

test('the imports have no circle', () => {
  const graph = readGraph();
  const edges = [...graph.values()].flat();
  assert.ok(graph.size > 450, `read only ${graph.size} files`);
  assert.ok(edges.length > 1_800, `read only ${edges.length} imports`);
  for (const folder of FOLDERS) {
    const found = [...graph].some(([path, targets]) => path.startsWith(`${folder}/`) && targets.length > 0);
    assert.ok(found, `no imports found in ${folder}`);
  }
  assert.deepEqual(
    circlesIn(graph).map((circle) => circle.join(' -> ')),
    [],
  );
});

test('the check finds the circles of a made-up graph', () => {
  /** Makes a graph of edges such as `ab`: a imports b. */
  const of = (...edges: readonly string[]) => {
    const graph = new Map<string, string[]>();
    for (const edge of edges) {
      const [from, to] = [edge.charAt(0), edge.charAt(1)];
      graph.set(from, [...(graph.get(from) ?? []), to]);
    }
    return circlesIn(graph).map((circle) => circle.join(''));
  };
  assert.deepEqual(of('ab', 'bc', 'ac', 'dc'), []);
  assert.deepEqual(of('aa'), ['aa']);
  assert.deepEqual(of('ab', 'ba'), ['aba']);
  assert.deepEqual(of('ab', 'bc', 'cd', 'db', 'ae'), ['bcdb']);
  assert.deepEqual(of('ab', 'ac', 'bd', 'cd', 'xy', 'yx'), ['xyx']);
});
