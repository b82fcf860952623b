/** The outcome of each element of a batch, one batch after another (D15-D18, D35; contract "Duplicate rule"). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { fromBigint, idNumberIndexOf } from '../../src/seal/blind-indexes.ts';
import { moveApplication } from '../../src/subjects/applications/sql/applications.ts';
import { formatApiKey, SECRET_BYTES } from '../../src/subjects/partners/rules/api-key.ts';
import { insertKey } from '../../src/subjects/partners/sql/api-keys.ts';
import { revokeStoredKey } from '../../src/subjects/partners/sql/key-changes.ts';
import { textOf } from '../../src/subjects/partners/uses/keys.ts';
import { IN_REVIEW, REJECTED } from '../support/applicant.ts';
import { anApplication, post, testService } from '../support/service.ts';

const service = await testService();
const PRO = `${service.url}/PRO`;
const DUPLICATE_TEXT = 'a request already exists for this messaging-channel number';

const approved = (changes: object = {}) => anApplication({ ...changes });
const inReview = (changes: object = {}) => anApplication({ ...IN_REVIEW, ...changes });
const rejected = (changes: object = {}) => anApplication({ ...REJECTED, ...changes });
const invalid = (changes: object = {}) => anApplication({ income: 0, ...changes });

let lines = 0;
/** A number of seven digits that nothing else here has. */
const newLine = () => String(5_000_000 + ++lines);
const newPhone = () => `+57311${newLine()}`;

interface ResultEntry {
  readonly id_number: string;
  readonly id: number;
  readonly decision: string;
}
interface ErrorEntry {
  readonly id_number: string | null;
  readonly error: string;
  readonly remaining?: number;
  readonly daily_cap?: number;
}
interface Answer {
  readonly processed: number;
  readonly errors: number;
  readonly results: ResultEntry[];
  readonly errors_detail?: ErrorEntry[];
}
type Kind = 'registered' | 'duplicate' | 'quota' | 'invalid';

async function send(apiKey: string, applications: readonly unknown[]): Promise<Answer> {
  const { status, body, text } = await post(PRO, apiKey, { applications });
  assert.equal(status, 200, text);
  return body;
}

function kindOfError({ error }: ErrorEntry): Kind {
  if (error === DUPLICATE_TEXT) return 'duplicate';
  return error === 'quota_partner_exceeded' ? 'quota' : 'invalid';
}

/** The outcomes by element; fails if a list is not in the order of the batch or the counts are wrong (D15). */
function kindsOf(applications: readonly unknown[], answer: Answer): Kind[] {
  const results = [...answer.results];
  const errors = [...(answer.errors_detail ?? [])];
  assert.equal(answer.processed, results.length);
  assert.equal(answer.errors, errors.length);
  assert.equal('errors_detail' in answer, errors.length > 0);
  const kinds = applications.map((application): Kind => {
    const idNumber = (application as { id_number?: string } | null)?.id_number ?? null;
    if (idNumber !== null && results[0]?.id_number === idNumber) {
      results.shift();
      return 'registered';
    }
    const error = errors.shift();
    assert.ok(error !== undefined && error.id_number === idNumber, `${idNumber} is out of order`);
    return kindOfError(error);
  });
  assert.deepEqual([results, errors], [[], []]);
  return kinds;
}

async function kindsSent(apiKey: string, applications: readonly unknown[]): Promise<Kind[]> {
  return kindsOf(applications, await send(apiKey, applications));
}

/** Another key of the same partner. */
async function addKey(partnerId: PartnerId, dailyCap: number | null) {
  const apiKey = formatApiKey(null, randomBytes(SECRET_BYTES));
  const text = textOf(service.vault, apiKey);
  const settings = { environment: null, language: 'auto', dailyCap, brand: {} } as const;
  const key = await insertKey(service.database, service.vault, partnerId, text, settings);
  assert.ok(key !== null);
  return { keyId: key.id, apiKey };
}

