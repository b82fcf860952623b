/** Whole conversations through PgBouncer in transaction mode, where connections share sessions (D15, D43). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { openDatabase } from '../../src/ground/postgres/open-database.ts';
import { signingOf } from '../../src/subjects/conversation/uses/neighbours.ts';
import { commandLine } from '../cli/harness.ts';
import { APPROVED } from '../support/applicant.ts';
import { conversationsOf, goodSigning } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { bringsStatements, pooledUrl, skip } from '../support/pgbouncer.ts';

const store = await testDatabase();
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);

const missing = bringsStatements
  ? skip
  : skip || 'PgBouncer has no prepared statements in transaction mode before 1.24';

describe('PgBouncer before the conversations', { skip: missing }, () => {
  it('D15: applicants at once go from the tap to the signature, each step once', async (t) => {
    const url = await pooledUrl(t, store.url, 'transaction');
    const runtime = openDatabase({ connectionString: url }, { max: 8, onError() {}, clock: machineClock });
    t.after(() => runtime.end());
    const { recordEvidence } = signingOf(store.vault);
    const signing = goodSigning({ recordEvidence });
    const { applicantAt, hear, settle, skipPause } = await conversationsOf({ ...store, runtime }, key, {
      signing,
    });
    type Applicant = Awaited<ReturnType<typeof applicantAt>>;
    const some: Applicant[] = [];
    for (let count = 0; count < 6; count += 1) some.push(await applicantAt(APPROVED));
    const together = async (act: (ana: Applicant) => Promise<Parameters<typeof hear>[0]>) => {
      await Promise.all(some.map(async (ana) => hear(await act(ana))));
      await skipPause();
      // As services beside each other do.
      await Promise.all([settle(), settle(), settle()]);
      await settle();
    };
    const first = async (ana: Applicant) => ana.tapEvent((await ana.replies()).at(-1)?.buttons[0]?.payload);
    await together((ana) => ana.tapEvent());
    await together(first);
    await together((ana) => ana.fileEvent());
    for (let step = 0; step < 4; step += 1) await together(first);
    await together((ana) => ana.textEvent('1234'));
    await together((ana) => ana.textEvent('123456'));
    const replies = new Set<number>();
    for (const ana of some) {
      assert.equal(await ana.place(), 'signed service');
      assert.deepEqual((await ana.events()).slice(-2), ['contract.signed', 'conversation.ended signed']);
      replies.add((await ana.replies()).length);
    }
    assert.equal(replies.size, 1);
  });
});
