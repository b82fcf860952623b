/** The sender of pushes checks certificates (D41). */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { machineClock } from '../../../src/ground/base/clock.ts';
import {
  type PushSender,
  pushSender,
  type SenderOptions,
} from '../../../src/subjects/events/push/http/sender.ts';
import { readEndpointHosts } from '../../../src/subjects/events/push/rules/endpoint-hosts.ts';
import { hasOpenssl, makeCertificates } from '../../support/certificates.ts';
import { startEndpointPeer } from '../../support/endpoint-peer.ts';

function senderTo(host: string, options: Partial<SenderOptions> = {}): PushSender {
  const sender = pushSender({ clock: machineClock, hosts: readEndpointHosts(host), ...options });
  after(() => sender.close());
  return sender;
}

const pushTo = (sender: PushSender, url: string) =>
  sender.send(
    { url: new URL(url), headers: { 'webhook-id': 'evt_1' }, body: '{}' },
    new AbortController().signal,
  );
const failed = (failure: string) => ({ kind: 'failed', failure, isGone: false });

describe('TLS', { skip: !hasOpenssl() && 'openssl is not installed' }, () => {
  it('D41: certificates are checked: authority, name and dates, also where the process says not to', async () => {
    const { ca, good, ...bad } = makeCertificates();
    const failures = {
      expired: 'CERT_HAS_EXPIRED',
      wrongName: 'ERR_TLS_CERT_ALTNAME_INVALID',
      selfSigned: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    };
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    after(() => {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    });
    const trusted = await startEndpointPeer({ tls: good });
    const sender = senderTo('127.0.0.1', { ca });
    assert.equal((await pushTo(sender, trusted.url)).kind, 'delivered');
    for (const [kind, failure] of Object.entries(failures)) {
      const peer = await startEndpointPeer({ tls: bad[kind as keyof typeof failures] });
      assert.deepEqual(await pushTo(sender, peer.url), failed(failure));
      assert.equal(peer.received.length, 0);
    }
    const stranger = senderTo('127.0.0.1');
    assert.equal((await pushTo(stranger, trusted.url)).kind, 'failed');
  });
});
