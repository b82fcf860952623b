/** A decision at the desk is a proposal: it can be undone, and is then applied, or comes back to its maker (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { Application } from '../../src/subjects/desk/routes/forms.ts';
import { MadeProposal, Proposals } from '../../src/subjects/desk/routes/proposal-forms.ts';
import { queueRoutes } from '../../src/subjects/desk/routes/queue.ts';
import { listProposals } from '../../src/subjects/desk/sql/proposals.ts';
import { testDatabase } from '../support/database.ts';
import { planOf } from '../support/plan.ts';
import { moveOpen, proposalDesk } from '../support/proposals.ts';
import { remac } from '../support/remac.ts';

const store = await testDatabase();
const { database } = store;
const desk = await proposalDesk(store, {
  more: (context) => queueRoutes({ ...context, dueHours: 24, terms: async () => null }),
});
const ana = await desk.operator('ana');
const bob = await desk.operator('bob');
const { visitor } = ana;
const APPROVAL = { act: 'approve', reason: 'income confirmed', reason_code: 'income_verified' };
const REJECTION = { act: 'reject', reason: 'forged', reason_code: 'documents_invalid' };

const itemOf = async (id: number) =>
  (await database.query('SELECT state, claimed_by FROM review_items WHERE application_id = $1', [id]))
    .rows[0];
/** What reaches the applicant and the partner. */
const heard = async (id: number) => ({
  messages: (await desk.json('application', 'show', `${id}`)).messages.map(
    ({ type, status }: { type: string; status: string }) => `${type} ${status}`,
  ),
  events: (
    await database.query('SELECT type, reason_code FROM partner_events WHERE application_id = $1', [id])
  ).rows,
});
const claimBy = (who: typeof visitor, id: number) => who.ask('POST', `/api/applications/${id}/claim`, {});
const claim = (id: number, operatorId: number) =>
  database.query('SELECT take_claim($1, $2, 120)', [id, operatorId]);

