/** The form of statements that a Citus cluster takes, checked without one. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readSources } from '../support/sources.ts';

/** Functions that Citus refuses in a statement that changes rows, unless a subquery computes them first. */
const VOLATILE = /\b(clock_timestamp|random|gen_random_uuid)\(/;
/** What computes them first. */
const COMPUTED_FIRST = /\(\s*SELECT\b(?:[^()]|\([^()]*\))*\)/g;

it('a statement that deletes or updates rows has times that the statement before or a subquery computed', () => {
  const statements = readSources('src').flatMap(({ path, text }) =>
    [...text.matchAll(/(['"`])\s*((?:DELETE|UPDATE)\s[^'"`]*?(?:'[^'`]*'[^'`]*?)*)\1/g)].map(
      ([, , statement]) => ({
        path,
        statement: statement!,
      }),
    ),
  );
  assert.ok(statements.length > 20, `${statements.length}`);
  const refused = statements.filter(({ statement }) =>
    VOLATILE.test(statement.replaceAll(COMPUTED_FIRST, '')),
  );
  assert.deepEqual(refused, []);
});
