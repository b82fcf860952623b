/**
 * Routes of the operator API that try a version before it decides: backtests and shadows (D51; docs/policy.md, "The
 * console"). A backtest goes on in the background, and the page asks for it again.
 */
import { DECISIONS } from '../../../domain/scorecard/scorecard.ts';
import type { LogFailure } from '../../../program/operations/failure-log.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { form } from '../../../wire/operator/form.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Answer, type Route, route } from '../../../wire/operator/route.ts';
import { answered } from '../../policies/routes/answered.ts';
import { actorOf } from '../../policies/uses/activation-proposals.ts';
import { naming, readCurrent, type Who } from '../../policies/uses/show-policies.ts';
import type { Matrix } from '../rules/backtest-report.ts';
import { newestBacktests, type StoredReport } from '../uses/backtest.ts';
import { BacktestRuns } from '../uses/backtest-runs.ts';
import { TRIAL_CONFLICTS, TrialRefusal } from '../uses/refusal.ts';
import { readShadows, type ShadowReport, startShadow, stopShadow } from '../uses/shadows.ts';
import { NewBacktest, NewShadow, ShadowEnd, Trials, TrialsQuery } from './forms.ts';

/** What the routes get. */
export interface Trying extends Pick<OperatorContext, 'database' | 'vault' | 'clock'> {
  readonly logFailure: LogFailure;
  /** The backtests of this process; a test that waits for them has its own. */
  readonly runs?: BacktestRuns;
}

const Nothing = form({});

/** The routes. */
export function trialActRoutes(trying: Trying): Route[] {
  const runs = trying.runs ?? new BacktestRuns(trying.clock, trying.logFailure);
  return [trialsRoute(trying, runs), backtestRoute(trying, runs), ...shadowRoutes(trying)];
}

/** The backtests of a version that the page shows. */
const MOST_BACKTESTS = 5;
/** The shadows that the page shows: those that run, and the last ones. */
const MOST_SHADOWS = 10;

/** The shadows of a reply. */
export function shownShadows(shadows: readonly ShadowReport[]) {
  return shadows.slice(0, MOST_SHADOWS).map((shadow) => {
    const { started_at: startedAt, ends_at: endsAt, ended_at: endedAt, ended_why: endedWhy } = shadow;
    return { ...shadow, startedAt, endsAt, endedAt, endedWhy, matrix: rowsOf(shadow.matrix) };
  });
}

const rowsOf = (matrix: Matrix) => DECISIONS.map((before) => DECISIONS.map((after) => matrix[before][after]));

function trialsRoute({ database }: Trying, runs: BacktestRuns): Route {
  return route({
    method: 'GET',
    path: '/policies/trials',
    access: 'viewer',
    failures: [404],
    summary:
      'The newest backtests of a version, the backtests that this process runs, and the shadows. While there are runs, ask again.',
    query: TrialsQuery,
    reply: Trials,
    run: ({ query: { version } }) =>
      answered(async () => {
        const { sha256 } = await readCurrent(database, version);
        // The runs first: one that ends meanwhile is stored by then.
        const shown = runs.shown();
        const [backtests, shadows] = [
          await newestBacktests(database, version, MOST_BACKTESTS),
          await readShadows(database),
        ];
        const who = await naming(
          database,
          backtests.map(({ by }) => by),
        );
        return {
          body: inForm(Trials, {
            runs: shown,
            backtests: backtests.map((one) => ({
              ...backtestOf(one, who(one.by)!),
              isCurrent: one.sha256 === sha256,
            })),
            shadows: shownShadows(shadows),
          }),
        };
      }),
  });
}

function backtestOf({ id, since, at, report }: StoredReport, by: Who) {
  const { applications, matrix, usd, reviewsADay, currencies, partners, months } = report;
  return {
    ...{ id, since, at, by, applications, reviewsADay, currencies, partners, months },
    ...{ matrix: rowsOf(matrix), usd: rowsOf(usd) },
  };
}

function backtestRoute(trying: Trying, runs: BacktestRuns): Route {
  return route({
    method: 'POST',
    path: '/policies/backtests',
    access: 'admin',
    failures: [404],
    conflicts: TRIAL_CONFLICTS,
    summary:
      'Begins to try a version, also a draft, on what was registered on or after a day, and stores the result. Where the same runs already, it is that one.',
    body: NewBacktest,
    reply: Nothing,
    run: ({ session, body: { version, since } }) =>
      tried(async () => {
        await readCurrent(trying.database, version);
        runs.start(contextOf(trying, session.operatorId), version, since);
        return { body: {} };
      }),
  });
}

function shadowRoutes(trying: Trying): Route[] {
  return [
    route({
      method: 'POST',
      path: '/policies/shadows',
      access: 'admin',
      failures: [404],
      conflicts: TRIAL_CONFLICTS,
      summary:
        'Starts the shadow of a version or a draft, as it is now, for so many days: it decides beside the live one, without effect.',
      body: NewShadow,
      reply: Nothing,
      run: ({ session, body: { version, days } }) =>
        tried(async () => {
          await readCurrent(trying.database, version);
          await startShadow(contextOf(trying, session.operatorId), version, days);
          return { body: {} };
        }),
    }),
    route({
      method: 'POST',
      path: '/policies/shadows/stop',
      access: 'admin',
      conflicts: TRIAL_CONFLICTS,
      summary: 'Stops the shadow of a version. What it has counted stays.',
      body: ShadowEnd,
      reply: Nothing,
      run: ({ session, body: { version } }) =>
        tried(async () => {
          await stopShadow(contextOf(trying, session.operatorId), version);
          return { body: {} };
        }),
    }),
  ];
}

function contextOf({ database, vault, clock }: Trying, operatorId: number): OperatorContext {
  return { database, vault, clock, actor: actorOf(operatorId) };
}

/** The answer of the work, or of its refusal with its code. */
function tried<Reply>(work: () => Promise<Answer<Reply>>): Promise<Answer<Reply>> {
  return answered(async () => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TrialRefusal)) throw error;
      const body = { error: error.message, code: error.code };
      return { status: 409, body };
    }
  });
}
