/**
 * A crash between any two effects of a conversation (D43): at whatever statements processes die, before them or once
 * they took effect, the conversation comes to the same end, with the same replies, events and evidence. Nothing beside
 * the chat is made up: files are read, the income is checked, the PDF is sealed, and the evidence is the program's own.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { TEXTS_ES } from '../../src/domain/conversation/texts/es.ts';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import type { Reader } from '../../src/subjects/documents/reader/reader.ts';
import { finishContract } from '../../src/subjects/signing/uses/finish-contract.ts';
import { Crash, Dying, type Statement } from '../support/dying.ts';
import { untilDone } from '../support/until-done.ts';
import { wholeChat } from '../support/whole-chat.ts';

const whole = await wholeChat();
const { database, context: documents, signing, pdfEvent } = whole;

/** The next process takes up what the last one had in hand. */
const HURRY = `
  WITH due AS (UPDATE conversation_work SET due_at = now(), leased_until = NULL RETURNING id) SELECT id FROM due`;
/** Inputs without a turn: the locks of a session that died live a moment longer, and a turn leaves what is locked. */
const WAITING = 'SELECT FROM conversation_inputs WHERE turn IS NULL LIMIT 1';

/** The reader's process has deaths of its own, and takes half a second: what it told of these bytes, it tells again. */
const told = new Map<string, ReturnType<Reader>>();
const readOnce: Reader = (bytes, type) => {
  const digest = createHash('sha256').update(bytes).digest('hex');
  if (!told.has(digest)) told.set(digest, documents.reader(bytes, type));
  return told.get(digest)!;
};
const EARNINGS = [whole.statement(), whole.statement()];
const DEBTS = [whole.statement()];

/** Each death may cost a code, and an application has five an hour. */
const CODE_ACT = 'last four';
const MOST_AT_CODE = 4;

/** The points at which processes have died, of all: what the person did, the statement, and before or after it. */
class Points {
  readonly seen = new Set<string>();
  readonly died = new Set<string>();
  #act = '';
  #deaths = 0;

  /** What the person does from now on. */
  begin(act: string): void {
    this.#act = act;
    this.#deaths = 0;
  }

  /** A process that lives for a while, and dies at the first point from then on at which none has died. */
  diesAfter(statements: number) {
    return ({ at, text, isEffective }: Statement) => {
      // Within a transaction a death after a statement is the one before the next one.
      for (const when of isEffective ? (['before', 'after'] as const) : (['before'] as const)) {
        const point = `${this.#act}, ${when} ${text}`;
        this.seen.add(point);
        const isOver = this.#act === CODE_ACT && this.#deaths === MOST_AT_CODE;
        if (at <= statements || isOver || this.died.has(point)) continue;
        this.died.add(point);
        this.#deaths += 1;
        return when;
      }
      return null;
    };
  }
}

