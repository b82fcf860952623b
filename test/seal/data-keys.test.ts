/**
 * A process that does not have a data key waits with all that needs the key: no message fails, no applicant looks
 * erased, and nothing is told to a partner (docs/keys.md, "Where only some processes know the new key").
 */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { readiness } from '../../src/app/readiness.ts';
import { loadWitnesses } from '../../src/app/subjects.ts';
import type { TemplateChannel } from '../../src/domain/message/channel.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { UnknownDataKeyError } from '../../src/ground/base/registration-failure.ts';
import { SealMark } from '../../src/seal/data-keys.ts';
import { checkSecrets, confirmSecrets } from '../../src/seal/secrets.ts';
import { Vault } from '../../src/seal/vault.ts';
import { openEnvelope, sealEnvelope } from '../../src/subjects/applications/sql/envelope.ts';
import { trimSurplus } from '../../src/subjects/applications/sql/surplus.ts';
import type { ClaimedPush } from '../../src/subjects/events/push/sql/claim.ts';
import { openSettings } from '../../src/subjects/events/push/sql/endpoint-settings.ts';
import { readEndpoint, rotateSecret, writeEndpoint } from '../../src/subjects/events/push/sql/endpoints.ts';
import { type PushFault, pushDue } from '../../src/subjects/events/push/turn.ts';
import type { MessageFault } from '../../src/subjects/messages/delivery/turn.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { commandLine } from '../cli/harness.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { deliveryContext } from '../support/delivery-context.ts';
import { startEndpointPeer } from '../support/endpoint-peer.ts';
import { makeDue, setMessages } from '../support/messages.ts';
import { addEvents, endWaits, pushContext, queueOf, setEndpoint } from '../support/pushes.ts';
import { addPartner, anApplication, post } from '../support/service.ts';
import { startWithoutUpkeep } from '../support/start-patiently.ts';
import { batchOf } from '../support/stored-applications.ts';

const WITNESSES = await loadWitnesses();

const [first, second] = [TEST_SECRETS.dataKeys.get(1)!, TEST_SECRETS.indexKey];
const secretsOf = (...keys: [number, Buffer][]) => ({ ...TEST_SECRETS, dataKeys: new Map(keys) });
const OLD = secretsOf([1, first]);
const NEW = secretsOf([2, second], [1, first]);

const store = await testDatabase();
const { database } = store;
/** Two processes while the keys change. */
const old = { ...store, vault: new Vault(OLD) };
const next = { ...store, vault: new Vault(NEW) };

async function serve({ vault }: { vault: Vault }): Promise<string> {
  const config = { ...readConfig({ DELIVERY: 'off' }), port: 0, opsPort: 0 };
  const service = await startWithoutUpkeep(config, { ...store, vault }, pino({ level: 'silent' }));
  after(() => service.stop());
  return `${service.url}/PRO`;
}
const urls = { old: await serve(old), next: await serve(next) };
const { apiKey, partnerId } = await addPartner(store);

/** The id of a new application, whose data has the new key. */
async function register(application = anApplication()): Promise<number> {
  const { body } = await post(urls.next, apiKey, { applications: [application] });
  return (body as { results: { id: number }[] }).results[0]!.id;
}

function get(url: string): Promise<Response> {
  return fetch(url, { headers: { 'X-API-Key': apiKey } });
}

async function messageOf(id: number) {
  const text = `SELECT status, reason, tries, due_at > now() AS waits FROM messages WHERE application_id = $1`;
  return (await database.query(text, [id])).rows[0];
}

