/**
 * What `serve` and `worker` run for monitoring: the watcher of the process, its pages, and jobs of the upkeep
 * (docs/monitoring.md).
 */
import { version } from '../../ground/base/version.ts';
import type { Service, WatchContext } from '../../program/subject/subject.ts';
import type { Watcher } from '../../program/subject/watcher.ts';
import { ConversationMeters } from './metrics/conversation-meters.ts';
import { Meters } from './metrics/meters.ts';
import { addMetrics } from './metrics/metrics-route.ts';
import { measureRequests } from './metrics/requests.ts';
import { Scrape } from './metrics/scrape.ts';
import { measureStatements } from './metrics/statements.ts';
import { StoreSeries } from './metrics/store-series.ts';
import { METRICS_PARTNERS } from './settings.ts';
import { rememberStepMedians } from './sql/step-medians.ts';
import { readStoreFacts } from './sql/store-facts.ts';
import { noteUpkeep, rememberMessageCounts } from './sql/upkeep-jobs.ts';
import { noteTroubles } from './uses/note-troubles.ts';

export const MONITORING_SERVICE: Service = {
  upkeep: [
    { name: 'remember message counts', run: ({ database }) => rememberMessageCounts(database) },
    { name: 'remember median times', seldom: true, run: ({ database }) => rememberStepMedians(database) },
    { name: 'note troubles', run: noteTroubles },
  ],
  watch,
};

/** Counts what the process does, and shows it together with the facts of the store. */
function watch({ database, clock, pools, setting }: WatchContext): Watcher {
  const meters = new Meters();
  const conversations = new ConversationMeters(meters);
  for (const pool of Object.values(pools)) measureStatements(pool, meters, clock);
  meters.watchPools(pools);
  const partners = setting(METRICS_PARTNERS);
  const read = () => readStoreFacts(database, partners);
  const scrape = new Scrape(meters, new StoreSeries(meters, version()), read, clock);
  return {
    measure: (app) => measureRequests(app, meters),
    showLoad: (read) => meters.watchLoad(read),
    refused: (requests) => meters.overloaded(requests),
    leftOut: (requests) => meters.leftOut(requests),
    registering: (batches, applications) => meters.registration(batches, applications),
    sent: (result) => meters.sent(result),
    replied: (result) => meters.replied(result),
    happened: (events) => meters.channelEvents(events),
    pushed: (result) => meters.pushed(result),
    tookTurns: (taken) => conversations.turns(taken),
    turnsFailed: () => conversations.turnsFailed(),
    worked: (work, result, tookMs) => conversations.work(work, result, tookMs),
    readDocument: (result, tookMs) => conversations.reading(result, tookMs),
    scanned: (result) => conversations.scan(result),
    sentCode: (way, result) => conversations.code(way, result),
    triedToSignIn: (step, result) => meters.triedToSignIn(step, result),
    kept: (ends) => noteUpkeep(database, ends),
    addPages: (app) => addMetrics(app, scrape),
  };
}