async function usedBy(apiKey: string): Promise<{ used_24h: number; remaining: number | null }> {
  const response = await fetch(PRO, { headers: { 'X-API-Key': apiKey } });
  return ((await response.json()) as { partner: never }).partner;
}

async function storedOf(partnerId: PartnerId): Promise<number[]> {
  const { rows } = await service.database.query(
    'SELECT id FROM applications WHERE partner_id = $1 ORDER BY id',
    [partnerId],
  );
  return rows.map(({ id }) => Number(id));
}

const move = (id: number, to: 'rejected' | 'disbursed') =>
  moveApplication(service.database, toApplicationId(id), {
    from: ['in_review', 'pending_signature'],
    to,
    actor: 'test',
    action: to === 'rejected' ? 'reject' : 'disburse',
    reason: 'test',
    reasonCode: 'unspecified',
  });

const { apiKey: anyKey } = await service.addPartner();

describe('D15: order and wholeness', () => {
  it('D15: results and errors_detail keep the order of the batch, whatever the order of the phones', async () => {
    const { apiKey, partnerId } = await service.addPartner({ dailyCap: 8 });
    const phone = newPhone();
    const batch = [
      approved({ phone: `+57399${newLine()}` }),
      null,
      rejected({ phone: undefined }),
      inReview({ phone }),
      invalid(),
      approved({ phone }),
      approved({ phone: `+57300${newLine()}` }),
      'text',
      approved({ phone: `+57355${newLine()}` }),
      approved({ phone: null }),
      approved({ phone: `+57322${newLine()}` }),
      rejected({ phone: `+57301${newLine()}` }),
      approved(),
      invalid(),
      approved(),
    ];
    const answer = await send(apiKey, batch);
    const R = 'registered';
    const I = 'invalid';
    const expected = [R, I, R, R, I, 'duplicate', R, I, R, R, R, R, 'quota', I, 'quota'];
    assert.deepEqual(kindsOf(batch, answer), expected);
    assert.deepEqual(
      await storedOf(partnerId),
      answer.results.map(({ id }) => id).sort((a, b) => a - b),
    );
  });

  it('D15: each id of an answer is that of the application in the answer', async () => {
    const batch = [approved(), inReview(), rejected({ phone: null }), approved({ messaging_optin: false })];
    const { results } = await send(anyKey, batch);
    for (const [index, { id, decision }] of results.entries()) {
      const { rows } = await service.database.query(
        `SELECT a.id_number_index, a.position, a.decision, m.type FROM applications a
        LEFT JOIN messages m ON m.application_id = a.id WHERE a.id = $1`,
        [id],
      );
      const idNumber = (batch[index] as { id_number: string }).id_number;
      assert.equal(fromBigint(rows[0].id_number_index), idNumberIndexOf(service.vault, idNumber));
      assert.deepEqual([rows[0].position, rows[0].decision], [index, decision]);
      assert.equal(rows[0].type, ['approved', 'offer', null, null][index]);
    }
  });

  it('D15: a batch of 100 is registered whole, each with an id of its own', async () => {
    const batch = Array.from({ length: 100 }, () => approved());
    const answer = await send(anyKey, batch);
    assert.equal(answer.processed, 100);
    assert.equal(new Set(answer.results.map(({ id }) => id)).size, 100);
    assert.ok(answer.results.every(({ id }) => Number.isSafeInteger(id) && id > 0));
  });
});

