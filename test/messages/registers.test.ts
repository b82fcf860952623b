/** Registers of excluded numbers (D42; docs/messages.md, "Registers of excluded numbers"). */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import type { OutgoingMessage } from '../../src/domain/message/outgoing-message.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { phoneIndexOf } from '../../src/seal/blind-indexes.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { addExcluded, beginImport } from '../../src/subjects/messages/sql/registers.ts';
import { commandLine } from '../cli/harness.ts';
import { deliveryContext } from '../support/delivery-context.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { untilDone } from '../support/until-done.ts';

const service = await testService({}, { upkeep: false });
const { database, vault } = service;
const { run } = commandLine({ ...service, clock: machineClock });
const { apiKey } = await service.addPartner();
const folder = mkdtempSync(join(tmpdir(), 'registers-'));
after(() => rmSync(folder, { recursive: true }));

beforeEach(async () => {
  await database.query('DELETE FROM excluded_numbers');
  await database.query('DELETE FROM exclusion_registers');
  await database.query('DELETE FROM suppressions');
});

let files = 0;
function fileOf(text: string): string {
  files += 1;
  const path = join(folder, `${files}.txt`);
  writeFileSync(path, text);
  return path;
}

async function imported(text: string, ...options: string[]) {
  const source = options.includes('--source') ? [] : ['--source', 'CRC'];
  const { out, err } = await run('suppression', 'import', fileOf(text), ...source, ...options, '--json');
  assert.equal(err, '');
  const { added, already, gone, refused, refused_lines: lines } = JSON.parse(out) as Record<string, unknown>;
  return [added, already, gone, refused, lines];
}

const isSuppressed = async (phone: string): Promise<boolean> => {
  const index = phoneIndexOf(vault, toPhone(phone)).slice(0, 12);
  const { out } = await run('suppression', 'list', '--json');
  return (JSON.parse(out) as { phone_index: string }[]).some((one) => one.phone_index === index);
};

const [A, B, C] = ['+573001112201', '+573001112202', '+573001112203'] as const;