describe('a data key that this process does not have', () => {
  it('a message waits a minute and is sent by a process with the key; no event tells of it', async () => {
    const id = await register();
    const sent: number[] = [];
    const send: TemplateChannel['send'] = async ({ applicationId, callback }) => {
      sent.push(applicationId);
      return { kind: 'accepted', channelMessageId: `wamid.${callback}` };
    };
    const faults: MessageFault['reason'][] = [];
    const onFault = ({ reason }: MessageFault) => faults.push(reason);
    const turnOf = async (process: typeof old) => {
      await makeDue(database, id);
      const { concluded } = await deliverDue(
        deliveryContext(process, { send }, { onFault }),
        new AbortController().signal,
      );
      await concluded;
    };
    // More often than a message that keeps failing is tried.
    for (let turns = 0; turns < 20; turns += 1) {
      await turnOf(old);
      assert.deepEqual(await messageOf(id), {
        status: 'queued',
        reason: 'unknown_key',
        tries: 0,
        waits: true,
      });
    }
    assert.deepEqual([sent, new Set(faults)], [[], new Set(['unknown_key'])]);
    const { rows } = await database.query("SELECT FROM partner_events WHERE type = 'message.failed'");
    assert.deepEqual(rows, []);
    await turnOf(next);
    assert.deepEqual([sent, (await messageOf(id)).status], [[id], 'accepted']);
  });

  it('its messages wait longer each time, 15 minutes at most', async () => {
    const id = await register();
    const waits: number[] = [];
    for (let turns = 0; turns < 7; turns += 1) {
      const send = () => assert.fail('no message goes out');
      await deliverDue(deliveryContext(old, { send }, { onFault: () => {} }), new AbortController().signal);
      const { rows } = await database.query<{ seconds: number }>(
        `SELECT extract(epoch FROM due_at - changed_at)::integer AS seconds FROM message_records WHERE message_id = $1`,
        [id],
      );
      waits.push(rows[0]!.seconds);
      await database.query(
        `UPDATE message_records SET due_at = now(), changed_at = now() - make_interval(secs => $2) WHERE message_id = $1`,
        [id, rows[0]!.seconds],
      );
    }
    assert.deepEqual(waits, [60, 120, 240, 480, 900, 900, 900]);
    await setMessages(database, [id], { status: 'cancelled' });
  });

  it('that no process has is damage: after a day the message fails as unreadable, and the log says so', async () => {
    const id = await register();
    await database.query(
      `UPDATE batches SET envelope = overlay(envelope PLACING '\\x63'::bytea FROM 1) WHERE id = $1::bigint >> 7`,
      [id],
    );
    const faults: MessageFault['reason'][] = [];
    const turn = async () => {
      await makeDue(database, id);
      const send = () => assert.fail('no message goes out');
      const onFault = ({ reason }: MessageFault) => faults.push(reason);
      await deliverDue(deliveryContext(next, { send }, { onFault }), new AbortController().signal);
      const { status, reason } = await messageOf(id);
      return [status, reason];
    };
    assert.deepEqual(await turn(), ['queued', 'unknown_key']);
    await database.query(
      `UPDATE batches SET created_at = now() - interval '25 hours' WHERE id = $1::bigint >> 7`,
      [id],
    );
    await database.query("INSERT INTO secret_checks VALUES ('DATA_KEYS 99', gen_random_uuid(), true)");
    assert.deepEqual(await turn(), ['queued', 'unknown_key'], 'another process has the key');
    await database.query("DELETE FROM secret_checks WHERE name = 'DATA_KEYS 99'");
    assert.deepEqual(await turn(), ['failed', 'unreadable']);
    assert.deepEqual(faults, ['unknown_key', 'unknown_key', 'unreadable']);
  });

  it('D41: the feed and an application are a 500 with Retry-After, never an answer without the ID number', async () => {
    const application = anApplication();
    const id = await register(application);
    await addEvents(store, partnerId, [id]);
    for (const path of ['/events', `/applications/${id}`]) {
      const refused = await get(urls.old + path);
      assert.deepEqual([refused.status, refused.headers.get('retry-after')], [500, '1'], path);
      const answer = await get(urls.next + path);
      assert.equal(answer.status, 200);
      assert.match(await answer.text(), new RegExp(`"id_number":"${application.id_number}"`));
    }
  });

  it('D41: a push waits and goes out whole, and the pushes beside it go out', async () => {
    const peer = await startEndpointPeer();
    const { partnerId: other } = await addPartner(store);
    const application = anApplication();
    const id = await register(application);
    await setEndpoint(old, partnerId, peer);
    await setEndpoint(next, other, peer);
    await addEvents(store, partnerId, [id]);
    // Without an application the event needs no key; its endpoint does.
    await addEvents(store, other, [1 << 20]);
    const { partnerId: easy } = await addPartner(store);
    await setEndpoint(old, easy, peer);
    await addEvents(store, easy, [1 << 20]);
    const faults: [number, PushFault][] = [];
    const turnOf = async (process: typeof old) => {
      await database.query('UPDATE pushes SET leased_until = NULL');
      await endWaits(store);
      const onFault = (fault: PushFault, push: ClaimedPush) => faults.push([push.partnerId, fault]);
      const begun = await pushDue(
        { ...pushContext(process, [peer.host]), onFault },
        [],
        new AbortController().signal,
      );
      await Promise.all(begun.map(({ ended }) => ended));
    };
    await turnOf(old);
    assert.deepEqual(
      faults.toSorted(([a], [b]) => a - b),
      [
        [partnerId, 'unknown_key'],
        [other, 'unknown_key'],
      ],
    );
    assert.equal(peer.received.length, 1, 'the one that needs no key');
    assert.deepEqual([(await queueOf(store, partnerId)).length, (await queueOf(store, easy)).length], [1, 0]);
    await turnOf(next);
    assert.deepEqual(
      [(await queueOf(store, partnerId)).length, (await queueOf(store, other)).length],
      [0, 0],
    );
    const bodies = peer.received.map(({ body }) => body);
    assert.equal(bodies.filter((body) => body.includes(`"${application.id_number}"`)).length, 1);
    await peer.close();
  });

  it('the secret of an endpoint stays, though an operator sets its URL or rotates it', async () => {
    const { partnerId: partner } = await addPartner(store);
    const secret = await setEndpoint(next, partner, { url: 'https://partner.example/', host: '' });
    const url = new URL('https://other.example/');
    for (const change of [
      () => writeEndpoint(database, old.vault, partner, { url, newSecret: 'whsec_new' }),
      () => rotateSecret(database, old.vault, partner, 'whsec_new'),
    ]) {
      await assert.rejects(change, UnknownDataKeyError);
    }
    assert.equal((await readEndpoint(database, old.vault, partner))?.settings, 'unknown_key');
    const { rows } = await database.query('SELECT sealed FROM partner_endpoints WHERE partner_id = $1', [
      partner,
    ]);
    assert.equal(openSettings(next.vault, partner, rows[0].sealed)?.secret, secret);
  });

  it('a surplus envelope stays as it is, for a process with the key, and the others are trimmed', async () => {
    const surplus = async (vault: Vault) => {
      const id = await register();
      const { id: batchId, seal_id } = await batchOf(database, id);
      const applicants = [{ position: 0, application: { name: 'Queda' } }];
      await database.query('UPDATE batches SET envelope = $2, surplus = true WHERE id = $1', [
        batchId,
        sealEnvelope(vault, seal_id, applicants),
      ]);
      await database.query("UPDATE batches SET created_at = now() - interval '1 minute' WHERE id = $1", [
        batchId,
      ]);
      return id;
    };
    const [later, now] = [await surplus(next.vault), await surplus(old.vault)];
    assert.deepEqual(await trimSurplus(database, old.vault, machineClock), []);
    const stateOf = async (id: number) => {
      const { surplus: isSurplus, unreadable_at: at } = (await batchOf(database, id)) as never as {
        surplus: boolean;
        unreadable_at: Date | null;
      };
      return [isSurplus, at];
    };
    assert.deepEqual(
      [await stateOf(later), await stateOf(now)],
      [
        [true, null],
        [false, null],
      ],
    );
    assert.deepEqual(await trimSurplus(database, next.vault, machineClock), []);
    assert.deepEqual(await stateOf(later), [false, null]);
  });

  it('application list and show hide the data and say why', async () => {
    const id = await register();
    const { run } = commandLine(old);
    const show = await run('application', 'show', `${id}`);
    assert.deepEqual([show.code, /^Personal data +unknown_key$/m.test(show.out)], [1, true]);
    assert.match((await run('application', 'list')).out, new RegExp(`^${id} .*\\(unknown_key\\)`, 'm'));
  });

  it('D36: a replay is a 500 with Retry-After, and the first answer from a process with the key', async () => {
    const body = JSON.stringify({ applications: [anApplication()] });
    const send = (url: string) => post(url, apiKey, body, { 'Idempotency-Key': 'one' });
    const answer = await send(urls.next);
    const refused = await send(urls.old);
    // A replay that needs no key is as good.
    if (refused.status !== 200)
      assert.deepEqual([refused.status, refused.headers.get('retry-after')], [500, '1']);
    assert.equal((await send(urls.next)).text, answer.text);
  });

  it('a key id that no key can have is damage', () => {
    const sealed = next.vault.seal('{}', 'batch:x');
    assert.throws(() => openEnvelope(old.vault, 'x', sealed), UnknownDataKeyError);
    for (const damaged of [Buffer.alloc(0), Buffer.from(sealed).fill(0, 0, 1)])
      assert.throws(
        () => openEnvelope(old.vault, 'x', damaged),
        (error) => !(error instanceof UnknownDataKeyError),
      );
  });
});