describe('a proposal', () => {
  it('keeps others from a claim, by the id and as the next one, until it has ended (D48)', async () => {
    const [id] = await desk.register();
    const { id: proposal } = await desk.proposed(visitor, id!, APPROVAL);
    const refused = await claimBy(bob.visitor, id!);
    assert.equal(refused.status, 409);
    assert.deepEqual(
      [refused.body.by, refused.body.act, refused.body.proposal],
      [{ id: ana.id, login: 'ana' }, 'approve', proposal],
    );
    for (const body of [{}, { state: 'proposed' }]) {
      const next = await bob.visitor.ask('POST', '/api/review-queue/claim-next', body);
      assert.deepEqual([next.status, next.body.id], [200, null]);
    }
    assert.equal((await itemOf(id!)).claimed_by, null);
    assert.equal((await claimBy(visitor, id!)).status, 200, 'who can undo it');
    await desk.act(visitor, proposal, 'undo');
    await visitor.ask('POST', `/api/applications/${id}/release`, {});
    assert.equal((await claimBy(bob.visitor, id!)).status, 200);
    await database.query('DELETE FROM review_items');
  });

  it('is heard by nobody until it is applied, and then moves the application (D40, D41, D48)', async () => {
    const [id] = await desk.register();
    const before = await heard(id!);
    const made = await desk.propose(visitor, id!, APPROVAL);
    assert.equal(made.status, 200);
    assert.ok(Value.Check(MadeProposal, made.body), JSON.stringify(made.body));
    assert.deepEqual(made.body.by, { id: ana.id, login: 'ana' });
    assert.equal(made.body.needs_second, null);
    assert.equal(Date.parse(made.body.apply_at) - Date.parse(made.body.at), 600_000);
    assert.equal(await desk.applyOne(), null, 'its time to undo is not over');
    assert.deepEqual(await heard(id!), before);
    assert.equal(await desk.statusOf(id!), 'in_review');
    assert.equal((await itemOf(id!)).state, 'proposed');

    assert.deepEqual(await desk.applyAll(), ['applied']);
    assert.equal(await desk.statusOf(id!), 'pending_signature');
    const after = await heard(id!);
    assert.deepEqual(after.events, [{ type: 'application.status_changed', reason_code: 'income_verified' }]);
    assert.notDeepEqual(after.messages, before.messages);
    assert.equal(await itemOf(id!), undefined);
    const page = (await visitor.ask('GET', `/api/applications/${id}`)).body;
    assert.ok(Value.Check(Application, page), JSON.stringify([...Value.Errors(Application, page)]));
    assert.equal(page.proposal?.state, 'applied');
    const { act, by, reason, reason_code, second } = page.timeline.at(-1)!;
    assert.deepEqual(
      { act, by, reason, reason_code, second },
      { ...APPROVAL, by: { way: 'operator', id: ana.id, login: 'ana' }, second: null },
    );
    const acts = await desk.json('audit', 'list', '--application', `${id}`);
    assert.deepEqual(
      acts.map((one: { by: string; act: string; target: string }) => [one.by, one.act, one.target]),
      [[`operator ${ana.id}`, 'application approve', `proposal ${made.body.id}`]],
    );
  });

  it('says at each sending what is left to undo by the store’s clock, and what became of it (D39, D48)', async () => {
    const [id] = await desk.register();
    const headers = { 'Idempotency-Key': 'left', 'If-Match': `"${await desk.lastEvent(id!)}"` };
    const send = async () => (await desk.propose(visitor, id!, APPROVAL, headers)).body;
    const first = await send();
    const leftOf = ({ apply_at, now }: { apply_at: string; now: string }) =>
      Date.parse(apply_at) - Date.parse(now);
    assert.ok(leftOf(first) > 0 && leftOf(first) <= 600_000, `${leftOf(first)}`);
    await moveOpen(store, -540_000);
    const again = await send();
    assert.equal(again.id, first.id);
    assert.ok(leftOf(again) <= leftOf(first) - 540_000, `${leftOf(again)}`);
    await desk.applyAll();
    const last = await send();
    assert.deepEqual([last.id, last.state], [first.id, 'applied']);
    assert.ok(leftOf(last) < 0);
  });

  it('is undone by its maker alone, who reviews the application again', async () => {
    const [id] = await desk.register();
    const { id: proposal } = await desk.proposed(visitor, id!);
    assert.equal((await desk.act(bob.visitor, proposal, 'undo')).status, 403);
    const undone = await desk.act(visitor, proposal, 'undo');
    assert.deepEqual([undone.status, undone.body.state], [200, 'undone']);
    assert.deepEqual(await itemOf(id!), { state: 'waiting', claimed_by: ana.id });
    assert.deepEqual(await desk.applyAll(), []);
    assert.equal(await desk.statusOf(id!), 'in_review');
    await desk.proposed(visitor, id!, REJECTION);
    assert.deepEqual(await desk.applyAll(), ['applied']);
    assert.equal(await desk.statusOf(id!), 'rejected');
    assert.equal((await desk.act(visitor, 999_999, 'undo')).status, 404);
  });

  it('is the only one of its application: 409 tells who proposed what', async () => {
    const [id] = await desk.register();
    const { id: proposal } = await desk.proposed(visitor, id!);
    for (const one of [bob.visitor, visitor]) {
      const { status, body } = await desk.propose(one, id!, REJECTION);
      assert.equal(status, 409);
      assert.deepEqual(
        [body.by, body.act, body.proposal],
        [{ id: ana.id, login: 'ana' }, 'approve', proposal],
      );
    }
    await desk.applyAll();
  });

  it('needs the claim, which it takes where nobody has it: 409 tells who reviews the application', async () => {
    const [id] = await desk.register();
    await claim(id!, bob.id);
    const { status, body } = await desk.propose(visitor, id!);
    assert.equal(status, 409);
    assert.deepEqual(body.by, { id: bob.id, login: 'bob' });
    assert.ok(Date.parse(body.until) > Date.now());
    assert.deepEqual(
      (await database.query('SELECT FROM open_proposals WHERE application_id = $1', [id])).rows,
      [],
    );
    await database.query(
      "UPDATE review_items SET claimed_until = now() - interval '1 second' WHERE application_id = $1",
      [id],
    );
    await desk.proposed(visitor, id!);
    assert.equal((await desk.applyAll()).length, 1);
  });

  it('of an application that is not in review needs no claim', async () => {
    const [id] = await desk.register();
    await desk.json('application', 'approve', `${id}`, '--reason', 'x');
    await desk.proposed(visitor, id!, REJECTION);
    assert.deepEqual(await desk.applyAll(), ['applied']);
    assert.equal(await desk.statusOf(id!), 'rejected');
  });

  it('says what it was decided on: 428 without, 412 with who did what when', async () => {
    const [id] = await desk.register();
    const path = `/api/applications/${id}/proposals`;
    assert.equal((await visitor.ask('POST', path, APPROVAL)).status, 428);
    const stale = await desk.lastEvent(id!);
    await desk.json('application', 'approve', `${id}`, '--reason', 'x', '--as', 'carla');
    const byCommand = await visitor.ask('POST', path, REJECTION, { 'If-Match': `"${stale}"` });
    assert.equal(byCommand.status, 412);
    assert.deepEqual([byCommand.body.by, byCommand.body.act], [{ id: null, login: 'carla' }, 'approve']);
    const shown = await desk.lastEvent(id!);
    await desk.proposed(bob.visitor, id!, REJECTION);
    await desk.applyAll();
    const byOperator = await visitor.ask('POST', path, REJECTION, { 'If-Match': `"${shown}"` });
    assert.equal(byOperator.status, 412);
    assert.deepEqual([byOperator.body.by, byOperator.body.act], [{ id: bob.id, login: 'bob' }, 'reject']);
    assert.ok(Math.abs(Date.parse(byOperator.body.at) - Date.now()) < 120_000);
  });

  it('is refused where the act is illegal, its form is wrong, or there is no such application', async () => {
    const [id] = await desk.register();
    for (const [body, status] of [
      [{ act: 'reject', reason: 'x', reason_code: 'contract_withdrawn' }, 400],
      [{ act: 'approve', reason: 'x', reason_code: 'suspected_fraud' }, 400],
      [{ act: 'approve', reason: 'two\nlines' }, 400],
      [{ act: 'approve', reason: ' ' }, 400],
      [{ act: 'approve', reason: 'x', override: true }, 400],
      [{ act: 'disburse', reason: 'x' }, 409],
      [{ act: 'pay', reason: 'x' }, 400],
    ] as const) {
      const answer = await desk.propose(visitor, id!, body);
      assert.equal(answer.status, status, JSON.stringify([body, answer.body]));
    }
    await database.query("SELECT set_item_state($1, 'pended')", [id]);
    const pended = await desk.propose(visitor, id!);
    assert.deepEqual([pended.status, pended.body.error], [409, 'it is pended: resume it first']);
    assert.equal((await itemOf(id!)).state, 'pended');
    for (const unknown of [999_999_999, 'x']) {
      const { status } = await visitor.ask('POST', `/api/applications/${unknown}/proposals`, APPROVAL, {
        'If-Match': '"0"',
      });
      assert.equal(status, 404);
    }
  });
});

