/** `ventanilla application` and `message`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toApplicationId } from '../../../src/domain/application/ids.ts';
import {
  APPLICATION_STATUSES,
  type ApplicationStatus,
  REVIEW_ACTIONS,
  TRANSITIONS,
} from '../../../src/domain/application/lifecycle.ts';
import { codesOfOperators } from '../../../src/domain/application/reason-codes.ts';
import { interestPayload } from '../../../src/domain/message/outgoing-message.ts';
import { toPhone } from '../../../src/domain/phone/phone.ts';
import { applyChannelEvents } from '../../../src/subjects/messages/intake/channel-events.ts';
import { ACTOR, commandLine, REVEAL } from '../../cli/harness.ts';
import { ABOVE_LIMIT, applicant, IN_REVIEW } from '../../support/applicant.ts';
import { testDatabase } from '../../support/database.ts';
import { registrarOf } from '../../support/intake.ts';

const store = await testDatabase();
const { run, json } = commandLine(store);
const register = await registrarOf(store);

async function newKey(name: string, country: string): Promise<{ partner: string; key: number }> {
  const { id: partner } = await json('partner', 'add', '--name', name, '--country', country);
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  return { partner: `${partner}`, key };
}
const acme = await newKey('Acme', 'CO');
const bolt = await newKey('Bolt', 'MX');
let lastPhone = 3_100_000_000;
const nextPhone = () => `+57${++lastPhone}`;

/** A new application in a status. */
async function inStatus(status: ApplicationStatus, phone = nextPhone()): Promise<string> {
  const changes = status === 'in_review' ? IN_REVIEW : status === 'rejected' ? ABOVE_LIMIT : {};
  const [id] = await register(acme.key, [applicant({ phone: toPhone(phone), ...changes })]);
  if (status === 'disbursed') await json('application', 'disburse', `${id}`, '--reason', 'paid');
  return `${id}`;
}

const ids = (list: { id: number }[]) => list.map(({ id }) => id);

test('an empty list is valid JSON and a friendly text', async () => {
  for (const group of ['application', 'message']) {
    assert.equal((await run(group, 'list', '--json')).out, '[]\n');
    assert.match((await run(group, 'list')).out, /^No \w+\.\n$/);
  }
});

test('an application is found by each filter and by all of them', async () => {
  const first = { phone: toPhone('+573001112233'), id_number: 'CC 10.200' };
  const [a] = await register(acme.key, [applicant({ ...first, ...ABOVE_LIMIT })]);
  const [b] = await register(acme.key, [applicant({ ...first, name: 'Zoë "Q" O\'Neil' })]);
  const [c] = await register(bolt.key, [applicant({ phone: toPhone('+5215512345678'), id_number: 'X' })]);
  const find = async (...args: string[]) => ids(await json('application', 'list', ...args));
  assert.deepEqual(await find(), [c, b, a]);
  // National in a partner's country, international, and the double form of a Mexican mobile.
  for (const phone of ['3001112233', '+57 300 111-2233', '0057 (300) 1112233', '573001112233']) {
    assert.deepEqual(await find('--phone', phone), [b, a], phone);
  }
  for (const phone of ['5512345678', '+52 55 1234 5678', '+52 1 55 1234 5678']) {
    assert.deepEqual(await find('--phone', phone), [c], phone);
  }
  assert.deepEqual(await find('--id-number', ' CC 10.200 '), [b, a]);
  assert.deepEqual(await find('--partner', acme.partner), [b, a]);
  assert.deepEqual(await find('--status', 'rejected'), [a]);
  const all = ['--phone', '3001112233', '--id-number', 'CC 10.200', '--partner', acme.partner];
  assert.deepEqual(await find(...all, '--status', 'PENDING_SIGNATURE'), [b]);
  assert.deepEqual(await find(...all, '--status', 'disbursed'), []);
  assert.deepEqual(await find('--phone', '3001112233', '--id-number', 'X'), []);
  assert.deepEqual(await find('--phone', '3009999999'), []);

  const [row] = await json(
    'application',
    'list',
    '--phone',
    '3001112233',
    '--status',
    'pending_signature',
    ...REVEAL,
  );
  const { created_at, ...rest } = row;
  assert.match(created_at, /\+00:00$/);
  assert.deepEqual(rest, {
    id: b,
    partner: { id: Number(acme.partner), name: 'Acme' },
    status: 'pending_signature',
    decision: 'approved',
    score: 100,
    interested_at: null,
    signed_at: null,
    withdrawable_until: null,
    wrong_person: false,
    fault: null,
    ...applicant({ ...first, name: 'Zoë "Q" O\'Neil' }),
    ...{ consent_at: null, consent_text: null, consent_channel: null },
  });
  assert.match(
    (await run('application', 'list', ...REVEAL)).out,
    /^ID +REGISTERED +PARTNER[\s\S]*Zoë "Q" O'Neil +CC 10\.200/,
  );
});