describe('D17: duplicates inside a batch', () => {
  const cases: [name: string, makers: ((changes: object) => unknown)[], expected: string][] = [
    ['open then the same phone: the second is a duplicate', [approved, approved], 'RD'],
    ['in review then the same phone: the second is a duplicate', [inReview, approved], 'RD'],
    ['open then rejected: the second is a duplicate', [approved, rejected], 'RD'],
    ['rejected then open: both register', [rejected, approved], 'RR'],
    ['rejected, rejected: both register', [rejected, rejected], 'RR'],
    ['rejected, open, rejected: the third is a duplicate', [rejected, inReview, rejected], 'RRD'],
    ['rejected, rejected, open, open, rejected', [rejected, rejected, approved, inReview, rejected], 'RRRDD'],
    ['an invalid one takes no phone', [invalid, approved, approved], 'IRD'],
  ];
  const letter: Record<Kind, string> = { registered: 'R', duplicate: 'D', quota: 'Q', invalid: 'I' };
  const lettersSent = async (batch: readonly unknown[]) =>
    (await kindsSent(anyKey, batch)).map((kind) => letter[kind]).join('');

  for (const [name, makers, expected] of cases) {
    it(`D17: ${name}`, async () => {
      const phone = newPhone();
      assert.equal(await lettersSent(makers.map((make) => make({ phone }))), expected);
    });
  }

  it('D17: a duplicate of an earlier batch leaves the phone as it was', async () => {
    const phone = newPhone();
    assert.equal(await lettersSent([approved({ phone })]), 'R');
    assert.equal(await lettersSent([rejected({ phone }), approved({ phone }), rejected({ phone })]), 'DDD');
  });

  it('D11, D17: applications without a phone all register, in one batch and again', async () => {
    const batch = () => [null, undefined, '', '  '].map((phone) => approved({ phone }));
    assert.equal(await lettersSent(batch()), 'RRRR');
    assert.equal(await lettersSent(batch()), 'RRRR');
  });

  it('D17: an equal ID number makes no duplicate, and another partner does not free a phone', async () => {
    const phone = newPhone();
    const first = approved({ phone });
    assert.equal(await lettersSent([first, approved({ id_number: `${first.id_number}0` })]), 'RR');
    const other = await service.addPartner({ country: 'MX' });
    assert.deepEqual(await kindsSent(other.apiKey, [approved({ phone })]), ['duplicate']);
    const again = { ...first, phone: newPhone() };
    assert.deepEqual(await kindsSent(other.apiKey, [again]), ['registered']);
  });

  const line = () => newLine();
  const spellings: [name: string, make: () => string[]][] = [
    [
      'spellings of one Colombian phone',
      () => {
        const l = line();
        return [
          `+57 311 ${l.slice(0, 3)}-${l.slice(3)}`,
          `0057 311${l}`,
          `57311${l}`,
          `311${l}`,
          `(311) ${l.slice(0, 3)}.${l.slice(3)}`,
        ];
      },
    ],
    [
      "Mexico's 1 after 52",
      () => {
        const l = line();
        return [`+521551${l}`, `+52551${l}`, `0052 1 551 ${l}`];
      },
    ],
    [
      "Argentina's 9 after 54",
      () => {
        const l = line();
        return [`+54114${l}`, `+549114${l}`, `54 9 114 ${l}`];
      },
    ],
    [
      "Brazil's ninth digit",
      () => {
        const l = line();
        return [`+551198${l}`, `+55118${l}`, `0055 (11) 9 8${l}`];
      },
    ],
  ];
  for (const [name, make] of spellings) {
    it(`D11, D17: ${name}, inside a batch and between batches`, async () => {
      const inside = make();
      const expected = `R${'D'.repeat(inside.length - 1)}`;
      assert.equal(await lettersSent(inside.map((phone) => approved({ phone }))), expected);
      let between = '';
      for (const phone of make()) between += await lettersSent([approved({ phone })]);
      assert.equal(between, expected);
    });
  }
});

describe('D35: a final application frees its phone', () => {
  for (const [to, make] of [
    ['rejected', inReview],
    ['rejected', approved],
    ['disbursed', approved],
  ] as const) {
    it(`D35: ${make === inReview ? 'in review' : 'approved'} -> ${to} frees it at once, and once only`, async () => {
      const phone = newPhone();
      const { results } = await send(anyKey, [make({ phone })]);
      assert.deepEqual(await kindsSent(anyKey, [approved({ phone })]), ['duplicate']);
      assert.equal((await move((results[0] as ResultEntry).id, to))?.moved, true);
      const batch = [rejected({ phone }), approved({ phone }), approved({ phone })];
      assert.deepEqual(await kindsSent(anyKey, batch), ['registered', 'registered', 'duplicate']);
    });
  }
});

