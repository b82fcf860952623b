/** Every free text of the desk that another person reads has the one rule of such texts (ground/base/plain-text.ts). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { deskRoutes } from '../../src/subjects/desk/routes/desk-routes.ts';
import { testDatabase } from '../support/database.ts';
import { ALL_AGAINST, proposalDesk } from '../support/proposals.ts';

const HIDDEN = { bidi: 'fi\u202ene', 'zero width': 'fi\u200bne', joiner: 'fi\u200dne', lines: 'fi\u2028ne' };
const noStore = () => Promise.reject(new Error('no documents'));
const store = await testDatabase();
const ROUTES = deskRoutes(
  {
    ...{ database: store.runtime, vault: store.vault, clock: store.clock },
    ...{ undoSeconds: 10, lookShare: 0, dueHours: 24, terms: async () => null },
  },
  noStore,
);
/** What `proposalDesk` has itself. */
const KNOWN = [
  '/applications/{id}',
  '/applications/{id}/reveal',
  '/applications/{id}/payment-plan',
  ...ROUTES.flatMap(({ path }) => (path.includes('proposals') ? [path] : [])),
];
const desk = await proposalDesk(store, { more: () => ROUTES.filter(({ path }) => !KNOWN.includes(path)) });
const ana = await desk.operator('ana', 'admin');

/** Each route of the desk that takes a free text, with a body that is right but for the text. */
const TEXTS: Readonly<Record<string, (text: string) => object>> = {
  '/applications/{id}/proposals': (reason) => ({ act: 'approve', reason }),
  '/proposals/bulk': (reason) => ({
    ...{ act: 'approve', reason, seen: ALL_AGAINST },
    applications: [{ id: 1, last_event: '0' }],
  }),
  '/proposals/{id}/decline': (reason) => ({ reason }),
  '/applications/{id}/reveal': (reason) => ({ reason }),
  '/applications/{id}/documents/{document}/reveal': (reason) => ({ reason }),
  '/applications/{id}/notes': (text) => ({ text }),
  '/applications/{id}/corrections': (reason) => ({ field: 'city', value: `Cali ${reason.length}`, reason }),
  '/applications/{id}/pend': (message) => ({ missing: ['explanation'], message, hours: 1 }),
  '/reconsiderations/{id}/answer': (text) => ({ outcome: 'confirmed', text }),
  '/conversations/{application_id}/messages': (text) => ({ text }),
  '/conversations/{application_id}/files': (text) => ({ filename: 'a', content: 'YQ==', text }),
  '/conversations/{application_id}/close': (reason) => ({ reason }),
  '/second-looks/{proposal}': (note) => ({ agrees: true, note }),
  '/applications/rows': (reason) => ({ view: 'to_pay', reason }),
};
const NAMES = ['reason', 'text', 'message', 'note'];

it('the routes with a free text are those of this file', () => {
  const taking = ROUTES.filter(({ body }) =>
    NAMES.some((name) =>
      Object.hasOwn((body as { properties?: object } | undefined)?.properties ?? {}, name),
    ),
  );
  assert.deepEqual(taking.map(({ path }) => path).toSorted(), Object.keys(TEXTS).toSorted());
});

for (const [path, bodyOf] of Object.entries(TEXTS)) {
  it(`${path} refuses hidden characters, and takes emoji`, async () => {
    const [id] = await desk.register();
    const { id: proposal } = await desk.proposed(
      (await desk.operator(`o${id}`)).visitor,
      (await desk.register())[0]!,
    );
    const url = `/api${path}`
      .replace('{document}', '1')
      .replace('/applications/{id}', `/applications/${id}`)
      .replace('{application_id}', `${id}`)
      .replace(/\{(id|proposal)\}/, `${proposal}`);
    const headers = { 'If-Match': '"0"' };
    for (const [what, hidden] of Object.entries(HIDDEN)) {
      const { status, body } = await ana.visitor.ask('POST', url, bodyOf(hidden), headers);
      assert.equal(status, 400, `${what}: ${JSON.stringify(body)}`);
      assert.match(body.error, /characters/, what);
    }
    const { status } = await ana.visitor.ask('POST', url, bodyOf('fine ❤️‍🔥 👍🏽'), headers);
    assert.notEqual(status, 400);
  });
}
