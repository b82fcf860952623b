/** What partners see of a person who is erased, and what the log says. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { commandLine } from '../cli/harness.ts';
import { assertInvariants, tablesWith } from '../support/erased.ts';
import { anApplication, testService } from '../support/service.ts';

const service = await testService();
const { json } = commandLine(service);
const { apiKey } = await service.addPartner();
const PERSON = { name: 'Persona Borrada', id_number: '66778899', phone: '+573006660001' };
const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' };

function post(body: string, idempotencyKey: string) {
  return fetch(`${service.url}/PRO`, {
    method: 'POST',
    headers: { ...headers, 'Idempotency-Key': idempotencyKey },
    body,
  });
}
const get = async (path: string) => (await fetch(`${service.url}${path}`, { headers })).json();

it('D36: a repeated request gets its first answer, and does not bring the person back; D41: events name nobody', async () => {
  const body = JSON.stringify({ applications: [anApplication(PERSON)] });
  const first = await (await post(body, 'one')).text();
  const { results } = JSON.parse(first);
  const logged = service.log.length;
  await json('subject', 'erase', '--phone', PERSON.phone, '--reason', 'x', '--close', '--yes');

  const again = await post(body, 'one');
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  // The answer takes the name and the ID number from the request itself.
  assert.equal(await again.text(), first);
  assert.deepEqual(await tablesWith(service, [PERSON.name, PERSON.id_number, PERSON.phone.slice(1)]), []);
  assert.equal((await json('application', 'list', '--phone', PERSON.phone)).length, 0);

  const { events } = (await get('/PRO/events')) as {
    events: { type: string; data: Record<string, unknown> }[];
  };
  assert.deepEqual(
    events.map(({ type, data }) => [type, data.id_number, data.to, data.reason_code]),
    [['application.status_changed', null, 'rejected', 'data_erased']],
  );
  const one = (await get(`/PRO/applications/${results[0].id}`)) as Record<string, unknown>;
  assert.deepEqual([one.id_number, one.status, one.score], [null, 'rejected', results[0].score]);
  const log = service.log.slice(logged).join('\n');
  for (const text of [PERSON.name, PERSON.id_number, PERSON.phone.slice(1)])
    assert.ok(!log.includes(text), text);
  await assertInvariants(service);
});

it('a new application of the person registers, and no message goes to the phone', async () => {
  const answer = await post(JSON.stringify({ applications: [anApplication(PERSON)] }), 'two');
  assert.equal(((await answer.json()) as { processed: number }).processed, 1);
  assert.equal((await json('suppression', 'list')).length, 1);
});
