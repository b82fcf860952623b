/** What is wrong with a page that a browser shows: the findings of axe, and what does not fit its window. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Empty where nothing is wrong; each finding has the first element that it is about. */
export async function pageFaults(page: Page): Promise<string[]> {
  // By the protocol and not as a script element, which the page's policy refuses.
  await page.evaluate(AXE);
  const rules = await page.evaluate(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))",
  );
  const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  return [...(rules as string[]), ...(isWide ? ['the page is wider than its window'] : [])];
}