test('show explains the points, the policy, the messages and the history', async () => {
  const id = await inStatus('in_review');
  await json('application', 'approve', id, '--reason', ' income confirmed ');
  await json('application', 'reject', id, '--reason', 'forged', '--reason-code', 'Documents_Invalid');
  const shown = await json('application', 'show', id);
  assert.equal(shown.policy_version, 'default-2');
  const sum = Object.values<number>(shown.points).reduce((total, points) => total + points, 0);
  assert.deepEqual([shown.status, shown.decision, shown.score], ['rejected', 'in_review', sum]);
  assert.deepEqual(shown.points, {
    payment_capacity: 0,
    channel: 20,
    debt_age: 2,
    num_debts: 12,
    prior_history: 0,
  });
  assert.deepEqual(
    shown.messages.map(({ type, status }: { type: string; status: string }) => [type, status]),
    [
      ['offer', 'cancelled'],
      ['approved', 'cancelled'],
      ['rejected', 'queued'],
    ],
  );
  const history = shown.history.map(({ at, ...entry }: { at: string }) => {
    assert.match(at, /^\d{4}-\d\d-\d\dT[\d:.]{12}\+00:00$/);
    return entry;
  });
  assert.deepEqual(history, [
    {
      actor: 'ventanilla',
      way: 'service',
      action: 'register',
      from: null,
      to: 'in_review',
      reason: 'score 34',
      reason_code: null,
    },
    {
      actor: ACTOR,
      way: 'command_line',
      action: 'approve',
      from: 'in_review',
      to: 'pending_signature',
      reason: 'income confirmed',
      reason_code: 'unspecified',
    },
    {
      actor: ACTOR,
      way: 'command_line',
      action: 'reject',
      from: 'pending_signature',
      to: 'rejected',
      reason: 'forged',
      reason_code: 'documents_invalid',
    },
  ]);
  const { out } = await run('application', 'show', id);
  for (const text of [
    /debt_age +2 of 20/,
    /policy default-2/,
    /ana, by the command line +reject +pending_signature +rejected +documents_invalid +forged/,
  ]) {
    assert.match(out, text);
  }
  const limited = await json('application', 'show', await inStatus('rejected'));
  assert.equal(limited.history[0].reason, 'score 100, amount above the limit');
});

test('D41: the help of a review says that the reason is required, and lists the codes of its action', async () => {
  for (const action of REVIEW_ACTIONS) {
    const { out } = await run('application', action, '--help');
    const text = out.replaceAll(/\s+/g, ' ');
    assert.match(text, /--reason <text> the reason[^-]*\(required\)/);
    assert.ok(text.includes(`(${codesOfOperators(action).join(', ')})`), text);
  }
});

