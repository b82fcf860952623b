/** A made-up statement of each country is read as one of its applicant, and confirms the income (D44). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { databaseTime } from '../../src/ground/postgres/database-time.ts';
import { openIncome } from '../../src/subjects/income/open.ts';
import { checkIncome } from '../../src/subjects/income/uses/check-income.ts';
import { madeUpFile } from '../../src/subjects/simulator/made-up-files.ts';
import { ANA, documentStage } from '../documents/support.ts';

const stage = await documentStage();
const { database, runtime, vault, dataDir } = stage;
const income = openIncome(({ read }) => read(undefined, { dataDir, ownDatabase: true }), {
  database: runtime,
  vault,
  clock: machineClock,
});

const APPLICANTS = [
  ['COP', '+573015550101', 3_200_000, ANA.idNumber],
  ['MXN', '+525512345678', 18_000, 'PEGA850101MDFRMN09'],
  ['BRL', '+5511987654321', 4_500, '123.456.789-09'],
  ['PEN', '+51987654321', 2_600, '45678912'],
  ['CLP', '+56987654321', 740_000, '15.678.912-3'],
  ['ARS', '+5491123456789', 910_000, '20-30456789-1'],
] as const;

for (const [currency, phone, monthly, idNumber] of APPLICANTS) {
  it(`${currency}: a fitting one is confirmed, and that of another person goes to an operator`, async () => {
    const owner = { name: ANA.name, idNumber, income: monthly, currency };
    const own = {
      phone: toPhone(phone),
      currency,
      income: monthly,
      debt_amount: monthly,
      id_number: idNumber,
    };
    const application = await stage.apply(own);
    const now = await databaseTime(database);
    const checked = async (what: 'fitting' | 'other_person') => {
      const { bytes } = madeUpFile(what, owner, now);
      const { reason } = await stage.receive(
        stage.sent(application, bytes, { holder: { name: owner.name, idNumber } }),
      );
      return reason;
    };
    assert.equal(await checked('fitting'), 'read');
    assert.deepEqual(await checkIncome(income, application), { outcome: 'confirmed', reason: 'confirmed' });
    assert.equal(await checked('other_person'), 'another_holder');
  });
}
