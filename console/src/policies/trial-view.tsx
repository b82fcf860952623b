/** Tries a version before it decides: backtests of what was registered, and shadows of what comes in. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { BacktestReply, TrialsReply } from '../../../src/subjects/evaluation/routes/forms.ts';
import { DEFAULT_DAYS, MOST_DAYS } from '../../../src/subjects/evaluation/rules/shadow-days.ts';
import type { PoliciesReply } from '../../../src/subjects/policies/routes/forms.ts';
import { refreshPolicies, startBacktest, startShadow, useTrials } from '../api/policies.ts';
import { timeNow } from '../api/service-time.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import lead from '../lead/lead.module.css';
import { useTexts } from '../texts/texts.ts';
import { StopShadowDialog } from './act-dialogs.tsx';
import { VersionChoice } from './card-view.tsx';
import { whoName } from './names.ts';
import styles from './policies.module.css';
import { useFailure, usePolicyTexts } from './policy-texts.ts';
import { ShadowList } from './shadow-list.tsx';
import { Swapped, SwapTable } from './swap-table.tsx';
import { Scroll } from './versions-view.tsx';

interface TrialViewProps {
  readonly shown: PoliciesReply;
  readonly version: string;
  readonly isAdmin: boolean;
}

export function TrialView({ shown, version, isAdmin }: TrialViewProps) {
  const policies = usePolicyTexts();
  const { frame } = useTexts();
  const failure = useFailure();
  const { data, error } = useTrials(version);
  const trials = data?.body;
  const one = shown.versions.find((listed) => listed.version === version);
  const isRunning = trials?.shadows.some(
    (shadow) => shadow.version === version && shadow.state === 'running',
  );
  const [stopping, setStopping] = useState<string | null>(null);
  return (
    <>
      <VersionChoice {...{ shown, version }} />
      {error && <p role="alert">{failure(error)}</p>}
      {!data && !error && <p>{frame.loading}</p>}
      {trials && (
        <div className={styles.two}>
          <Card title={policies.backtest}>
            <p className={card.quiet}>
              {policies.backtestNote} {policies.riskNote}
            </p>
            {isAdmin && <BacktestForm key={version} version={version} />}
            <Runs runs={trials.runs.filter((run) => run.version === version)} />
            {trials.backtests.length === 0 && <p>{policies.noBacktest}</p>}
            {trials.backtests.map((backtest, index) => (
              <details key={backtest.id} className={lead.details} open={index === 0}>
                <summary>{policies.backtestOf(backtest.id)}</summary>
                <BacktestResult of={backtest} />
              </details>
            ))}
          </Card>
          <Card title={policies.shadow}>
            <p className={card.quiet}>{policies.shadowNote}</p>
            {isAdmin && one?.state !== 'live' && !isRunning && <ShadowForm key={version} version={version} />}
            {one?.state === 'live' && <p>{policies.shadowOfLive}</p>}
            <ShadowList shadows={trials.shadows} onStop={isAdmin ? setStopping : null} />
          </Card>
        </div>
      )}
      {stopping !== null && <StopShadowDialog version={stopping} onClose={() => setStopping(null)} />}
    </>
  );
}

interface BeginProps {
  readonly button: string;
  readonly onBegin: () => Promise<unknown>;
  readonly children: ReactNode;
}

/** Begins something. Whatever came of it, the page asks again. */
function BeginForm({ button, onBegin, children }: BeginProps) {
  const failure = useFailure();
  const queries = useQueryClient();
  const beginning = useMutation({ mutationFn: onBegin, onSettled: () => refreshPolicies(queries) });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (event.currentTarget.reportValidity() && !beginning.isPending) beginning.mutate();
  };
  return (
    <form className={styles.form} noValidate onSubmit={submit}>
      {children}
      {beginning.error && <p role="alert">{failure(beginning.error)}</p>}
      <div className={styles.actions}>
        <button type="submit" data-main disabled={beginning.isPending}>
          {button}
        </button>
      </div>
    </form>
  );
}

const DAY_MS = 86_400_000;
/** As the other views of the page. */
const WINDOW_DAYS = 30;

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