describe('a proposal that became illegal meanwhile', () => {
  it('comes back to its maker with the reason, and is listed there', async () => {
    const [id] = await desk.register();
    const { id: proposal } = await desk.proposed(visitor, id!);
    await desk.json('application', 'reject', `${id}`, '--reason', 'x', '--as', 'carla');
    assert.deepEqual(await desk.applyAll(), ['returned']);
    const { body } = await visitor.ask('GET', '/api/proposals?list=mine');
    assert.ok(Value.Check(Proposals, body));
    const back = body.proposals.find((one: { id: number }) => one.id === proposal);
    assert.deepEqual(
      [back?.state, back?.outcome, back?.returned_for],
      ['returned', 'carla did reject meanwhile', 'changed'],
    );
    assert.equal(await desk.statusOf(id!), 'rejected');
  });

  it('goes back to the queue where its application is still in review', async () => {
    const [id] = await desk.register();
    await desk.proposed(visitor, id!);
    await database.query(
      "INSERT INTO application_events (application_id, actor, action, from_status, to_status, reason) VALUES ($1, 'carla', 'free_phone', 'in_review', 'in_review', 'x')",
      [id],
    );
    assert.deepEqual(await desk.applyAll(), ['returned']);
    assert.deepEqual(await itemOf(id!), { state: 'waiting', claimed_by: null });
    await desk.proposed(bob.visitor, id!);
    assert.deepEqual(await desk.applyAll(), ['applied']);
    const mine = (await visitor.ask('GET', '/api/proposals?list=mine')).body.proposals;
    assert.ok(
      !mine.some((one: { application_id: number }) => one.application_id === id),
      'a newer one stands',
    );
  });

  it('is not applied where its maker is disabled or may not decide any more', async () => {
    for (const change of ['disabled_at = now()', "role = 'viewer'"]) {
      const dora = await desk.operator(`dora${change.length}`);
      const [id] = await desk.register();
      await desk.proposed(dora.visitor, id!);
      await database.query(`UPDATE operators SET ${change} WHERE id = $1`, [dora.id]);
      await remac(store);
      assert.deepEqual(await desk.applyAll(), ['returned']);
      assert.equal(await desk.statusOf(id!), 'in_review');
      const { state, outcome, returned_for } = await desk.proposal(visitor, id!);
      assert.deepEqual(
        [state, outcome, returned_for],
        ['returned', 'its maker may not decide any more', 'maker'],
      );
    }
  });

  it('of an application that is deleted meanwhile comes back', async () => {
    const [id] = await desk.register();
    const { id: proposal } = await desk.proposed(visitor, id!);
    for (const table of ['batches WHERE id', 'review_queue WHERE batch_id'])
      await database.query(`DELETE FROM ${table} = batch_of($1)`, [id]);
    assert.deepEqual(await desk.applyAll(), ['returned']);
    const { body } = await visitor.ask('GET', '/api/proposals?list=mine');
    const back = body.proposals.find((one: { id: number }) => one.id === proposal);
    assert.deepEqual([back.state, back.returned_for], ['returned', 'deleted']);
  });

  it('of a person who was erased meanwhile comes back, without its free text', async () => {
    const [id] = await desk.register(1, { id_number: '7071727374' });
    await desk.proposed(visitor, id!, { act: 'approve', reason: 'she is a nurse' });
    await desk.json('subject', 'erase', '--id-number', '7071727374', '--reason', 'asked', '--close', '--yes');
    assert.deepEqual(await desk.applyAll(), ['returned']);
    const { state, reason, outcome } = await desk.proposal(visitor, id!);
    assert.deepEqual([state, reason], ['returned', 'erased']);
    assert.match(outcome, /did reject meanwhile/);
  });
});

