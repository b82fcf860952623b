/** An act is sent as the operator who did it, or not at all (D48). */
import assert from 'node:assert/strict';
import { it } from 'node:test';

// By names that the compiler does not follow: the page's files need the types of a browser.
const { act, goOn, NotSignedIn } = await import(String('../../console/src/api/act.ts'));
const { showOperator } = await import(String('../../console/src/api/ask.ts'));

for (const { name, change, sent } of [
  { name: 'goes on as it was where the same operator signs in again', change: () => {}, sent: 2 },
  {
    name: 'fails where the page shows another operator when the refusal comes',
    change: () => showOperator(2),
    sent: 1,
  },
  { name: 'fails where nobody is signed in any more', change: () => showOperator(null), sent: 1 },
]) {
  for (const when of ['before the refusal', 'while it waits'] as const) {
    it(`${name}, ${when}`, async (t) => {
      showOperator(1);
      const operators: (string | null)[] = [];
      t.mock.method(
        globalThis,
        'fetch',
        async (_url: string, { headers }: { headers: Record<string, string> }) => {
          operators.push(headers['Operator-Id'] ?? null);
          if (operators.length > 1) return new Response('{}');
          if (when === 'before the refusal') change();
          return new Response('{"error":"sign in first"}', { status: 401 });
        },
      );
      const end: Promise<unknown> = act('POST', '/applications/1/notes', { text: 'x' }).then(
        () => 'sent',
        (error: unknown) => error,
      );
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      if (when === 'while it waits') change();
      goOn();
      const result = await end;
      if (sent === 2) assert.equal(result, 'sent');
      else assert.ok(result instanceof NotSignedIn);
      assert.deepEqual(operators, Array(sent).fill('1'));
    });
  }
}
