/** The page of a backtest in a browser: both themes, wide and on a telephone, by the rules of axe. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { backtestPage } from '../../src/subjects/evaluation/rules/backtest-page.ts';
import { madeBacktest } from '../evaluation/made-backtest.ts';
import { DESKTOP, PHONE, skip, testBrowser } from '../support/browser.ts';
import { check } from '../support/page-faults.ts';

describe('the page of a backtest', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'ventanilla-page-'));
  after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'backtest.html');
  writeFileSync(file, backtestPage(madeBacktest()));
  const visit = testBrowser(pathToFileURL(file).href);

  for (const [name, device] of [
    ['wide', DESKTOP],
    ['telephone', PHONE],
  ] as const)
    it(`D51: shows without a fault: ${name}`, () => visit(device, (page) => check(page, 'backtest')));
});