/** From the tap to the signature. Each process lives for so many statements, and the next one goes on. */
async function outcome(points: Points, statements: number) {
  const begin = async (isFirst: boolean) => {
    const dying = new Dying(points.diesAfter(statements));
    const chat = await whole.over(dying.over(whole.runtime), readOnce);
    if (!isFirst) dying.arm();
    return { ...chat, dying };
  };
  let deaths = 0;
  let service = await begin(true);
  const again = async <T>(act: () => Promise<T>): Promise<T> => {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      deaths += 1;
      service = await begin(false);
      return again(act);
    }
  };
  const ana = await service.ana();
  service.dying.arm();
  const send = async (act: string, ...events: ChannelEvent[]) => {
    points.begin(act);
    // The channel tells it again until it is answered.
    await again(() => service.hear(...events));
    await untilDone(async () => {
      await service.skipPause();
      await again(() => service.settle());
      const hurried = (await database.query(HURRY)).rows.length;
      return hurried === 0 && (await database.query(WAITING)).rows.length === 0;
    });
  };
  const tap = async (act: string) => {
    const button = (await ana.replies()).at(-1)?.buttons[0]?.payload;
    assert.ok(button, `${act}: ${(await ana.replies()).at(-1)?.text}`);
    await send(act, await ana.tapEvent(button));
  };
  const sendFiles = async (act: string, files: Buffer[]) =>
    send(act, ...(await Promise.all(files.map((bytes) => pdfEvent(ana, bytes)))));
  await send('begin', await ana.tapEvent());
  await tap('consent');
  await sendFiles('earnings', EARNINGS);
  await tap('done');
  await send('list', await ana.textEvent('Banco Azul 5.000.000\nNu 700 mil'));
  await sendFiles('debts', DEBTS);
  await tap('checking');
  await tap('go on');
  await tap('accept');
  await send(CODE_ACT, await ana.textEvent(await signing.lastFourOf(toApplicationId(ana.id))));
  await send('code', await ana.textEvent(signing.codes.last));
  const { rows } = await database.query<{ kind: string }>(
    'SELECT kind FROM contract_evidence WHERE application_id = $1 ORDER BY number',
    [ana.id],
  );
  await finishContract(signing.context, toApplicationId(ana.id));
  const verified = await signing.run('contract', 'verify', `${ana.id}`);
  assert.equal(verified.code, 0, verified.out + verified.err);
  // The upkeep takes away what was being made.
  const counted = await database.query(
    `SELECT (SELECT count(*)::integer FROM documents WHERE application_id = $1) AS documents,
       (SELECT count(*)::integer FROM loan_debts WHERE application_id = $1 AND contract_id IS NOT NULL) AS debts,
       (SELECT count(*)::integer FROM income_checks WHERE application_id = $1) AS incomes,
       (SELECT array_agg(state ORDER BY state) FROM loan_contracts
        WHERE application_id = $1 AND state <> 'making') AS contracts`,
    [ana.id],
  );
  const result = {
    place: await ana.place(),
    // The hash of the contract is the application's own. A code that may have gone out before a death is replaced by
    // another one, and the reply says so.
    replies: (await ana.replies()).map(({ text }) =>
      text.replace(`${TEXTS_ES.code_replaced}\n\n`, '').replace(/(?:[0-9a-f]{8} ?){8}/, 'HASH'),
    ),
    events: await ana.events(),
    evidence: rows
      .map(({ kind }) => kind)
      .filter((kind, at, all) => kind !== 'code_sent' || all[at - 1] !== kind),
    ...counted.rows[0],
  };
  return { deaths, result };
}

/** Runs until a conversation has met no new point: two minutes of an idle machine. The suite has some conversations. */
const MOST_RUNS = process.env.CRASHES === 'all' ? Number.POSITIVE_INFINITY : 3;

/** Statements that a process lives for: enough to end the work that the one before it had in hand. */
const LIVES = 25;

it('D43: a conversation comes to the same end wherever processes die', async () => {
  const points = new Points();
  const { result } = await outcome(points, Number.POSITIVE_INFINITY);
  assert.equal(result.place, 'signed service');
  const all = points.seen.size;
  assert.ok(all > 300, `${all} points`);
  let deaths = 0;
  let lives = LIVES;
  for (let round = 1; round <= MOST_RUNS; round += 1) {
    const one = await outcome(points, lives);
    assert.deepEqual(one.result, result, `conversation ${round}, after ${deaths} deaths`);
    deaths += one.deaths;
    if (one.deaths > 0) continue;
    if (lives === 0) break;
    // What is left are the first statements of all.
    lives = 0;
  }
  assert.ok(deaths > 60, `${deaths} deaths`);
  if (MOST_RUNS < Number.POSITIVE_INFINITY) return;
  // Some statements come in the first conversation of a store or a process alone.
  const left = [...points.seen].filter((point) => !points.died.has(point));
  assert.ok(left.length < all / 30, left.join('\n'));
});