function BacktestForm({ version }: { version: string }) {
  const policies = usePolicyTexts();
  const [since, setSince] = useState(() => dayOf(timeNow() - WINDOW_DAYS * DAY_MS));
  return (
    <BeginForm
      button={policies.runBacktest}
      onBegin={() => startBacktest(version, since === '' ? null : since)}
    >
      <label>
        {policies.since}
        <input
          type="date"
          max={dayOf(timeNow())}
          value={since}
          onChange={({ target }) => setSince(target.value)}
        />
      </label>
      <p className={card.quiet}>{policies.sinceNote}</p>
    </BeginForm>
  );
}

function ShadowForm({ version }: { version: string }) {
  const policies = usePolicyTexts();
  const format = useFormat();
  const [days, setDays] = useState(`${DEFAULT_DAYS}`);
  const count = Number(days);
  const isGood = Number.isInteger(count) && count >= 1 && count <= MOST_DAYS;
  return (
    <BeginForm button={policies.startShadow} onBegin={() => startShadow(version, count)}>
      <label>
        {policies.days}
        <input
          type="number"
          inputMode="numeric"
          required
          min={1}
          max={MOST_DAYS}
          step={1}
          value={days}
          onChange={({ target }) => setDays(target.value)}
        />
      </label>
      <p className={card.quiet}>
        {isGood && policies.endsOn(format.time(new Date(timeNow() + count * DAY_MS).toISOString()))}{' '}
        {policies.endsBy}
      </p>
    </BeginForm>
  );
}

function Runs({ runs }: Pick<TrialsReply, 'runs'>) {
  const policies = usePolicyTexts();
  const format = useFormat();
  return (
    <>
      <p role="status" className={styles.status}>
        {runs
          .filter((run) => !run.has_failed)
          .map(({ applications }) => policies.running(format.number(applications)))
          .join(' ')}
      </p>
      {runs.some((run) => run.has_failed) && <p role="alert">{policies.runFailed}</p>}
    </>
  );
}

function BacktestResult({ of }: { of: BacktestReply }) {
  const policies = usePolicyTexts();
  const { lead: texts } = useTexts();
  const format = useFormat();
  const { since, at, by, applications, is_current, reviews_a_day: reviews } = of;
  const window = since === null ? policies.ofAll : policies.ofSince(since);
  return (
    <>
      {!is_current && <p className={styles.finding}>{policies.changedSince}</p>}
      <p className={card.quiet}>
        {policies.tried(format.number(applications), window)}{' '}
        {policies.by(whoName(by, policies), format.time(at))}
      </p>
      <Swapped rows={of.matrix} />
      <p>
        {policies.reviewsADay}: {policies.rates(format.number(reviews.before), format.number(reviews.after))}
      </p>
      <details className={lead.details}>
        <summary>{policies.inUsd}</summary>
        <SwapTable rows={of.usd.map((row) => row.map(Math.round))} />
      </details>
      <details className={lead.details}>
        <summary>
          {policies.approvalRate}, {texts.asTable}
        </summary>
        <Scroll label={policies.approvalRate}>
          <ShareTable of={of} />
        </Scroll>
      </details>
    </>
  );
}

/** Approval rates by partner, currency and month; the one after with its interval. */
function ShareTable({ of: { partners, currencies, months } }: { of: BacktestReply }) {
  const policies = usePolicyTexts();
  const format = useFormat();
  const rows = [
    ...partners.map((one) => ({ ...one, kind: 'partner' })),
    ...currencies.map((one) => ({ ...one, kind: 'currency' })),
    ...months.map((one) => ({ ...one, kind: 'month', name: format.month(one.name) })),
  ];
  return (
    <table className={card.table}>
      <thead>
        <tr>
          <th scope="col">{policies.partOf}</th>
          <th scope="col">{policies.count}</th>
          <th scope="col">{policies.before}</th>
          <th scope="col">{policies.after}</th>
          <th scope="col">{policies.interval}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ kind, name, applications, before, after, low, high }) => (
          <tr key={`${kind} ${name} ${applications}`}>
            <th scope="row">{name}</th>
            <td>{format.number(applications)}</td>
            <td>{format.percent(before / applications)}</td>
            <td>{format.percent(after / applications)}</td>
            <td>
              {format.percent(low)}–{format.percent(high)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
