/** The examples that show events: each event once, over faults, also in a later run (D37, D41). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { eventIdOf } from '../../src/seal/event-ids.ts';
import { commandLine } from '../cli/harness.ts';
import { IN_REVIEW } from '../support/applicant.ts';
import { eventually } from '../support/eventually.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { EXAMPLES, missing, run, start, temporaryFile, troubledProxy } from './support.ts';

const service = await testService();
const { json } = commandLine(service);

/** A partner with so many applications that an operator has approved. */
async function partnerWithEvents(count: number) {
  const { partnerId, apiKey } = await service.addPartner();
  const ids: number[] = [];
  while (ids.length < count) {
    const size = Math.min(100, count - ids.length);
    const applications = Array.from({ length: size }, () => anApplication(IN_REVIEW));
    const { body } = await post(`${service.url}/PRO`, apiKey, { applications });
    ids.push(...(body as { results: { id: number }[] }).results.map(({ id }) => id));
  }
  for (const id of ids) await review('approve', id, 'documents_verified');
  return { partnerId, apiKey, ids };
}

const review = (action: string, id: number, code: string) =>
  json('application', action, `${id}`, '--reason', 'seen', '--reason-code', code);
const approved = (id: number) => `application ${id}: in_review -> pending_signature (documents_verified)`;
const withoutTimes = (out: string) => out.replaceAll(/^\S+ /gm, '').trimEnd().split('\n');

for (const [name, command] of [
  ['events.ts', process.execPath],
  ['events.py', 'python3'],
] as const) {
  const script = join(EXAMPLES, name);
  const skip = name.endsWith('.py') && missing('python3');

  describe(`examples/${name}`, { skip, concurrency: 2 }, () => {
    it('shows every event once, also in a later run and after faults', async () => {
      const { apiKey, ids } = await partnerWithEvents(120);
      const cursor = join(temporaryFile(`${name}-folder`, ''), '..', `${name}-cursor`);
      const proxy = await troubledProxy(service.url, [
        { status: 500, headers: { 'Retry-After': '1' } },
        'lost answer',
      ]);
      const variables = { url: `${proxy.url}/PRO`, apiKey };
      const first = await run(command, [script, cursor], variables);
      assert.deepEqual([first.code, withoutTimes(first.out)], [0, ids.map(approved)], first.err);
      assert.equal(proxy.requests.length, 4);
      const again = await run(command, [script, cursor], variables);
      assert.deepEqual([again.code, again.out, again.err], [0, '', '']);
      await review('disburse', ids[0] ?? 0, 'funds_transferred');
      const later = await run(command, [script, cursor], variables);
      const disbursed = `application ${ids[0]}: pending_signature -> disbursed (funds_transferred)`;
      assert.deepEqual(withoutTimes(later.out), [disbursed]);
    });

    it('with --follow it shows what comes, and a signal ends it', async () => {
      const { partnerId, apiKey, ids } = await partnerWithEvents(1);
      const cursor = join(temporaryFile(`${name}-folder`, ''), '..', `${name}-follow`);
      const variables = { VENTANILLA_URL: `${service.url}/PRO`, VENTANILLA_API_KEY: apiKey };
      const following = start(command, [script, cursor, '--follow'], variables);
      await following.wrote(new RegExp(`application ${ids[0]}: in_review`));
      await review('reject', ids[0] ?? 0, 'offer_expired');
      await following.wrote(new RegExp(`application ${ids[0]}: .* rejected \\(offer_expired\\)`));
      const newest = eventIdOf(service.vault, partnerId, 2);
      await eventually('the newest event', () => readFileSync(cursor, 'utf8').trim() === newest);
      assert.equal(await following.stop('SIGINT'), 0);
      const again = await run(command, [script, cursor], { url: `${service.url}/PRO`, apiKey });
      assert.equal(again.out, '');
    });

    it('says what is wrong with the cursor, the key or the command', async () => {
      const { apiKey, partnerId } = await partnerWithEvents(3);
      const url = `${service.url}/PRO`;
      const foreign = await run(command, [script, temporaryFile(`${name}-foreign`, 'evt_x\n')], {
        url,
        apiKey,
      });
      assert.deepEqual([foreign.code, foreign.out], [1, '']);
      assert.match(foreign.err, /400.*after must be/s);
      const file = temporaryFile(`${name}-old`, `${eventIdOf(service.vault, partnerId, 1)}\n`);
      await service.database.query('DELETE FROM partner_events WHERE partner_id = $1 AND number <= 2', [
        partnerId,
      ]);
      await service.database.query('UPDATE partner_event_totals SET forgotten = 2 WHERE partner_id = $1', [
        partnerId,
      ]);
      const old = await run(command, [script, file], { url, apiKey });
      assert.equal(old.code, 1);
      assert.match(old.err, /no longer kept.*Remove the cursor file/s);
      const refused = await run(command, [script, file], { url, apiKey: `vtn_all_${'0'.repeat(48)}` });
      assert.deepEqual([refused.code, /401/.test(refused.err)], [1, true]);
      for (const args of [[], [file, '--forever']]) {
        const { code, err } = await run(command, [script, ...args], { url, apiKey });
        assert.equal(code, 1);
        assert.match(err, /VENTANILLA_URL=/);
      }
    });
  });
}
