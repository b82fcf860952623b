/** A portal that listens, with people at partners who sign in to it. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import pino from 'pino';
import { portalRoutes } from '../../src/app/listeners/portal-listener.ts';
import { namedFields } from '../../src/domain/application/fields.ts';
import type { PartnerRole } from '../../src/domain/operator/authority.ts';
import type { Credential, PartnerId } from '../../src/domain/partner/credential.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { BROWSER_LIMITS, browserApi } from '../../src/listeners/browser/browser-api.ts';
import type { Page } from '../../src/listeners/browser/page.ts';
import { requestIds } from '../../src/listeners/partner/request-id.ts';
import type { BatchIntake } from '../../src/subjects/applications/routes/portal.ts';
import { Registrar } from '../../src/subjects/applications/sql/registration.ts';
import { ingestBatch } from '../../src/subjects/applications/uses/ingest-batch.ts';
import { addPartnerAccount } from '../../src/subjects/operators/uses/partner-accounts.ts';
import { quotaHeaders } from '../../src/subjects/partners/routes/get-quota.ts';
import { quotaStatus } from '../../src/subjects/partners/uses/quota-status.ts';
import { RequestLog } from '../../src/subjects/partners/uses/request-log.ts';
import { LivePolicy } from '../../src/subjects/policies/uses/live-policy.ts';
import { Admission } from '../../src/wire/gate/admission.ts';
import type { Route } from '../../src/wire/operator/route.ts';
import { type Enrolled, Visitor, watchAnswers, withFactors } from './console.ts';
import type { TestDatabase } from './database.ts';
import { patientClock } from './eventually.ts';
import { patient } from './patient.ts';

/** Starts the portal with its routes, and `more`; `page` is the built page. */
export async function startTestPortal(
  { database, runtime, vault, clock, stopFirst }: TestDatabase,
  more: readonly Route[] = [],
  page: Promise<Page | null> = Promise.resolve(null),
) {
  const failures: unknown[] = [];
  let url = '';
  const origin = () => url;
  const store = { database: runtime, vault, clock: clock === machineClock ? patientClock : clock };
  const intake = await batchIntake(store);
  const routes = [...(await portalRoutes(store, { origin, onTry: () => {} }, intake)), ...more];
  const app = browserApi(
    {
      ...{ whose: 'partner', database: runtime, vault, clock, routes, origin, page },
      logFailure: (_text: string, facts: object) => failures.push(facts),
    },
    patient(BROWSER_LIMITS),
  );
  const undocumented = new Set<string>();
  watchAnswers(app, undocumented);
  await app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://localhost:${(app.server.address() as { port: number }).port}`;
  stopFirst(async () => {
    await app.close();
    await intake.requests.stop();
  });
  after(() => assert.deepEqual([...undocumented], [], 'answers that the document does not have'));
  after(() => assert.deepEqual(failures, [], 'failures that nobody expected'));

  /** Adds an account with both factors, set without the page. */
  const enrolled = async (partnerId: PartnerId, login: string, role: PartnerRole): Promise<Enrolled> => {
    const { account } = await addPartnerAccount({ database, vault }, { partnerId, login, role });
    return withFactors({ database, vault }, account, () => new Visitor(url), 'ventanilla-portal');
  };
  return { url: () => url, routes, enrolled, visitor: () => new Visitor(url) };
}

/** What the portal shares with the partners' listener of a process; this process has no such listener. */
async function batchIntake(store: Pick<TestDatabase, 'database' | 'vault' | 'clock'>) {
  const { database, vault, clock } = store;
  const log = pino({ level: 'silent' });
  const policies = await LivePolicy.open({ ...store, log }, null);
  const registrar = new Registrar(database, { indexKeyId: vault.indexKeyId }, { clock });
  const fields = namedFields('messaging');
  const counted = { onAnswered: () => {}, onRemembered: () => {} };
  const failed = (error: unknown) => assert.fail(`${error}`);
  const requests = new RequestLog(database, { clock, onLeftOut: () => {}, onError: failed });
  const quota = (credential: Credential) => quotaStatus(database, credential.partner.id, credential.dailyCap);
  const intake: BatchIntake & { requests: RequestLog } = {
    fields,
    requests,
    admission: new Admission({ limit: registrar.atWork, clock, tell: () => {} }),
    ingest: (request) => ingestBatch({ fields, policies, vault, registrar, database, ...counted }, request),
    newRequestId: requestIds(clock),
    quotaHeaders: (credential, deadline) => quotaHeaders({ clock, quota }, credential, deadline),
  };
  return intake;
}