describe('D16: quota inside a batch', () => {
  const over = (answer: Answer) =>
    (answer.errors_detail ?? [])
      .filter((entry) => kindOfError(entry) === 'quota')
      .map(({ remaining, daily_cap }) => ({ remaining, daily_cap }));

  it('D16: invalid and duplicate applications use no quota: the first N that fit are registered', async () => {
    const { apiKey, partnerId } = await service.addPartner({ dailyCap: 4 });
    const taken = newPhone();
    await send(anyKey, [approved({ phone: taken })]);
    const phone = newPhone();
    const batch = [
      invalid(),
      approved({ phone }),
      approved({ phone: taken }),
      approved({ phone }),
      null,
      rejected(),
      approved(),
      invalid(),
      approved(),
      approved(),
      approved({ phone: taken }),
      invalid(),
      rejected({ phone: null }),
    ];
    const answer = await send(apiKey, batch);
    const expected =
      'invalid registered duplicate duplicate invalid registered registered invalid registered';
    assert.deepEqual(kindsOf(batch, answer), [...expected.split(' '), 'quota', 'quota', 'invalid', 'quota']);
    const entry = { remaining: 0, daily_cap: 4 };
    assert.deepEqual(over(answer), [entry, entry, entry]);
    assert.equal((await storedOf(partnerId)).length, 4);
    assert.deepEqual(await usedBy(apiKey).then(({ used_24h, remaining }) => [used_24h, remaining]), [4, 0]);
  });

  it('D16: a batch that exactly reaches the cap registers whole, and of the next one nothing registers', async () => {
    const { apiKey } = await service.addPartner({ dailyCap: 3 });
    assert.deepEqual(await kindsSent(apiKey, [approved(), approved()]), ['registered', 'registered']);
    assert.deepEqual(await kindsSent(apiKey, [approved()]), ['registered']);
    const taken = newPhone();
    await send(anyKey, [approved({ phone: taken })]);
    const batch = [
      approved(),
      approved({ phone: taken }),
      approved({ phone: null }),
      invalid(),
      rejected({ phone: taken }),
    ];
    const answer = await send(apiKey, batch);
    assert.deepEqual(kindsOf(batch, answer), ['quota', 'quota', 'quota', 'invalid', 'quota']);
    assert.deepEqual(over(answer), Array(4).fill({ remaining: 0, daily_cap: 3 }));
  });

  it('D16: a cap of 0 registers nothing and says so', async () => {
    const { apiKey, partnerId } = await service.addPartner({ dailyCap: 0 });
    const phone = newPhone();
    const batch = [approved({ phone }), approved({ phone }), rejected(), invalid()];
    const answer = await send(apiKey, batch);
    assert.deepEqual(kindsOf(batch, answer), ['quota', 'quota', 'quota', 'invalid']);
    assert.deepEqual(over(answer), Array(3).fill({ remaining: 0, daily_cap: 0 }));
    assert.deepEqual(await storedOf(partnerId), []);
    // An application that was not registered holds no phone.
    assert.deepEqual(await kindsSent(anyKey, [approved({ phone })]), ['registered']);
  });

  it('D16: after the cut all applications are over quota, duplicates of registered ones too', async () => {
    const { apiKey, partnerId } = await service.addPartner({ dailyCap: 2 });
    const [kept, cut] = [newPhone(), newPhone()];
    const batch = [
      approved({ phone: kept }),
      rejected({ phone: cut }),
      approved({ phone: cut }),
      approved({ phone: kept }),
      approved({ phone: cut }),
      rejected({ phone: cut }),
    ];
    const answer = await send(apiKey, batch);
    assert.deepEqual(kindsOf(batch, answer), [
      'registered',
      'registered',
      'quota',
      'quota',
      'quota',
      'quota',
    ]);
    const { rows } = await service.database.query(
      'SELECT count(*)::int AS count FROM messages WHERE application_id = ANY ($1)',
      [await storedOf(partnerId)],
    );
    assert.equal(rows[0].count, 2);
    assert.deepEqual(await kindsSent(anyKey, [approved({ phone: cut })]), ['registered']);
  });
});

