/** The report of a run: a page with plots that needs nothing from outside, and the same figures as JSON. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { figuresOf, type Reported } from './figures.ts';
import { pageOf } from './page.ts';

/** Writes `chaos-SEED.html` and `chaos-SEED.json` into a folder, and gives the path of the page. */
export function writeReport(folder: string, reported: Reported): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `chaos-${reported.seed}.html`);
  const figures = figuresOf(reported);
  writeFileSync(path, pageOf(reported, figures));
  writeFileSync(join(folder, `chaos-${reported.seed}.json`), `${JSON.stringify(figures, null, 2)}\n`);
  return path;
}