describe('suppression import', () => {
  it('counts what came, what was there, what went and what is no phone', async () => {
    assert.deepEqual(await imported(`Número\r\n${A}\r\n\r\n300 111 2202\r\n${A}\r\nno phone 7\r\n`), [
      2,
      1,
      0,
      1,
      [6],
    ]);
    assert.deepEqual(await imported(`${A};2026-11-30\n"${C}",x\n`), [1, 1, 1, 0, []]);
    assert.deepEqual(
      [await isSuppressed(A), await isSuppressed(B), await isSuppressed(C)],
      [true, false, true],
    );
    const { out } = await run('suppression', 'registers', '--json');
    assert.deepEqual(
      (JSON.parse(out) as { name: string; numbers: number }[]).map(({ name, numbers }) => [name, numbers]),
      [['CRC', 2]],
    );
  });

  it('D42: a register of many parts ends whole, and takes nothing from another one with the same numbers', async () => {
    await imported(`${A}\n`);
    await imported(`${A}\n`, '--source', 'Another');
    // More than two parts, and each number in both registers: a part ends between two numbers.
    await database.query(`
      INSERT INTO excluded_numbers (phone_index, register_id, import)
      SELECT n * 97, r.id, r.import FROM generate_series(1, 25001) AS n, exclusion_registers AS r`);
    assert.deepEqual(await imported(`${A}\n${B}\n`, '--may-shrink'), [1, 1, 25_001, 0, []]);
    const { rows } = await database.query<{ name: string; numbers: number }>(`
      SELECT r.name, count(*)::int AS numbers FROM excluded_numbers e JOIN exclusion_registers r ON r.id = e.register_id
      GROUP BY r.name ORDER BY r.name`);
    assert.deepEqual(rows, [
      { name: 'Another', numbers: 25_002 },
      { name: 'CRC', numbers: 2 },
    ]);
  });

  it('a number that goes stays suppressed by what else suppresses it: an operator, or another register', async () => {
    await imported(`${A}\n${B}\n${C}\n`);
    await run('suppression', 'add', A);
    await imported(`${B}\n`, '--source', 'Another');
    assert.deepEqual(await imported('\n'), [0, 0, 3, 0, []]);
    assert.deepEqual(
      [await isSuppressed(A), await isSuppressed(B), await isSuppressed(C)],
      [true, true, false],
    );
    assert.match((await run('suppression', 'remove', B)).err, /a register goes with the next file/);
  });

  it('an import that was ended takes nothing away, and the next one ends its work', async () => {
    await imported(`${A}\n${B}\n`);
    const begun = (await beginImport(database, 'CRC'))!;
    await addExcluded(database, begun, [phoneIndexOf(vault, toPhone(C))]);
    assert.deepEqual([await isSuppressed(A), await isSuppressed(C)], [true, true]);
    assert.deepEqual(await imported(`${A}\n${C}\n`), [0, 2, 1, 0, []]);
  });

  it('of two imports at once the one that began later says what goes', async () => {
    await imported(`${A}\n${B}\n`);
    const later = (await beginImport(database, 'CRC'))!;
    await addExcluded(database, later, [phoneIndexOf(vault, toPhone(A))]);
    // The older one comes late, with numbers that the later one lists and with others.
    const older = { ...later, number: `${BigInt(later.number) - 1n}` };
    await addExcluded(
      database,
      older,
      [A, C].map((phone) => phoneIndexOf(vault, toPhone(phone))),
    );
    const { rows } = await database.query(
      'SELECT import - $1::bigint AS ago FROM excluded_numbers ORDER BY 1',
      [later.number],
    );
    assert.deepEqual(
      rows.map(({ ago }) => Number(ago)),
      [-1, -1, 0],
    );
  });

  it('stores nothing while the indexes are made again with another key', async () => {
    await database.query('SELECT put_index_key($1)', ['0'.repeat(32)]);
    const { err } = await run('suppression', 'import', fileOf(A), '--source', 'CRC');
    await database.query('SELECT put_index_key($1)', [vault.indexKeyId]);
    assert.match(err, /a vault reindex has begun/);
    assert.equal((await database.query('SELECT FROM excluded_numbers')).rowCount, 0);
  });

  it('a file that lacks many numbers takes none away, unless the operator says that it is whole', async () => {
    const phones = Array.from({ length: 1_200 }, (_, n) => `+57300222${`${n}`.padStart(4, '0')}`);
    await imported(phones.join('\n'));
    const half = fileOf(phones.slice(0, 100).join('\n'));
    const { code, err } = await run('suppression', 'import', half, '--source', 'CRC');
    assert.equal(code, 1);
    assert.match(err, /does not list 1100 of the 1200 numbers of register CRC: nothing was taken away/);
    assert.equal((await database.query('SELECT FROM excluded_numbers')).rowCount, 1_200);
    const whole = await run('suppression', 'import', half, '--source', 'CRC', '--may-shrink', '--json');
    assert.equal((JSON.parse(whole.out) as { gone: number }).gone, 1_100);
  });

  it('bad files and names are refused with a text, and nothing is stored', async () => {
    for (const [path, options, text] of [
      [join(folder, 'none.txt'), ['--source', 'CRC'], /cannot be read/],
      [fileOf(''), ['--source', 'CRC'], /the file has no line/],
      [fileOf(A), ['--source', ' '], /the name of a register must be one line/],
      [fileOf(A), ['--source', 'CRC', '--country', 'ZZ'], /It is no country code/],
    ] as const)
      assert.match((await run('suppression', 'import', path, ...options)).err, text);
    assert.equal((await database.query('SELECT FROM exclusion_registers')).rowCount, 0);
    assert.deepEqual((await imported(`${'9'.repeat(5_000)}\n${A}\n`)).slice(0, 4), [1, 0, 0, 1]);
  });
});

it('a message that the service begins goes to no number of a register; the application stands', async () => {
  await imported(`${A}\n`);
  const { body } = await post(`${service.url}/PRO`, apiKey, {
    applications: [anApplication({ phone: A }), anApplication({ phone: B })],
  });
  const ids = (body as { results: { id: number }[] }).results.map(({ id }) => id);
  const sent: number[] = [];
  const send = async (message: OutgoingMessage) => {
    sent.push(message.applicationId);
    return { kind: 'accepted' as const, channelMessageId: `wamid.${message.callback}` };
  };
  const context = deliveryContext(service, { send }, {});
  await untilDone(async () => {
    const { claimed, concluded } = await deliverDue(context, new AbortController().signal);
    await concluded;
    return claimed === 0;
  });
  assert.deepEqual(sent, [ids[1]]);
  const { rows } = await database.query("SELECT status, reason FROM messages WHERE status = 'cancelled'");
  assert.deepEqual(rows, [{ status: 'cancelled', reason: 'suppressed' }]);
});
