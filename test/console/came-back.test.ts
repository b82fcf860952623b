/** However many proposals come back at once, the page stays reachable beside them (D48). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { cameBack } from '../../console/src/decide/came-back.ts';
import type { ProposalReply } from '../../src/subjects/desk/routes/proposal-forms.ts';

/** The last one first, a second after each other. */
const ended = (count: number) =>
  Array.from({ length: count }, (_, n) => {
    const id = count - n;
    return { id, ended_at: `2026-03-02T10:00:${String(id).padStart(2, '0')}+00:00` } as ProposalReply;
  });
const at = (id: number) => ended(id)[0]!.ended_at!;
const NONE: ReadonlySet<number> = new Set();

for (const { name, count, next, before, dismissed, shown, more } of [
  { name: 'nothing', count: 0, next: null, before: '', dismissed: NONE, shown: [], more: null },
  { name: 'three', count: 3, next: null, before: '', dismissed: NONE, shown: [3, 2, 1], more: null },
  { name: 'many', count: 25, next: null, before: '', dismissed: NONE, shown: [25, 24, 23], more: '22' },
  {
    name: 'a full page',
    count: 50,
    next: 'p1',
    before: '',
    dismissed: NONE,
    shown: [50, 49, 48],
    more: '47+',
  },
  {
    name: 'what is new',
    count: 50,
    next: 'p1',
    before: at(48),
    dismissed: NONE,
    shown: [50, 49],
    more: null,
  },
  { name: 'nothing new', count: 50, next: 'p1', before: at(50), dismissed: NONE, shown: [], more: null },
  {
    name: 'the rest',
    count: 5,
    next: null,
    before: '',
    dismissed: new Set([5]),
    shown: [4, 3, 2],
    more: '1',
  },
]) {
  it(`of ${name} that came back, three are shown at most and the others are counted`, () => {
    const told = cameBack({ proposals: ended(count), next }, before, dismissed);
    assert.deepEqual([told.shown.map(({ id }) => id), told.more], [shown, more]);
  });
}
