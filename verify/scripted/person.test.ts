/** A scripted applicant comes to an end whatever the channel loses. */
import { test } from 'node:test';
import { eventually } from '../../test/support/eventually.ts';
import { Random } from '../../test/support/random.ts';
import { type Line, Person } from './person.ts';
import type { Script } from './scripts.ts';

const SCRIPT: Script = {
  ...{ name: 'hears nothing', share: 1, flow: 'quick' },
  acts: { offer: [{ kind: 'interested' }], data_consent: [{ kind: 'tap', choice: 'yes' }] },
  last: { question: 'data_consent', hears: null },
  ends: { place: 'none', heldBy: 'service', status: 'in_review', isSigned: false, events: [] },
};
const APPLICANT = { name: 'Ana', id_number: '1', phone: '+573001112233', income: 1, currency: 'COP' };

test('also where all greetings are lost: after its greetings a person goes on with the question', async () => {
  const line: Line = {
    tell: async ({ told }, { what }) => {
      const lost = {
        isLost: what === 'a text',
        heardAtMs: 1,
        accepts: null,
        shown: 0,
        optsOut: false,
        code: null,
      };
      told.push({ id: `${told.length}`, what, atMs: 1, ...lost });
    },
    isBusyWith: async () => false,
    isHeld: async () => false,
    keep: () => '',
    operate: async () => {},
  };
  const pace = { thinkMs: 1, patienceMs: 1 };
  const person = new Person(
    { script: SCRIPT, applicant: APPLICANT, userId: null },
    line,
    new Random(1),
    pace,
  );
  let isOver = false;
  void person.over.then(() => {
    isOver = true;
  });
  person.showOffer({ messageId: 'offer', payload: 'yes' });
  await eventually('the end', () => isOver);
});
