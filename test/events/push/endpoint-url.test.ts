/** Which URLs and addresses the service pushes to (D41). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readEndpointHosts } from '../../../src/subjects/events/push/rules/endpoint-hosts.ts';
import { isExcepted, readEndpointUrl } from '../../../src/subjects/events/push/rules/endpoint-url.ts';
import { isPublicAddress } from '../../../src/subjects/events/push/rules/public-address.ts';

const NONE = new Set<string>();

describe('isPublicAddress', () => {
  it('D41: unicast addresses of the internet are public', () => {
    for (const address of [
      '8.8.8.8',
      '1.1.1.1',
      '223.255.255.1',
      '2606:4700::1111',
      '2A00:1450:4001::200e',
    ]) {
      assert.equal(isPublicAddress(address), true, address);
    }
  });

  it('D41: addresses of this machine, of networks and of special use are not', () => {
    const addresses = [
      ...['0.0.0.0', '0.1.2.3', '127.0.0.1', '127.255.255.254', '10.1.2.3', '172.16.0.1', '172.31.255.255'],
      ...['192.168.0.1', '169.254.169.254', '100.64.0.1', '100.100.100.200', '192.0.0.192', '192.0.2.1'],
      ...['198.18.0.1', '198.51.100.1', '203.0.113.1', '192.88.99.1', '224.0.0.1', '240.0.0.1'],
      ...['255.255.255.255', '168.63.129.16'],
      ...[
        '::',
        '::1',
        '::7f00:1',
        '::127.0.0.1',
        'fe80::1',
        'fec0::1',
        'fc00::1',
        'fd00:ec2::254',
        'ff02::1',
      ],
      ...['100::1', '2001:db8::1', '2001::1', '2001:2::1', '3fff::1', '5f00::1'],
    ];
    for (const address of addresses) assert.equal(isPublicAddress(address), false, address);
  });

  it('D41: an IPv6 address that carries an IPv4 address is judged by the carried one, or is not public', () => {
    for (const prefix of ['::ffff:', '64:ff9b::']) {
      assert.equal(isPublicAddress(`${prefix}8.8.8.8`), true, prefix);
      for (const inner of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '0.0.0.0']) {
        assert.equal(isPublicAddress(`${prefix}${inner}`), false, `${prefix}${inner}`);
      }
    }
    for (const address of ['::ffff:7f00:1', '64:ff9b::a00:1', '64:ff9b:1::808:808', '2002:808:808::1']) {
      assert.equal(isPublicAddress(address), false, address);
    }
    assert.equal(isPublicAddress('::ffff:0:808:808'), false);
  });

  it('D41: a text of another form is not a public address', () => {
    for (const text of [
      '',
      '8',
      '8.8',
      '0x8.8.8.8',
      '010.8.8.8',
      '8.8.8.8.',
      '8.8.8.8 ',
      '2606:4700::1%eth0',
      'a.b',
    ]) {
      assert.equal(isPublicAddress(text), false, text);
    }
  });
});

describe('readEndpointUrl', () => {
  it('D41: takes a complete URL with https, and leaves its fragment out', () => {
    assert.equal(
      readEndpointUrl(' https://partner.example/events?token=a#b ', NONE).href,
      'https://partner.example/events?token=a',
    );
    assert.equal(readEndpointUrl('https://partner.example:8443', NONE).href, 'https://partner.example:8443/');
    assert.equal(readEndpointUrl('https://[2606:4700::1111]/', NONE).hostname, '[2606:4700::1111]');
  });

  it('D41: refuses what it cannot or must not push to, by the rule and without the text', () => {
    const refused: [text: string, rule: RegExp][] = [
      ['partner.example/events', /must be complete/],
      ['', /must be complete/],
      ['https://', /must be complete/],
      ['http://partner.example/', /must begin with https/],
      ['ftp://partner.example/', /must begin with https/],
      ['file:///etc/passwd', /must be complete|https/],
      ['https://user:hidden@partner.example/', /no user and no password/],
      ['https://hidden@partner.example/', /no user and no password/],
      [`https://partner.example/${'a'.repeat(2_000)}`, /at most 2000 characters/],
      ['https://localhost/', /not public/],
      ['https://a.localhost./', /not public/],
    ];
    // A URL writes each of these forms as four numbers, or as eight groups.
    for (const host of [
      '127.0.0.1',
      '127.1',
      '0x7f.1',
      '2130706433',
      '0177.0.0.1',
      '10.0.0.1',
      '169.254.169.254',
      '0',
    ]) {
      refused.push([`https://${host}/`, /not public/]);
    }
    for (const host of [
      '::1',
      '::',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '64:ff9b::10.0.0.1',
      '2002:a00:1::',
      'fe80::1',
    ]) {
      refused.push([`https://[${host}]/`, /not public/]);
    }
    for (const [text, rule] of refused) {
      assert.throws(
        () => readEndpointUrl(text, NONE),
        (error) =>
          error instanceof RangeError && rule.test(error.message) && !/hidden|passwd/.test(error.message),
        text,
      );
    }
  });

  it('D41: ENDPOINT_HOSTS names hosts that may be private or without TLS, on one port or on all', () => {
    const hosts = readEndpointHosts('Hooks.internal, 127.0.0.1:8080,[::1]:8443');
    for (const text of [
      'http://hooks.internal/a',
      'https://hooks.internal:9/a',
      'http://127.0.0.1:8080/',
      'https://[::1]:8443/',
    ]) {
      assert.equal(isExcepted(hosts, readEndpointUrl(text, hosts)), true, text);
    }
    for (const text of [
      'http://127.0.0.1/',
      'https://127.0.0.1:8081/',
      'https://[::1]/',
      'http://other.internal/',
    ]) {
      assert.throws(() => readEndpointUrl(text, hosts), RangeError, text);
    }
    for (const text of ['https://a', 'a:0', 'a:65536', 'a,,b', 'a b', 'a:1:2', '[::1', 'user@a']) {
      assert.throws(() => readEndpointHosts(text), RangeError, text);
    }
    // A pattern would fit no host, and its operator would not notice.
    for (const text of ['*', '*.internal', '.internal', 'hooks.*:443', '10.0.0.0/8']) {
      assert.throws(() => readEndpointHosts(text), /no patterns/, text);
    }
  });
});
