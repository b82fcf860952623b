/** A portal that listens, with people at partners who sign in to it. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { portalRoutes } from '../../src/app/listeners/portal-listener.ts';
import type { PartnerRole } from '../../src/domain/operator/authority.ts';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { BROWSER_LIMITS, browserApi } from '../../src/listeners/browser/browser-api.ts';
import type { Page } from '../../src/listeners/browser/page.ts';
import { addPartnerAccount } from '../../src/subjects/operators/uses/partner-accounts.ts';
import type { Route } from '../../src/wire/operator/route.ts';
import { type Enrolled, Visitor, watchAnswers, withFactors } from './console.ts';
import type { TestDatabase } from './database.ts';
import { patientClock } from './eventually.ts';
import { patient } from './patient.ts';

/** Starts the portal with its routes, and `more`; `page` is the built page. */
export async function startTestPortal(
  { database, runtime, vault, clock }: TestDatabase,
  more: readonly Route[] = [],
  page: Promise<Page | null> = Promise.resolve(null),
) {
  const failures: unknown[] = [];
  let url = '';
  const origin = () => url;
  const store = { database: runtime, vault, clock: clock === machineClock ? patientClock : clock };
  const routes = [...(await portalRoutes(store, { origin, onTry: () => {} })), ...more];
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
  after(() => app.close());
  after(() => assert.deepEqual([...undocumented], [], 'answers that the document does not have'));
  after(() => assert.deepEqual(failures, [], 'failures that nobody expected'));

  /** Adds an account with both factors, set without the page. */
  const enrolled = async (partnerId: PartnerId, login: string, role: PartnerRole): Promise<Enrolled> => {
    const { account } = await addPartnerAccount({ database, vault }, { partnerId, login, role });
    return withFactors({ database, vault }, account, () => new Visitor(url), 'ventanilla-portal');
  };
  return { url: () => url, routes, enrolled, visitor: () => new Visitor(url) };
}