describe("D18: usage is the partner's, the cap the key's", () => {
  it('D18: two keys with different caps count together', async () => {
    const { apiKey: five, partnerId } = await service.addPartner({ dailyCap: 5 });
    const { apiKey: eight } = await addKey(partnerId, 8);
    const three = () => [approved(), approved(), approved()];
    assert.deepEqual(await kindsSent(eight, three()), Array(3).fill('registered'));
    assert.deepEqual(await kindsSent(five, three()), ['registered', 'registered', 'quota']);
    assert.deepEqual(await kindsSent(eight, three()), Array(3).fill('registered'));
    const answer = await send(five, [approved()]);
    const [entry] = answer.errors_detail as ErrorEntry[];
    assert.deepEqual([entry?.remaining, entry?.daily_cap], [0, 5]);
    assert.deepEqual(await kindsSent(eight, three()), Array(3).fill('quota'));
    const quota = await Promise.all([five, eight].map(usedBy));
    assert.deepEqual(
      quota.map(({ used_24h, remaining }) => [used_24h, remaining]),
      [
        [8, 0],
        [8, 0],
      ],
    );
  });

  it('D18: the usage of an uncapped key counts for the capped key beside it, and the uncapped key is never stopped', async () => {
    const { apiKey: capped, partnerId } = await service.addPartner({ dailyCap: 4 });
    const { apiKey: free } = await addKey(partnerId, null);
    assert.deepEqual(
      await kindsSent(free, [approved(), approved(), approved()]),
      Array(3).fill('registered'),
    );
    assert.deepEqual(await kindsSent(capped, [approved(), approved()]), ['registered', 'quota']);
    assert.deepEqual(await kindsSent(free, [approved(), approved()]), Array(2).fill('registered'));
    assert.deepEqual(await kindsSent(capped, [approved()]), ['quota']);
    assert.equal((await usedBy(free)).used_24h, 6);
    assert.equal((await usedBy(free)).remaining, null);
  });

  it('D18: a rotated key brings no new quota: the usage of the old key stays', async () => {
    const { apiKey: old, partnerId, keyId } = await service.addPartner({ dailyCap: 3 });
    await send(old, [approved(), approved()]);
    const successor = await addKey(partnerId, 3);
    await revokeStoredKey(service.database, service.vault, keyId);
    assert.equal((await post(PRO, old, { applications: [approved()] })).status, 401);
    assert.equal((await usedBy(successor.apiKey)).remaining, 1);
    assert.deepEqual(await kindsSent(successor.apiKey, [approved(), approved()]), ['registered', 'quota']);
  });

  it('D18: another partner has a quota of its own', async () => {
    const [one, two] = [await service.addPartner({ dailyCap: 1 }), await service.addPartner({ dailyCap: 1 })];
    assert.deepEqual(await kindsSent(one.apiKey, [approved(), approved()]), ['registered', 'quota']);
    assert.deepEqual(await kindsSent(two.apiKey, [approved(), approved()]), ['registered', 'quota']);
  });

  it('D16, D18: a review gives nothing back', async () => {
    const { apiKey } = await service.addPartner({ dailyCap: 1 });
    const { results } = await send(apiKey, [inReview()]);
    await move((results[0] as ResultEntry).id, 'rejected');
    assert.deepEqual(await kindsSent(apiKey, [approved()]), ['quota']);
  });
});

/** The rules as they are written, one application after the other. */
class Model {
  readonly open = new Map<string, number>();
  readonly used = new Map<number, number>();

  step(partner: number, cap: number | null, items: readonly Item[]): Kind[] {
    return items.map(({ kind, line }, index): Kind => {
      if (kind === 'invalid') return 'invalid';
      const used = this.used.get(partner) ?? 0;
      if (cap !== null && used >= cap) return 'quota';
      if (line !== null && this.open.has(String(line))) return 'duplicate';
      this.used.set(partner, used + 1);
      if (line !== null && kind !== 'rejected') this.open.set(String(line), index);
      return 'registered';
    });
  }
}

