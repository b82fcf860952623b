import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SANDBOX_SCENARIOS, type SandboxScenario } from '../../src/domain/application/sandbox.ts';
import { anApplication, post, testService } from '../support/service.ts';

const service = await testService();
const { apiKey } = await service.addPartner({ dailyCap: 7 });
const DEV = `${service.url}/DEV`;
const PRO = `${service.url}/PRO`;

const PHONES = SANDBOX_SCENARIOS.map(({ phone }) => phone);
const UNAVAILABLE = phoneOf('unavailable');
const DUPLICATE = phoneOf('duplicate');
const QUOTA = phoneOf('over_quota');
const WITH_ANSWER = SANDBOX_SCENARIOS.filter(({ phone }) => phone !== UNAVAILABLE);

const DUPLICATE_TEXTS = {
  applications: 'a request already exists for this messaging-channel number',
  aplicaciones: 'ya existe una solicitud para este número del canal de mensajería',
} as const;
/** Each decision in the contract's words; `es` where Spanish differs. */
const DECIDED = {
  approved: { status: 'pending_signature', type: 'approved', es: ['approved', 'firma_pendiente'] },
  in_review: { status: 'in_review', type: 'offer', es: ['en_revision', 'en_revision'] },
  rejected: { status: 'rejected', type: 'rejected', es: ['rechazado', 'rechazado'] },
} as const;

type Root = 'applications' | 'aplicaciones';
interface Answer {
  processed: number;
  errors: number;
  results: Record<string, unknown>[];
  errors_detail?: Record<string, unknown>[];
}

function phoneOf(kind: string): string {
  return SANDBOX_SCENARIOS.find(({ outcome }) => outcome.kind === kind)?.phone as string;
}

/** The entry that a scenario forces on an application (contract, D32). */
function expectedEntry(
  { phone, outcome }: SandboxScenario,
  root: Root,
  application: Record<string, unknown>,
  cap: number,
): object {
  const english = root === 'applications';
  const { id_number, name } = application;
  if (outcome.kind === 'duplicate') {
    return { [english ? 'id_number' : 'cedula']: id_number, error: DUPLICATE_TEXTS[root] };
  }
  if (outcome.kind === 'over_quota') {
    return english
      ? { id_number, error: 'quota_partner_exceeded', remaining: 0, daily_cap: cap }
      : { cedula: id_number, error: 'quota_partner_excedida', restante: 0, cap_diario: cap };
  }
  assert.equal(outcome.kind, 'registered');
  const { decision, score } = outcome as { decision: keyof typeof DECIDED; score: number };
  const { status, type, es } = DECIDED[decision];
  return {
    ...(english ? { id_number, name } : { cedula: id_number, nombre: name }),
    id: null,
    score,
    decision: english ? decision : es[0],
    ...(english ? { status } : { estado: es[1] }),
    simulated: true,
    ...(application.messaging_optin === true
      ? { would_notify: { type, destination: phone, template: `ventanilla_${type}` } }
      : {}),
  };
}

async function send(url: string, applications: unknown[], key = apiKey): Promise<Answer> {
  const { status, body } = await post(url, key, { applications });
  assert.equal(status, 200);
  return body;
}