describe('the document of the API', () => {
  it('names the headers of a proposal', async () => {
    const { paths } = (await visitor.ask('GET', '/api/openapi.json')).body;
    const { parameters } = paths['/api/applications/{id}/proposals'].post;
    const headers = parameters.filter((one: { in: string }) => one.in === 'header');
    assert.deepEqual(
      headers.map((one: { name: string; required: boolean }) => [one.name, one.required]),
      [
        ['Operator-Id', false],
        ['Operator-Active', false],
        ['If-Match', true],
        ['Idempotency-Key', false],
      ],
    );
  });
});

describe('the lists of proposals', () => {
  it('go on by the cursor, and refuse another one', async () => {
    const eva = await desk.operator('eva');
    const ids = await desk.register(5);
    for (const id of ids) await desk.proposed(eva.visitor, id);
    const seen: number[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const query: string = next === '' ? '' : `&cursor=${next}`;
      const { body } = await eva.visitor.ask('GET', `/api/proposals?list=mine&limit=2${query}`);
      seen.push(...body.proposals.map((one: { application_id: number }) => one.application_id));
      next = body.next;
    }
    assert.deepEqual(seen, ids.toReversed());
    await desk.applyAll();
    assert.deepEqual((await eva.visitor.ask('GET', '/api/proposals?list=mine')).body.proposals, []);
    assert.equal((await eva.visitor.ask('GET', '/api/proposals?list=ended')).body.proposals.length, 5);
    assert.equal((await eva.visitor.ask('GET', '/api/proposals?list=mine&cursor=x')).status, 400);
  });

  it('have what came back apart, the last one first, however much else is open (D48)', async () => {
    const nina = await desk.operator('nina', 'reviewer', null);
    const list = async (query: string) =>
      (await nina.visitor.ask('GET', `/api/proposals?list=${query}`)).body as {
        proposals: { id: number }[];
        next: string | null;
      };
    const ids = await desk.register(54);
    const made: number[] = [];
    for (const id of ids) made.push((await desk.proposed(nina.visitor, id)).id);
    const declined = [made[2]!, made[0]!, made[1]!];
    for (const id of declined) await desk.act(ana.visitor, id, 'decline', { reason: 'no' });
    assert.ok(!(await list('mine')).proposals.some(({ id }) => declined.includes(id)));
    const seen: number[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const page = await list(`came_back&limit=1${next === '' ? '' : `&cursor=${next}`}`);
      seen.push(...page.proposals.map(({ id }) => id));
      next = page.next;
    }
    assert.deepEqual(seen, declined.toReversed());
    await database.query("UPDATE proposals SET ended_at = now() - interval '8 days' WHERE id = $1", [
      made[0],
    ]);
    await desk.proposed(nina.visitor, ids[1]!);
    const told = (await list('came_back')).proposals.map(({ id }) => id);
    assert.deepEqual(told, [made[2]], 'neither what is old nor what has a newer one');
  });

  it('read what came back in its order by an index, and sort nothing for it', async () => {
    for (const after of [null, 7]) {
      const plan = await planOf(database, (on) =>
        listProposals(on, 'came_back', { operatorId: 1, after, limit: 51 }),
      );
      assert.match(plan, /Index Scan Backward using proposals_came_back(_\d+)? on proposals(_\d+)? p/, plan);
      assert.match(plan, /Index Scan Backward using proposals_came_back_to_second(_\d+)? on/, plan);
      // The two orders are merged.
      assert.doesNotMatch(plan, /-> +(Incremental )?Sort\b/, plan);
    }
  });
});
