/** What is wrong with a page that a browser shows: the findings of axe, and what does not fit its window. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** For looking at the page: a folder that gets a picture of each state. */
const PICTURES = process.env.CONSOLE_PICTURES;

/** The rules of axe for each theme; null: all. A theme changes colours alone (`test/console/themes.test.ts`). */
const RULES_OF = { light: null, dark: ['color-contrast', 'link-in-text-block'] } as const;

/** Holds in both themes that nothing is wrong with the page. */
export async function check(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await pageFaults(page, RULES_OF[colorScheme]), [], `${name}, ${colorScheme}`);
    const file = `${name}-${page.viewportSize()?.width}-${colorScheme}.png`;
    if (PICTURES) await page.screenshot({ path: join(PICTURES, file), fullPage: true });
  }
}

/**
 * Empty where nothing is wrong; each finding has the first element that it is about. `rules` names the rules to hold;
 * null: all that axe holds by itself.
 */
async function pageFaults(page: Page, rules: readonly string[] | null): Promise<string[]> {
  // By the protocol and not as a script element, which the page's policy refuses.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  // Findings need neither what is right nor selectors of elements, which take half of the time.
  const options = { resultTypes: ['violations'], selectors: false, ...(rules && { runOnly: rules }) };
  const found = await page.evaluate(
    `axe.run(${JSON.stringify(options)})
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
  );
  const isWide = await page.evaluate(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );
  return [...(found as string[]), ...(isWide ? ['the page is wider than its window'] : [])];
}
