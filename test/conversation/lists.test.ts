/** The lists of operators read what they show, however many conversations there are (docs/upkeep.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ENDS, STEPS } from '../../src/domain/conversation/places.ts';
import {
  type ConversationFilter,
  readConversations,
} from '../../src/subjects/conversation/sql/conversations.ts';
import { testDatabase } from '../support/database.ts';

const { database, runtime } = await testDatabase();
await database.query(
  `
  INSERT INTO conversations (application_id, partner_id, phone_index, place, held_by, status, turn, ended_at)
  SELECT 128 * n, 1, n, p.place, CASE WHEN n % 5 = 0 THEN 'operator' ELSE 'service' END, 'in_review', 1,
    CASE WHEN p.place = ANY ($1::text[]) THEN now() END
  FROM generate_series(1, 60) AS n, LATERAL (SELECT ($2::text[])[n % 13 + 1] AS place) AS p`,
  [ENDS, [...STEPS, ...ENDS]],
);
const all = await listOf({});

async function listOf(filter: Partial<ConversationFilter>) {
  const rows = [];
  for await (const row of readConversations(runtime, { isOpen: null, heldBy: null, place: null, ...filter }))
    rows.push(row);
  return rows;
}

describe('conversation list', () => {
  const filters: Partial<ConversationFilter>[] = [
    ...([true, false, null] as const).flatMap((isOpen) =>
      (['operator', 'service', null] as const).map((heldBy) => ({ isOpen, heldBy })),
    ),
    ...[...STEPS, ...ENDS].map((place) => ({ place })),
    { place: 'signed', isOpen: true },
    { place: 'earnings', isOpen: false },
  ];
  for (const filter of filters) {
    it(`has what fits ${JSON.stringify(filter)}, newest first (D43)`, async () => {
      const { isOpen = null, heldBy = null, place = null } = filter;
      const fitting = all.filter(
        (row) =>
          (isOpen === null || (row.endedAt === null) === isOpen) &&
          (heldBy === null || row.heldBy === heldBy) &&
          (place === null || row.place === place),
      );
      assert.deepEqual(
        (await listOf(filter)).map(({ id }) => id),
        fitting.map(({ id }) => id).toSorted((a, b) => Number(b) - Number(a)),
      );
    });
  }
  it('has all 60', () => assert.equal(all.length, 60));
});
