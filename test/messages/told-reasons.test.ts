/** The `rejected` message that tells the reasons, where a law or the brand asks for it (D50; docs/messages.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { commandLine } from '../cli/harness.ts';
import { APPROVED, applicant, IN_REVIEW } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { outboxOf } from '../support/outbox.ts';

const store = await testDatabase();
const { database } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { id: always } = await json('key', 'issue', '--partner', `${partner}`);
const { id: never } = await json('key', 'issue', '--partner', `${partner}`);
for (const [id, setting] of [
  [always, true],
  [never, false],
])
  await database.query(
    `UPDATE api_keys SET brand = jsonb_build_object('rejected_reasons', $2::boolean) WHERE id = $1`,
    [id, setting],
  );
const register = await registrarOf(store);
const { sendAll, sentTo } = outboxOf(store);

let serial = 0;
const chile = () => toPhone(`+5698765${String(++serial).padStart(4, '0')}`);
const colombia = () => toPhone(`+57300777${String(++serial).padStart(4, '0')}`);
async function refused(by: number, phone: ReturnType<typeof chile>, changes: object = {}) {
  const made = applicant({ ...IN_REVIEW, income: 300_000, num_debts: '3', phone, ...changes });
  const [id] = await register(by, [{ ...made, id_number: `88${serial}` }]);
  return { id: id! };
}
const toldOf = async ({ id }: { id: number }) =>
  (
    await database.query(
      'SELECT codes, language FROM told_reasons WHERE application_id = $1 AND message_id IS NOT NULL',
      [id],
    )
  ).rows;

describe('D50: a rejected message tells at most two reasons', () => {
  it('where the law of the phone’s country asks for it: Chile; what was told is stored with the message', async () => {
    const ana = await refused(key, chile());
    await sendAll();
    const [message] = sentTo(ana);
    assert.deepEqual(
      [message?.template.name, message?.template.language, message?.template.parameters.slice(1)],
      [
        'ventanilla_rejected_reasons',
        'es',
        [
          'Acme',
          'El ingreso es menos de 1,5 veces la cuota estimada',
          'La deuda está vencida hace más de dos años',
        ],
      ],
    );
    assert.match(
      message?.text ?? '',
      /motivos:\n• El ingreso .*\n• La deuda .*\n\nSi crees que hay un error/,
    );
    assert.deepEqual(message?.buttons, [{ title: 'Pedir revisión', payload: `review.${ana.id}` }]);
    assert.deepEqual(await toldOf(ana), [{ codes: ['capacity_below_1_5', 'debt_2_years'], language: 'es' }]);
    const off = await refused(never, chile());
    await sendAll();
    assert.equal(sentTo(off)[0]?.template.name, 'ventanilla_rejected_reasons');
  });

  it('elsewhere only where the brand says so', async () => {
    const [plain, told, off] = [
      await refused(key, colombia()),
      await refused(always, colombia()),
      await refused(never, colombia()),
    ];
    await sendAll();
    assert.deepEqual(
      [plain, told, off].map((one) => sentTo(one)[0]?.template.name),
      ['ventanilla_rejected', 'ventanilla_rejected_reasons', 'ventanilla_rejected'],
    );
    assert.deepEqual([sentTo(plain)[0]?.buttons, await toldOf(plain)], [[], []]);
  });

  it('one reason stands alone, and a review’s reason comes first', async () => {
    const limit = await refused(key, chile(), { ...APPROVED, income: 90_000_000, debt_amount: 100_000_001 });
    const reviewed = await refused(key, chile(), { num_debts: '2', income: 350_000 });
    await json(
      'application',
      'reject',
      `${reviewed.id}`,
      '--reason',
      'x',
      '--reason-code',
      'income_not_verified',
    );
    await sendAll();
    assert.deepEqual(sentTo(limit)[0]?.template.parameters.slice(2), [
      'El monto supera lo que prestamos',
      'No hay otro motivo',
    ]);
    assert.equal(sentTo(reviewed).at(-1)?.template.parameters[2], 'No pudimos comprobar el ingreso');
    assert.equal((await toldOf(reviewed))[0].codes[0], 'income_not_verified');
  });

  it('a review without a reason, of an approved application, has none to tell', async () => {
    const ana = await refused(key, chile(), APPROVED);
    await json('application', 'reject', `${ana.id}`, '--reason', 'x');
    await sendAll();
    assert.equal(sentTo(ana).at(-1)?.template.name, 'ventanilla_rejected');
  });

  it('a brand that has had only the template without reasons approved goes on with that one', async () => {
    await database.query(
      "INSERT INTO paused_templates (name, reason) VALUES ('ventanilla_rejected_reasons', '132001')",
    );
    try {
      const ana = await refused(key, chile());
      await sendAll();
      assert.deepEqual([sentTo(ana)[0]?.template.name, await toldOf(ana)], ['ventanilla_rejected', []]);
    } finally {
      await database.query('DELETE FROM paused_templates');
    }
  });
});