test('D41: leads are listed by their interest, newest first, and each other filter narrows the list', async () => {
  const phones = [nextPhone(), nextPhone(), nextPhone()];
  const made = [];
  for (const phone of phones) made.push(await inStatus('in_review', phone));
  const [early, late, other] = made as [string, string, string];
  const boltPhone = toPhone('+5215512345699');
  const [foreign] = await register(bolt.key, [applicant({ phone: boltPhone, ...IN_REVIEW })]);
  const interest = (id: string | number, phone: string, at: string) => {
    const tap = {
      kind: 'tap',
      payload: interestPayload(toApplicationId(id)),
      title: null,
      contextMessageId: null,
    } as const;
    return applyChannelEvents(store, [{ ...tap, from: toPhone(phone), at: new Date(at) }]);
  };
  await interest(late, phones[1]!, '2026-11-20T12:00:00Z');
  await interest(early, phones[0]!, '2026-11-19T12:00:00Z');
  await interest(foreign as number, boltPhone, '2026-11-18T12:00:00Z');
  await json('application', 'approve', late, '--reason', 'fine');

  const leads = async (...args: string[]) => ids(await json('application', 'list', '--interested', ...args));
  const [e, l] = [Number(early), Number(late)];
  assert.deepEqual(await leads(), [l, e, foreign]);
  assert.deepEqual(await leads('--since', '2026-11-19T12:00:00Z'), [l, e]);
  assert.deepEqual(await leads('--since', '2026-11-19T07:00:00.001-05:00'), [l]);
  assert.deepEqual(await leads('--since', '2026-11-20'), [l]);
  assert.deepEqual(await leads('--partner', acme.partner), [l, e]);
  assert.deepEqual(await leads('--status', 'in_review'), [e, foreign]);
  assert.deepEqual(await leads('--status', 'in_review', '--partner', acme.partner, '--since', '2026-11-19'), [
    e,
  ]);
  assert.deepEqual(await leads('--phone', phones[0]!), [e]);
  assert.deepEqual(await leads('--phone', phones[0]!, '--since', '2026-11-20'), []);
  assert.deepEqual(await leads('--phone', phones[2]!), []);
  assert.deepEqual(await leads('--limit', '1'), [l]);
  const [lead] = await json('application', 'list', '--interested');
  assert.equal(lead.interested_at, '2026-11-20T12:00:00.000+00:00');
  assert.equal((await json('application', 'show', other)).interested_at, null);
  const { out } = await run('application', 'list', '--interested');
  assert.match(out, /DEBT +INTERESTED\n[^\n]+2026-11-20 12:00:00Z\n[^\n]+2026-11-19 12:00:00Z\n/);
});

test('an erased application keeps its figures and loses its personal data', async () => {
  const id = await inStatus('in_review');
  await store.database.query('UPDATE batches SET envelope = NULL WHERE id = $1::bigint >> 7', [id]);
  const { name, id_number, city, phone, income, messages } = await json('application', 'show', id);
  assert.deepEqual([name, id_number, city, phone, income], [null, null, null, null, IN_REVIEW.income]);
  assert.equal(messages[0].type, 'offer');
  assert.equal((await run('application', 'show', id)).code, 0);
});

for (const action of REVIEW_ACTIONS) {
  for (const status of APPLICATION_STATUSES) {
    const { from, to } = TRANSITIONS[action];
    const allowed = from.includes(status);
    test(`${action} from ${status}: ${allowed ? to : 'refused'}`, async () => {
      const id = await inStatus(status);
      const { code, out, err } = await run('application', action, id, '--reason', 'because', '--json');
      const after = await json('application', 'show', id);
      if (allowed) {
        assert.deepEqual(JSON.parse(out), {
          ...{ id: Number(id), status: to, action, from: status, to },
          reason_code: 'unspecified',
        });
        assert.deepEqual([after.status, after.history.at(-1).to], [to, to]);
      } else {
        const past = { approve: 'approved', reject: 'rejected', disburse: 'disbursed' }[action];
        assert.deepEqual([code, out], [1, '']);
        assert.equal(err, `error: application ${id} is ${status}: it cannot be ${past}\n`);
        assert.deepEqual([after.status, after.history.at(-1).to], [status, status]);
      }
    });
  }
}

