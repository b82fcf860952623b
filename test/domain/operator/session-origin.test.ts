/** Where and with what a session began, in words that no client can choose (docs/operators.md, "The operator API"). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { browserOf, checkedOrigin, originOf } from '../../../src/domain/operator/session-origin.ts';

const MOZILLA = 'Mozilla/5.0';
const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0';

it('tells browser and system by what browsers send', () => {
  const known: Readonly<Record<string, string | null>> = {
    [`${MOZILLA} (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0`]: 'Firefox, Linux',
    [`${MOZILLA} (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36`]: 'Chrome, Windows',
    [`${MOZILLA} (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36 Edg/143.0.0.0`]: 'Edge, Windows',
    [`${MOZILLA} (Linux; Android 15; SM-S911B) ${CHROME} Mobile Safari/537.36`]: 'Chrome, Android',
    [`${MOZILLA} (Linux; Android 15) SamsungBrowser/28.0 ${CHROME} Mobile Safari/537.36`]:
      'Samsung Internet, Android',
    [`${MOZILLA} (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Mobile/15E148 Safari/604.1`]:
      'Safari, iOS',
    [`${MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) Version/18.5 Safari/605.1.15`]: 'Safari, macOS',
    [`${MOZILLA} (X11; CrOS x86_64 14541.0.0) ${CHROME} Safari/537.36`]: 'Chrome, ChromeOS',
    'curl/8.17.0': null,
    '': null,
  };
  for (const [agent, words] of Object.entries(known)) assert.equal(browserOf(agent), words, agent);
  assert.equal(browserOf(undefined), null);
});

it('whatever is sent or stored, what is shown is of the list and of the form of a network', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.constantFrom(
      'Firefox, Linux, Safari, ',
      'Firefox/',
      '<script>',
      '\u202e',
      '\u0000',
      'Firefox',
      ', ',
      'Linux',
      '10.0.0.0/24',
      '::/48',
    ),
  );
  const texts = fc.array(text, { maxLength: 6 }).map((parts) => parts.join(''));
  const isShown = ({ network, browser }: ReturnType<typeof checkedOrigin>) => {
    assert.match(browser ?? 'Firefox', /^[A-Za-z ]+(?:, [A-Za-z ]+)*$/);
    assert.match(network ?? '::/48', /^[\da-f.:]+\/(?:24|48)$/);
  };
  fc.assert(
    fc.property(texts, texts, (agent, address) => {
      const origin = originOf({ address, browser: browserOf(agent) });
      assert.deepEqual(checkedOrigin(origin), origin, 'what a sign-in stores is shown');
      isShown(checkedOrigin({ network: address, browser: agent }));
      isShown(origin);
    }),
  );
});

it('keeps the network of an address alone', () => {
  const networks = { '203.0.113.9': '203.0.113.0/24', '2001:db8:1:2': '2001:db8:1::/48', nowhere: null };
  for (const [address, network] of Object.entries(networks))
    assert.equal(originOf({ address, browser: null }).network, network);
});
