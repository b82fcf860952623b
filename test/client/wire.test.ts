/** The client's own names, compared with the tables that the service runs on. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type Application,
  type DebtAge,
  type Decision,
  type FieldCode,
  type MessageType,
  type NumDebts,
  type PriorHistory,
  ResponseError,
  type Status,
  VentanillaClient,
} from '../../client/src/index.ts';
import { readBatch } from '../../client/src/read-answer.ts';
import * as fields from '../../src/domain/application/fields.ts';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { type ApplicationStatus, INITIAL_STATUS } from '../../src/domain/application/lifecycle.ts';
import type { Outcome } from '../../src/domain/application/read-application.ts';
import type { OutcomeType } from '../../src/domain/message/notify.ts';
import { DEFAULT_TEMPLATES, OUTCOME_TYPES } from '../../src/domain/message/notify.ts';
import { ENVIRONMENTS } from '../../src/domain/partner/credential.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { DECISIONS, type Decision as ServiceDecision } from '../../src/domain/scorecard/scorecard.ts';
import { LANGUAGES } from '../../src/ground/base/language.ts';
import { renderBatch } from '../../src/wire/contract/response.ts';
import { faultTexts, type FieldCode as ServiceFieldCode } from '../../src/wire/contract/texts.ts';
import { testService } from '../support/service.ts';
import { anInput } from './support.ts';

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
// The type check fails here where a table of the service changes and client/src/wire.ts does not.
const SAME: [
  Same<keyof Application, fields.FieldName>,
  Same<NumDebts, fields.NumDebts>,
  Same<DebtAge, fields.DebtAge>,
  Same<PriorHistory, fields.PriorHistory>,
  Same<Decision, ServiceDecision>,
  Same<Status, Exclude<ApplicationStatus, 'disbursed'>>,
  Same<MessageType, OutcomeType>,
  Same<FieldCode, ServiceFieldCode>,
] = [true, true, true, true, true, true, true, true];

/** Every field; the type check keeps this list complete. */
const EVERY_FIELD: Record<keyof Application, true> = {
  name: true,
  id_number: true,
  city: true,
  phone: true,
  platform: true,
  currency: true,
  income: true,
  debt_amount: true,
  num_debts: true,
  debt_age: true,
  prior_history: true,
  messaging_optin: true,
  consent_at: true,
  consent_text: true,
  consent_channel: true,
};
/** The fields that may be left out. */
const OPTIONAL: Record<
  keyof { [K in keyof Application as null extends Application[K] ? K : never]: 1 },
  true
> = {
  phone: true,
  platform: true,
  currency: true,
  consent_at: true,
  consent_text: true,
  consent_channel: true,
};

const NO_CITY = { name: 'city', sentAs: null, code: 'required' };

const service = await testService();
const faultText = faultTexts(fields.namedFields('messaging'));

it('an application has the fields of the field table, with the same optional ones', async () => {
  assert.ok(SAME.every(Boolean));
  assert.deepEqual(Object.keys(EVERY_FIELD).sort(), fields.FIELDS.map(({ name }) => name).sort());
  const { apiKey } = await service.addPartner();
  const client = new VentanillaClient({ url: `${service.url}/DEV`, apiKey });
  for (const name of Object.keys(EVERY_FIELD)) {
    const [outcome] = await client.submit([anInput({ [name]: undefined })]);
    assert.equal(outcome?.kind, name in OPTIONAL ? 'registered' : 'invalid', name);
  }
});

it('the service takes every choice that the types allow', async () => {
  const { apiKey } = await service.addPartner();
  const client = new VentanillaClient({ url: `${service.url}/DEV`, apiKey });
  const list = [
    ...([...fields.NUM_DEBTS, 1, 2, 3] as const).map((num_debts) => ({ ...anInput(), num_debts })),
    ...fields.DEBT_AGES.map((debt_age) => ({ ...anInput(), debt_age })),
    ...fields.PRIOR_HISTORIES.map((prior_history) => ({ ...anInput(), prior_history })),
    { ...anInput(), income: '3200000.50', debt_amount: '6e6', messaging_optin: false },
  ] satisfies Application[];
  for (const outcome of await client.submit(list)) assert.equal(outcome.kind, 'registered');
});

