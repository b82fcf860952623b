import { it } from 'node:test';
import { newestOf } from '../../src/subjects/reconsiderations/sql/refused.ts';
import { testDatabase } from '../support/database.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { phoneIndexOf } from '../../src/seal/blind-indexes.ts';

const store = await testDatabase();
it('measures', async () => {
  const { database, vault } = store;
  const COUNT = Number(process.env.COUNT ?? 10_000);
  await database.query(`INSERT INTO batches (id, seal_id, partner_id, api_key_id, policy_id, created_at, phones, id_numbers, facts, platforms)
    SELECT n, gen_random_uuid(), 1, 1, 1, now(), ARRAY(SELECT (random()*9e18)::bigint FROM generate_series(1,100) WHERE n>0), ARRAY(SELECT (random()*9e18)::bigint FROM generate_series(1,100) WHERE n>0), decode(repeat('00', 2800),'hex'), 'x'
    FROM generate_series(1, ${COUNT}) AS n`);
  for (let i = 0; i < 5; i += 1) {
    const begin = performance.now();
    await newestOf(database, [phoneIndexOf(vault, toPhone('+573001234567'))]);
    console.log(COUNT, 'batches', (performance.now() - begin).toFixed(0), 'ms');
  }
});
