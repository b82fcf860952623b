/**
 * Routes of the operator API about what the last days' applications were decided and would be (D51; docs/policy.md,
 * "The console"). A count that takes longer than a request waits goes on: the page asks again.
 */

import { reasonWords } from '../../../domain/scorecard/reasons.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { answered } from '../../policies/routes/answered.ts';
import {
  compared,
  readCurrent,
  readLiveDocument,
  showActivations,
} from '../../policies/uses/show-policies.ts';
import { History as Counts } from '../uses/history.ts';
import { readShadows } from '../uses/shadows.ts';
import { Difference, DifferenceQuery, History, HistoryQuery, Watch } from './forms.ts';
import { shownShadows, type Trying, trialActRoutes } from './trial-acts.ts';

/** The routes. */
export function trialRoutes(trying: Trying): Route[] {
  const { database, clock } = trying;
  const counts = new Counts(database, clock);
  return [
    historyRoute(database, counts),
    differenceRoute(database, counts),
    watchRoute(database, counts),
    ...trialActRoutes(trying),
  ];
}

function historyRoute(database: Database, counts: Counts): Route {
  return route({
    method: 'GET',
    path: '/policies/history',
    access: 'viewer',
    failures: [404],
    summary:
      'The applications of the last 30 days, counted by all that points, bands and limits of the version can tell apart. While `counting`, ask again.',
    query: HistoryQuery,
    reply: History,
    run: ({ query: { version } }) =>
      answered(async () => {
        const found = await counts.cube((await readCurrent(database, version)).document);
        return {
          body: found.counting
            ? { ...found, since: null, cube: null }
            : { counting: false, counted: found.result.applications, since: found.since, cube: found.result },
        };
      }),
  });
}

function differenceRoute(database: Database, counts: Counts): Route {
  return route({
    method: 'GET',
    path: '/policies/difference',
    access: 'viewer',
    failures: [404],
    summary:
      'What two versions do differently, and how many applications of the last 30 days each difference touches. While `counting`, ask again for the numbers.',
    query: DifferenceQuery,
    reply: Difference,
    run: ({ query }) =>
      answered(async () => {
        const [{ document: before }, { document: after }] = [
          await readCurrent(database, query.before),
          await readCurrent(database, query.after),
        ];
        const found = await counts.pair(before, after);
        const report = found.counting ? null : found.result;
        const differences = compared(before, after).map((one) => ({
          ...one,
          applications: report?.touched[one.place] ?? (isCounted(one.place) && report !== null ? 0 : null),
        }));
        return {
          body: inForm(Difference, {
            ...{ counting: found.counting, differences },
            counted: found.counting ? found.counted : found.result.applications,
            since: found.counting ? null : found.since,
            applications: report?.applications ?? null,
            changed: report?.changed ?? null,
          }),
        };
      }),
  });
}

/** Whether people can be counted at the place of a difference: an attribute, a limit or a band. */
function isCounted(place: string): boolean {
  return /^(limit|approved|in_review|payment_capacity|debt_age|num_debts|prior_history) (?!baseline$)/.test(
    place,
  );
}

function watchRoute(database: Database, counts: Counts): Route {
  return route({
    method: 'GET',
    path: '/policies/watch',
    access: 'viewer',
    summary:
      'What was decided in the last 30 days, day by day and by score, for which reasons, the drift of the last seven days, and the activations. While `counting`, ask again.',
    reply: Watch,
    run: async () => {
      const [found, activations, live, shadows] = [
        await counts.watch(),
        await showActivations(database),
        await readLiveDocument(database),
        await readShadows(database),
      ];
      const report = found.counting
        ? { applications: 0, days: [], versions: [], scores: [], reasons: [], drift: null }
        : found.result;
      const reasons = report.reasons.map((one) => ({ ...one, texts: reasonWords(one.code, live?.reasons) }));
      return {
        body: inForm(Watch, {
          ...report,
          days: report.days.map(({ in_review: inReview, ...day }) => ({ ...day, inReview })),
          versions: report.versions.map(({ in_review: inReview, ...one }) => ({ ...one, inReview })),
          reasons,
          activations,
          shadows: shownShadows(shadows),
          counting: found.counting,
          counted: found.counting ? found.counted : report.applications,
          since: found.counting ? null : found.since,
        }),
      };
    },
  });
}