interface Item {
  readonly kind: 'approved' | 'in_review' | 'rejected' | 'invalid';
  /** Which phone of the run; null: none. */
  readonly line: number | null;
  readonly spelling: number;
}
type Step =
  | { readonly do: 'batch'; readonly key: number; readonly items: readonly Item[] }
  | { readonly do: 'finish'; readonly line: number; readonly to: 'rejected' | 'disbursed' };

const LINES = 6;
const item: fc.Arbitrary<Item> = fc.record({
  kind: fc.constantFrom('approved', 'in_review', 'rejected', 'rejected', 'invalid'),
  line: fc.option(fc.nat({ max: LINES - 1 }), { freq: 6 }),
  spelling: fc.nat({ max: 2 }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('batch' as const),
      key: fc.nat({ max: 3 }),
      items: fc.array(item, { minLength: 1, maxLength: 10 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('finish' as const),
      line: fc.nat({ max: LINES - 1 }),
      to: fc.constantFrom('rejected' as const, 'disbursed' as const),
    }),
  },
);
const MAKERS = { approved, in_review: inReview, rejected, invalid };

it('D15-D18, D35: random batches end as the sequential model says', async () => {
  const plan = fc.record({
    caps: fc.tuple(fc.nat({ max: 12 }), fc.nat({ max: 25 }), fc.nat({ max: 12 })),
    steps: fc.array(step, { minLength: 1, maxLength: 10 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ caps, steps }) => {
      const one = await service.addPartner({ dailyCap: caps[0] });
      const two = await service.addPartner({ dailyCap: caps[2] });
      const keys = [
        { apiKey: one.apiKey, partner: one.partnerId, cap: caps[0] },
        { apiKey: (await addKey(one.partnerId, caps[1])).apiKey, partner: one.partnerId, cap: caps[1] },
        { apiKey: (await addKey(one.partnerId, null)).apiKey, partner: one.partnerId, cap: null },
        { apiKey: two.apiKey, partner: two.partnerId, cap: caps[2] },
      ];
      const phones = Array.from({ length: LINES }, (_, index) => {
        const l = newLine();
        return [
          [`+57311${l}`, `311${l}`, `0057 311-${l}`],
          [`+521551${l}`, `+52551${l}`, `52 1 551 ${l}`],
          [`+551198${l}`, `+55118${l}`, `0055 11 8${l}`],
        ][index % 3] as string[];
      });
      const model = new Model();
      const ids = new Map<string, number>();
      for (const action of steps) {
        if (action.do === 'finish') {
          const id = ids.get(String(action.line));
          if (!model.open.delete(String(action.line)) || id === undefined) continue;
          assert.equal((await move(id, action.to))?.moved, true);
          continue;
        }
        const { apiKey, partner, cap } = keys[action.key] as (typeof keys)[number];
        const batch = action.items.map(({ kind, line, spelling }) =>
          MAKERS[kind]({ phone: line === null ? null : phones[line]?.[spelling] }),
        );
        const expected = model.step(partner, cap, action.items);
        const answer = await send(apiKey, batch);
        assert.deepEqual(kindsOf(batch, answer), expected);
        const registered = action.items.filter((_, index) => expected[index] === 'registered');
        for (const [index, { line, kind }] of registered.entries()) {
          if (line !== null && kind !== 'rejected')
            ids.set(String(line), (answer.results[index] as ResultEntry).id);
        }
        for (const entry of answer.errors_detail ?? []) {
          if (kindOfError(entry) !== 'quota') continue;
          assert.deepEqual([entry.remaining, entry.daily_cap], [0, cap]);
        }
      }
      for (const { apiKey, partner, cap } of keys) {
        const used = model.used.get(partner) ?? 0;
        const { used_24h, remaining } = await usedBy(apiKey);
        assert.deepEqual([used_24h, remaining], [used, cap === null ? null : Math.max(cap - used, 0)]);
        assert.equal((await storedOf(partner)).length, used);
      }
    }),
    { numRuns: 60 },
  );
});
