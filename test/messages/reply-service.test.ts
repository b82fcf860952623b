/** Replies of a whole service over real HTTP: webhook, send and status event (docs/messages.md, "Replies"). */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { REPLY_BELL, repliesOf } from '../../src/subjects/messages/sql/replies.ts';
import { DELIVERING } from '../support/delivering.ts';
import { eventually } from '../support/eventually.ts';
import { queueReply, textContent } from '../support/replies.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { startWhatsAppApi, statusWebhook } from '../support/whatsapp-api.ts';

const api = await startWhatsAppApi();
after(() => api.close());
const service = await testService({ ...api.environment, ...DELIVERING, MESSAGES_PER_SECOND: 'none' });
const { apiKey } = await service.addPartner();

async function someone() {
  const application = anApplication();
  const { body } = await post(`${service.url}/PRO`, apiKey, { applications: [application] });
  const [{ id }] = (body as { results: [{ id: number }] }).results;
  const phone = toPhone(application.phone as string);
  api.wrote.add(phone);
  return { id, phone };
}

const statusOf = async (id: number) =>
  (await repliesOf(service.database, toApplicationId(id))).map(({ status }) => status).join();

it('a reply goes out after its read mark, and its status comes back by webhook', async () => {
  const person = await someone();
  await queueReply(service, person, 1, textContent('¿Seguimos?', { readMessageId: 'wamid.in.1' }));
  REPLY_BELL.ring();
  await eventually('the reply', async () => (await statusOf(person.id)) === 'accepted');
  assert.deepEqual(api.readMarks, ['wamid.in.1']);
  const [sent] = [...api.accepted.values()].flat().filter(({ callback }) => callback.startsWith('r'));
  assert.equal(sent?.message.to, person.phone);
  const statuses = await api.deliver(`${service.url}/webhooks/whatsapp`, [
    statusWebhook({ id: sent!.id, status: 'delivered', callback: sent!.callback }),
  ]);
  assert.deepEqual([statuses, await statusOf(person.id)], [[200], 'delivered']);
});

it('a reply without an answer is sent once, and nothing personal is in the log', async () => {
  const person = await someone();
  api.fault = ({ biz_opaque_callback_data: callback = '' }) =>
    callback.startsWith('r') ? { accept: true, answer: 'close' } : undefined;
  await queueReply(service, person, 1, textContent('Zoraida Wyxbrand, ¿seguimos?'));
  REPLY_BELL.ring();
  await eventually('the doubt', async () => (await statusOf(person.id)) === 'uncertain');
  api.fault = null;
  await queueReply(service, person, 2);
  REPLY_BELL.ring();
  await eventually('the next reply', async () => (await statusOf(person.id)) === 'uncertain,accepted');
  const callbacks = [...api.accepted].filter(([callback]) => callback.startsWith('r'));
  assert.ok(callbacks.every(([, sends]) => sends.length === 1));
  const log = service.log.join('\n');
  for (const personal of ['Zoraida', person.phone, person.phone.slice(1)])
    assert.ok(!log.includes(personal), personal);
});