test('a final application frees its phone at once; an approved one keeps it (D35)', async () => {
  const phone = nextPhone();
  const id = await inStatus('in_review', phone);
  const again = () => register(bolt.key, [applicant({ phone: toPhone(phone) })]);
  assert.deepEqual(await again(), [0]);
  await json('application', 'approve', id, '--reason', 'fine');
  assert.deepEqual(await again(), [0]);
  await json('application', 'disburse', id, '--reason', 'paid');
  const [next] = await again();
  assert.ok(next !== undefined && next > 0);
  await json('application', 'reject', `${next}`, '--reason', 'withdrawn');
  assert.notDeepEqual(await again(), [0]);
});

test('of simultaneous reviews one moves the application and the others are refused', async () => {
  const id = await inStatus('pending_signature');
  const actions = ['disburse', 'reject', 'disburse', 'reject', 'disburse', 'reject'];
  const results = await Promise.all(actions.map((action) => run('application', action, id, '--reason', 'r')));
  assert.equal(results.filter(({ code }) => code === 0).length, 1);
  assert.equal((await json('application', 'show', id)).history.length, 2);
});

const REFUSED: readonly (readonly [line: string, code: number, message: RegExp])[] = [
  ['application list --status open', 2, /one of: pending_signature, in_review, rejected, disbursed/],
  ['application list --partner 99', 1, /no partner 99/],
  ['application list --phone abc', 1, /no country has such a phone/],
  ['application list --phone +57300123456', 1, /no country has such a phone/],
  ['application list --phone 12345678', 1, /no country has such a phone/],
  ['application list --limit 0', 2, /whole number from 1/],
  ['application show 999999', 1, /no application 999999/],
  ['application show 9007199254740993', 2, /too large/],
  ['application approve 999999 --reason x', 1, /no application 999999/],
  ['application list --since 2026-11-22', 2, /--since goes with --interested/],
  ['application list --interested --since yesterday', 2, /a day or a time with its offset/],
  ['application list --interested --since 2026-13-01', 2, /a day or a time/],
  ['application list --interested --since 2026-02-30', 2, /a day or a time/],
  ['application list --interested --since 2026-11-22T10:00', 2, /a day or a time/],
  ['application approve 1', 2, /--reason <text>' not specified/],
  [
    'application approve 1 --reason x --reason-code funds_transferred',
    2,
    /one of: documents_verified, income_v/,
  ],
  [`application approve 1 --reason ${'x'.repeat(501)}`, 1, /1 to 500 characters/],
  ['application approve 1 --reason \t', 1, /1 to 500 characters/],
  ['message list --status gone', 2, /one of: queued, sending/],
  ['message show 999999', 1, /no message/],
  ['message resume', 2, /--template NAME or --sender/],
  ['message resume --sender', 1, /the sender is not paused/],
];
for (const [line, code, message] of REFUSED) {
  test(`refused with ${code}: ${line.slice(0, 60)}`, async () => {
    const result = await run(...line.split(' '));
    assert.deepEqual([result.code, result.out], [code, '']);
    assert.match(result.err, message);
  });
}

test('D53: what the partner told about the consent is masked as personal data is, and shown with --reveal', async () => {
  const told = { consent_at: '2026-11-20', consent_text: 'Autorizo a Acme', consent_channel: 'app' };
  const [id] = await register(acme.key, [applicant({ phone: toPhone(nextPhone()), ...told })]);
  const shown = await run('application', 'show', `${id}`);
  assert.doesNotMatch(shown.out, /Autorizo|2026-11-20|"app"/);
  const { consent_at, consent_text, consent_channel } = await json('application', 'show', `${id}`, ...REVEAL);
  assert.deepEqual({ consent_at, consent_text, consent_channel }, told);
});