describe('a reserved phone on DEV (D38)', () => {
  for (const scenario of WITH_ANSWER) {
    for (const root of ['applications', 'aplicaciones'] as const) {
      for (const consent of [true, false]) {
        it(`${scenario.phone} forces its outcome, ${root}, consent ${consent}`, async () => {
          const application = anApplication({ phone: scenario.phone, messaging_optin: consent });
          const { status, body } = await post(DEV, apiKey, { [root]: [application] });
          assert.equal(status, 200);
          const lists = body as Record<string, object[] | undefined>;
          const { results, resultados, errors_detail, errores_detalle } = lists;
          const entries = [results, resultados, errors_detail, errores_detalle].flatMap((list) => list ?? []);
          assert.deepEqual(entries, [expectedEntry(scenario, root, application, 7)]);
        });
      }
    }
  }

  it('forces the outcome of its own element only, beside ordinary, faulty and forced elements', async () => {
    const sent = [...WITH_ANSWER, ...WITH_ANSWER].map((scenario) => {
      const application = anApplication({ phone: scenario.phone });
      return { application, entry: expectedEntry(scenario, 'applications', application, 7) };
    });
    const faulty = anApplication({ city: '' });
    const ordinary = anApplication();
    const answer = await send(DEV, [faulty, ...sent.map(({ application }) => application), ordinary]);
    const entries = sent.map(({ entry }) => entry);
    assert.deepEqual(
      answer.results.slice(0, -1),
      entries.filter((entry) => 'score' in entry),
    );
    assert.equal(answer.results.at(-1)?.score, 100);
    assert.deepEqual(answer.errors_detail, [
      { id_number: faulty.id_number, error: 'city is required' },
      ...entries.filter((entry) => 'error' in entry),
    ]);
  });

  it('is read in every spelling', async () => {
    for (const phone of [DUPLICATE.replace('+', '00'), `(${DUPLICATE})`, ` ${DUPLICATE} `]) {
      const answer = await send(DEV, [anApplication({ phone })]);
      assert.equal(answer.errors_detail?.[0]?.error, DUPLICATE_TEXTS.applications);
    }
  });

  for (const [dailyCap, told] of [
    [null, 100],
    [0, 0],
    [5000, 5000],
  ] as const) {
    it(`the quota's daily_cap is ${told} for a key whose cap is ${dailyCap}`, async () => {
      const key = await service.addPartner({ dailyCap });
      const answer = await send(DEV, [anApplication({ phone: QUOTA })], key.apiKey);
      const { error, remaining, daily_cap } = answer.errors_detail?.[0] ?? {};
      assert.deepEqual([error, remaining, daily_cap], ['quota_partner_exceeded', 0, told]);
    });
  }

  for (const phone of PHONES) {
    it(`${phone}: faults come first`, async () => {
      const answer = await send(DEV, [anApplication({ phone, city: ' ' })]);
      assert.deepEqual(
        answer.errors_detail?.map(({ error }) => error),
        ['city is required'],
      );
    });
  }

  it('the forced failure wins over everything else in the batch, with the text of a real failure (D37)', async () => {
    const phones = [...PHONES, '+573001112233'];
    const errorLines = () => service.log.filter((line) => JSON.parse(line).level >= 50).length;
    const before = errorLines();
    for (const [root, text] of [
      ['applications', 'temporary internal error; retry'],
      ['aplicaciones', 'error interno temporal; reintente'],
    ] as const) {
      const applications = phones.map((phone) => anApplication({ phone }));
      const answer = await post(DEV, apiKey, { [root]: [null, ...applications] });
      assert.equal(answer.status, 500);
      assert.equal(answer.headers.get('retry-after'), '1');
      assert.deepEqual(answer.body, { error: text });
    }
    // The service works, so a rehearsal must not appear as an error in the log.
    assert.equal(errorLines(), before);
    assert.ok(service.log.some((line) => JSON.parse(line).problem === 'sandbox'));
  });

  it('no other phone has a forced outcome, not even a similar one', async () => {
    const ordinary = anApplication({ phone: '+573001112233' });
    const [baseline] = (await send(DEV, [ordinary])).results;
    assert.ok(baseline);
    const near = fc
      .tuple(fc.constantFrom('+990', '+991', '+999', ...PHONES), fc.stringMatching(/^\d{5,7}$/))
      .map(([front, back]) => front + back)
      .filter((phone) => !PHONES.includes(phone));
    await fc.assert(
      fc.asyncProperty(fc.array(near, { minLength: 1, maxLength: 30 }), async (phones) => {
        const applications = phones.map((phone) => ({ ...ordinary, phone }));
        const { results, errors } = await send(DEV, applications);
        assert.equal(errors, 0);
        const told = phones.map((destination) => {
          const would_notify = { type: 'approved', destination, template: 'ventanilla_approved' };
          return { ...baseline, would_notify };
        });
        assert.deepEqual(results, told);
      }),
      { numRuns: 20 },
    );
  });
});

describe('a phone that begins with +990 on PRO (D38)', () => {
  const SPELLINGS = [
    ...PHONES,
    ...PHONES.map((phone) => phone.replace('+', '00')),
    '9900409',
    '+990 12 34 56',
  ];
  for (const [root, field, text] of [
    ['applications', 'phone', 'phone must be a number with country code'],
    ['applications', 'telefono', 'telefono must be a number with country code'],
    ['aplicaciones', 'telefono', 'telefono debe ser un número con código de país'],
    ['aplicaciones', 'phone', 'phone debe ser un número con código de país'],
  ] as const) {
    it(`is refused under the field name that the client sent: ${root}, ${field}`, async () => {
      const applications = SPELLINGS.map((phone) => anApplication({ phone: null, [field]: phone }));
      const { status, body } = await post(PRO, apiKey, { [root]: applications });
      assert.equal(status, 200);
      const { errors_detail, errores_detalle } = body as Record<string, { error: string }[]>;
      assert.deepEqual(
        (errors_detail ?? errores_detalle)?.map(({ error }) => error),
        SPELLINGS.map(() => text),
      );
    });
  }

  it('stands among the other faults in the order of the fields, and nothing is stored', async () => {
    const faulty = anApplication({ phone: DUPLICATE, city: '', income: 0 });
    const answer = await send(PRO, [faulty]);
    assert.equal(
      answer.errors_detail?.[0]?.error,
      'city is required; phone must be a number with country code; income is required and must be > 0 (numeric)',
    );
    const { rows } = await service.database.query('SELECT count(*)::int AS count FROM applications');
    assert.equal(rows[0].count, 0);
  });
});