it('the client reads every answer to a batch, the same in both languages, with codes and without (D24-D26, D55)', () => {
  const refusals: Outcome[] = [
    { kind: 'not_an_object' },
    { kind: 'invalid', idNumber: null, faults: [{ field: 'city', name: null, problem: 'required' }] },
    { kind: 'duplicate', idNumber: 'A' },
    { kind: 'over_quota', idNumber: 'B', remaining: 0, dailyCap: 7 },
  ];
  for (const environment of ENVIRONMENTS) {
    const dev = environment === 'DEV';
    const registered = DECISIONS.map((decision, index): Outcome & { kind: 'registered' } => ({
      kind: 'registered',
      idNumber: String(index),
      name: 'Ana',
      id: dev ? null : toApplicationId(index),
      score: index,
      decision,
    }));
    const notified = OUTCOME_TYPES.map(
      (type): Outcome => ({
        ...(registered[0] as Outcome & { kind: 'registered' }),
        wouldNotify: { type, destination: toPhone('+573001234567'), template: DEFAULT_TEMPLATES[type] },
      }),
    );
    for (const [language, withCodes] of LANGUAGES.flatMap((one) => [
      [one, true] as const,
      [one, false] as const,
    ])) {
      const outcomes = [...registered, ...refusals, ...(dev ? notified : [])];
      const answer = renderBatch(outcomes, language, environment, faultText, withCodes);
      const read = readBatch(JSON.parse(answer));
      const results = [...registered, ...(dev ? notified : [])].map((outcome) => ({
        ...outcome,
        status: INITIAL_STATUS[(outcome as (typeof registered)[number]).decision],
        simulated: dev,
      }));
      assert.deepEqual(read.results, results);
      assert.deepEqual(
        read.errors.map(({ error: _, ...rest }) => rest),
        [
          { kind: 'invalid', idNumber: null, fields: [] },
          { kind: 'invalid', idNumber: null, fields: withCodes ? [NO_CITY] : [] },
          { kind: 'duplicate', idNumber: 'A', fields: [] },
          { kind: 'quota_exceeded', idNumber: 'B', remaining: 0, dailyCap: 7 },
        ],
      );
    }
  }
});

it('an undocumented answer is a ResponseError, whose text quotes nothing of the answer', () => {
  const result = { id_number: 'A', name: 'Ana', id: 1, score: 70, decision: 'approved', status: 'in_review' };
  const refusal = { id_number: 'B', error: 'quota_partner_exceeded', remaining: 0, daily_cap: 1 };
  const good = { processed: 1, errors: 1, results: [result], errors_detail: [refusal] };
  const notify = { type: 'offer', destination: '+573001234567', template: 't' };
  assert.equal(readBatch(good).results.length, 1);
  const withResult = (changes: object) => ({ ...good, results: [{ ...result, ...changes }] });
  const withRefusal = (changes: object) => ({ ...good, errors_detail: [{ ...refusal, ...changes }] });
  const wrong: unknown[] = [
    [],
    { ...good, processed: 2 },
    { ...good, errors: 0 },
    { ...good, results: undefined },
    { ...good, results: { 0: result } },
    { ...good, results: [null] },
    { ...good, errors_detail: undefined },
    ...[{ id: '1' }, { id: null }, { id_number: null }, { name: undefined }, { simulated: true }].map(
      withResult,
    ),
    ...[{ score: '70' }, { score: 0.5 }, { decision: 'perhaps' }, { status: 'disbursed' }].map(withResult),
    ...[{ status: 'toString' }, { would_notify: null }].map(withResult),
    ...[{ type: 'other' }, { destination: 5 }].map((changes) =>
      withResult({ would_notify: { ...notify, ...changes } }),
    ),
    ...[{ id_number: 7 }, { error: undefined }, { remaining: '0' }, { daily_cap: null }].map(withRefusal),
    ...[{ fields: 'city' }, { fields: [null] }, { fields: [{ name: 'city', sent_as: null }] }].map(
      (changes) => withRefusal({ code: 'invalid', ...changes }),
    ),
  ];
  for (const answer of wrong) {
    assert.throws(
      () => readBatch(answer),
      (error) => error instanceof ResponseError && !/Ana|perhaps|57300/.test(error.message),
      JSON.stringify(answer),
    );
  }
});

it('quota() reads the quota in both languages and environments', async () => {
  for (const language of LANGUAGES) {
    for (const dailyCap of [null, 5]) {
      const { apiKey } = await service.addPartner({ language, dailyCap, country: 'MX' });
      await new VentanillaClient({ url: `${service.url}/PRO`, apiKey }).submit([anInput(), anInput()]);
      for (const environment of ENVIRONMENTS) {
        const quota = await new VentanillaClient({ url: `${service.url}/${environment}`, apiKey }).quota();
        const { partnerName, fetchedAt, resetSeconds, ...rest } = quota;
        const remaining = dailyCap === null ? null : dailyCap - 2;
        assert.deepEqual(rest, { partnerCountry: 'MX', dailyCap, used24h: 2, remaining });
        if (dailyCap === null) assert.equal(resetSeconds, null);
        else assert.ok(resetSeconds !== null && resetSeconds > 86_000 && resetSeconds <= 86_401);
        assert.match(partnerName, /^Partner \d+$/);
        assert.ok(Math.abs(Date.parse(fetchedAt) - Date.now()) < 60_000);
      }
    }
  }
});
