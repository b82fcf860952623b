/** Each request of the page says for whom the page is shown; the ways in have nobody yet (D48). */
import assert from 'node:assert/strict';
import { it } from 'node:test';

// By names that the compiler does not follow: the page's files need the types of a browser.
const session = await import(String('../../console/src/api/session.ts'));
const { showOperator } = await import(String('../../console/src/api/ask.ts'));

const WAYS_IN = [
  ...['addApp', 'beginAtProvider', 'beginBinding', 'beginEnrolment', 'endEnrolment', 'giveCode'],
  ...['givePassword', 'lookAtLink', 'readSession', 'readWaysIn'],
];
const OF_OPERATOR = ['beginAgainAtProvider', 'proveAgain', 'signOut', 'signOutEverywhere'];

it('the way out and a sign-in again are for the operator of the page, the ways in for nobody', async (t) => {
  assert.deepEqual(Object.keys(session).toSorted(), [...WAYS_IN, ...OF_OPERATOR].toSorted());
  const asked: (string | undefined)[] = [];
  t.mock.method(
    globalThis,
    'fetch',
    async (_url: string, { headers }: { headers: Record<string, string> }) => {
      asked.push(headers['Operator-Id']);
      return new Response('{}');
    },
  );
  showOperator(7);
  for (const [names, id] of [
    [WAYS_IN, undefined],
    [OF_OPERATOR, '7'],
  ] as const) {
    for (const name of names) {
      asked.length = 0;
      await session[name]('text', 'text');
      assert.deepEqual(asked, [id], name);
    }
  }
});
