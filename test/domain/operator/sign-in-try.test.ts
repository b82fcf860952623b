/** What the record says of where a try to sign in came from. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sourceOf } from '../../../src/domain/operator/sign-in-try.ts';
import { addressGroup } from '../../../src/wire/gate/connections.ts';

it('is the network of the address: of IPv4 a /24, of IPv6 a /48, also of the group that the console counts', () => {
  for (const [address, network] of [
    ['203.0.113.77', '203.0.113.0/24'],
    ['127.0.0.1', '127.0.0.0/24'],
    ['::ffff:203.0.113.77', '203.0.113.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['2001:db8:1:2::9', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8::/48'],
    ['fd00::1', 'fd00::/48'],
    ['::1', '::/48'],
  ] as const) {
    assert.equal(sourceOf(address), network, address);
    const group = addressGroup(address);
    if (group !== null) assert.equal(sourceOf(group), network, group);
  }
  for (const none of ['', 'desk.example', '<script>', 'a\nb', '300.1.1.1'])
    assert.equal(sourceOf(none), 'unknown', none);
});
