/** A scrape is bounded: a store that hangs does not hold it, and many scrapers read the store once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Meters } from '../../src/subjects/monitoring/metrics/meters.ts';
import { Scrape } from '../../src/subjects/monitoring/metrics/scrape.ts';
import { StoreSeries } from '../../src/subjects/monitoring/metrics/store-series.ts';
import type { StoreFacts } from '../../src/subjects/monitoring/rules/store-facts.ts';
import { TestClock } from '../support/test-clock.ts';
import { wellFacts } from './facts.ts';
import { numberOf, seriesOf } from './series.ts';

function scrapeOf(read: () => Promise<StoreFacts>) {
  const meters = new Meters();
  const clock = new TestClock();
  const scrape = new Scrape(meters, new StoreSeries(meters, '1.2.3'), read, clock);
  return { meters, scrape, clock };
}

describe('a scrape', () => {
  it('shows what the process knows where the store hangs, and asks the store once', async () => {
    let reads = 0;
    const { scrape, clock } = scrapeOf(() => {
      reads += 1;
      return new Promise(() => {});
    });
    const scraped = async () => {
      const text = scrape.text();
      await clock.advance(999);
      assert.equal(clock.timers, 1, 'it waits for the store for a second');
      await clock.advance(1);
      return text;
    };
    const text = await scraped();
    await clock.advance(60_000);
    await scraped();
    assert.equal(reads, 1);
    assert.equal(numberOf(text, 'ventanilla_store_up', {}), 0);
    assert.equal(numberOf(text, 'ventanilla_partitions_ahead', {}), undefined);
    assert.ok((numberOf(text, 'ventanilla_heap_limit_bytes', {}) ?? 0) > 0);
  });

  it('leaves the numbers of the store out while the store fails, and shows them again after it', async () => {
    let isUp = true;
    const { scrape, clock } = scrapeOf(async () => {
      if (!isUp) throw new Error('down');
      return wellFacts();
    });
    const look = async () => {
      await clock.advance(60_000);
      const text = await scrape.text();
      return [numberOf(text, 'ventanilla_store_up', {}), numberOf(text, 'ventanilla_sender_paused', {})];
    };
    assert.deepEqual(await look(), [1, 0]);
    isUp = false;
    assert.deepEqual(await look(), [0, undefined]);
    isUp = true;
    assert.deepEqual(await look(), [1, 0]);
  });

  it('is shared by the scrapers of two seconds', async () => {
    let reads = 0;
    const { scrape, clock } = scrapeOf(async () => {
      reads += 1;
      return wellFacts();
    });
    await Promise.all(Array.from({ length: 100 }, () => scrape.text()));
    await clock.advance(2_000);
    await scrape.text();
    assert.equal(reads, 1);
    await clock.advance(1);
    await scrape.text();
    assert.equal(reads, 2);
  });

  it('counts refusals because of overload by the partners that are shown', async () => {
    const { meters, scrape } = scrapeOf(async () => wellFacts());
    meters.overloaded(
      new Map([
        [1, 2],
        [77, 3],
        [78, 4],
      ]),
    );
    meters.overloaded(new Map([[1, 5]]));
    const text = await scrape.text();
    const refused = seriesOf(text).filter(
      ({ name }) => name === 'ventanilla_overload_refused_requests_total',
    );
    assert.deepEqual(Object.fromEntries(refused.map(({ labels, value }) => [labels.partner, value])), {
      1: 7,
      other: 7,
    });
  });
});
