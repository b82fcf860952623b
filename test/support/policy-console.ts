/** A console with the routes about policies, admins who sign in to it, and versions to activate. */
import assert from 'node:assert/strict';
import { documentOf } from '../../src/domain/scorecard/content.ts';
import type { PolicyDocument } from '../../src/domain/scorecard/document.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Page } from '../../src/listeners/browser/page.ts';
import { trialRoutes } from '../../src/subjects/evaluation/routes/trials.ts';
import { holdAdmins } from '../../src/subjects/operators/sql/admins.ts';
import { policyRoutes } from '../../src/subjects/policies/routes/policies.ts';
import type { Route } from '../../src/wire/operator/route.ts';
import { startTestConsole, type Visitor } from './console.ts';
import type { TestDatabase } from './database.ts';
import { livePolicyOf } from './intake.ts';

export const BUILT_IN = documentOf(DEFAULT_POLICY);

/** The built-in policy with another name and other bands. */
export const banded = (version: string, approved = 80): PolicyDocument => ({
  ...BUILT_IN,
  version,
  decision: { approved, in_review: 30 },
});

/** The warnings that `banded` has. */
export const WARNINGS = ['single_cell_decision', 'contract_bands'];

/** The routes about policies. */
export function routesOf({ runtime, vault }: TestDatabase, undoSeconds = 0): Route[] {
  const store = { database: runtime, vault, clock: machineClock };
  const desk = {
    ...{ ...store, undoSeconds, holdAdmins, realFactorsOn: async () => ({}) },
    logFailure: (text: string) => assert.fail(text),
  };
  return [...policyRoutes(desk), ...trialRoutes(desk)];
}

/** Starts a console whose store has its first policy; `undoSeconds` 0: an activation is confirmed at once. */
export async function policyConsole(
  store: TestDatabase,
  {
    undoSeconds = 0,
    more = [],
    page,
  }: { undoSeconds?: number; more?: readonly Route[]; page?: Promise<Page | null> } = {},
) {
  await livePolicyOf(store);
  const console = await startTestConsole(store, [...routesOf(store, undoSeconds), ...more], page);
  return { console, ...asking };
}

/** What the tests ask of the routes. */
const asking = {
  save: (visitor: Visitor, document: object, replaces: string | null = null) =>
    visitor.ask('POST', '/api/policies/drafts', { document, replaces }),
  propose: (visitor: Visitor, version: string, accept: readonly string[] = []) =>
    visitor.ask('POST', '/api/policies/proposals', { version, reason: `because ${version}`, accept }),
  confirm: (visitor: Visitor, id: number, accept: readonly string[] = []) =>
    visitor.ask('POST', `/api/policies/proposals/${id}/confirm`, { accept }),
  shown: async (visitor: Visitor) => (await visitor.ask('GET', '/api/policies')).body,
};