describe('/readyz', () => {
  const log: string[] = [];
  const isReady = readiness(old, pino({}, { write: (line) => void log.push(line) }));

  it('stays ready while other processes can open with another key', async () => {
    await confirmSecrets(database, secretsOf([1, first], [2, second]), WITNESSES, machineClock);
    assert.equal(await isReady(), true);
  });

  it('is not ready once another service seals with a key that this one does not have, and the log says so', async () => {
    await confirmSecrets(database, NEW, WITNESSES, machineClock);
    assert.equal(await isReady(), 'unknown_data_key');
    assert.match(log.join(''), /seal with data key 2, which this process does not have/);
    assert.equal(await readiness(next, pino({ level: 'silent' }))(), true);
  });

  it('is not ready where it started before that service sealed anything: the upkeep of that service tells', async () => {
    // As the start of a service without the key does while no data needs the key.
    await database.query("DELETE FROM secret_checks WHERE name = 'DATA_KEYS 2'");
    assert.equal(await isReady(), true);
    const mark = new SealMark(next.vault);
    await mark.tell(database);
    await mark.tell(database);
    assert.equal(await isReady(), 'unknown_data_key');
    // The fingerprint is the one of the start.
    await checkSecrets(database, NEW, WITNESSES, machineClock);
    await confirmSecrets(database, NEW, WITNESSES, machineClock);
  });
});
