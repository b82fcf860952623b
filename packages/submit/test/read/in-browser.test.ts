/** The modules that the partner's own page takes of `submit`. */
import assert from 'node:assert/strict';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const SOURCES = join(import.meta.dirname, '../../src');

test('what reads, maps and cuts needs no module of Node, and each file of it has at most 60 kB', async () => {
  const { outputFiles } = await build({
    entryPoints: ['map/source.ts', 'map/check.ts', 'map/rules.ts', 'send/cut.ts'].map((path) =>
      join(SOURCES, path),
    ),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    outdir: SOURCES,
    write: false,
    logLevel: 'silent',
  });
  const sizes = outputFiles.map(({ path, contents }) => [
    basename(path),
    gzipSync(contents, { level: 9 }).length,
  ]);
  assert.deepEqual(
    sizes.filter(([, size]) => Number(size) > 60_000),
    [],
  );
});
