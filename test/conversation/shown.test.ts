/** Nobody answers what was not shown: the offer and the contract, and the evidence of both (D43, D45, D46). */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { NewEvidence } from '../../src/domain/evidence/evidence.ts';
import { databaseTime } from '../../src/ground/postgres/database-time.ts';
import { commandLine } from '../cli/harness.ts';
import { APPROVED } from '../support/applicant.ts';
import { conversationsOf, goodSigning, performDue, SHA } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { untilDone } from '../support/until-done.ts';

const store = await testDatabase();
const { database } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const recorded: NewEvidence[] = [];
const signing = goodSigning({
  recordEvidence: async (_session, some) => void recorded.push(...some),
});
const { hear, settle, deliver, applicantAt, context, works } = await conversationsOf(store, key, { signing });
const { takeTurns } = await import('../../src/subjects/conversation/uses/turns.ts');

type Applicant = Awaited<ReturnType<typeof applicantAt>>;
const lastReply = async (ana: Applicant) => (await ana.replies()).at(-1);
const evidenceOf = ({ id }: Applicant) =>
  recorded.flatMap(({ applicationId, entries }) => (applicationId === id ? entries : []));

async function at(place: 'summary' | 'contract'): Promise<Applicant> {
  const ana = await applicantAt(APPROVED);
  await ana.tap();
  await ana.choose(0);
  await ana.sendFile();
  await ana.choose(0);
  await ana.choose(0);
  if (place === 'contract') await ana.choose(0);
  return ana;
}

/** Everything up to the work that `answer` asks for; its end and what the person writes are one turn. */
async function writesMeanwhile(ana: Applicant, answer: () => Promise<unknown>, text: string): Promise<void> {
  await answer();
  await takeTurns(context);
  await performDue(works, 'others');
  await hear(await ana.textEvent(text));
  await takeTurns(context);
}

const tapFirst = async (ana: Applicant) => {
  const payload = (await lastReply(ana))?.buttons[0]?.payload;
  await hear(await ana.tapEvent(payload));
};

// `rules/next.test.ts` has more words.
for (const text of ['acepto', 'hola']) {
  it(`D46: "${text}", written while the contract is made, answers nothing, and the contract is shown`, async () => {
    const ana = await at('summary');
    await writesMeanwhile(ana, () => tapFirst(ana), text);
    await settle();
    assert.equal(await ana.place(), 'contract service');
    const reply = await lastReply(ana);
    assert.equal(reply?.document?.mediaId, 'media.contract');
    assert.match(reply?.text ?? '', /huella/);
    assert.ok(!evidenceOf(ana).some(({ kind }) => kind === 'contract_accepted'));
    await ana.choose(0);
    assert.equal(await ana.place(), 'code service');
  });
}

it('D45: a "sí" that came before the offer accepts none of its costs, and the offer is shown whole', async () => {
  const ana = await applicantAt(APPROVED);
  await ana.tap();
  await ana.choose(0);
  await ana.sendFile();
  await ana.choose(0);
  // The income is checked, then the offer is computed.
  await tapFirst(ana);
  await takeTurns(context);
  await performDue(works, 'others');
  await takeTurns(context);
  await writesMeanwhile(ana, async () => {}, 'sí');
  await settle();
  assert.equal(await ana.place(), 'summary service');
  assert.match((await lastReply(ana))?.text ?? '', /8\.000\.000[\s\S]*Tasa efectiva anual/);
  assert.ok(!evidenceOf(ana).some(({ kind }) => kind === 'offer_accepted'));
});

it('D46: a withdrawal and a wish for a person count also in the turn that shows the contract', async () => {
  for (const [text, place] of [
    ['me arrepentí', 'withdrawn service'],
    ['asesor', 'contract operator'],
  ] as const) {
    const ana = await at('summary');
    await writesMeanwhile(ana, () => tapFirst(ana), text);
    await settle();
    assert.equal(await ana.place(), place);
  }
});

it('D46: the evidence has the hash of each text that was shown, and of the contract', async () => {
  const ana = await at('contract');
  await ana.choose(0);
  const texts = (await ana.replies()).map(({ text }) => hash('sha256', text));
  const entries = evidenceOf(ana);
  assert.deepEqual(
    entries.map(({ kind }) => kind),
    [
      ...['data_consent_asked', 'data_consent_given', 'offer_shown', 'offer_accepted', 'contract_shown'],
      'contract_accepted',
    ],
  );
  const shownOf = (kind: string) => entries.find((one) => one.kind === kind)?.facts;
  assert.equal(shownOf('data_consent_asked')?.sha256, texts[0]);
  assert.ok(texts.includes(shownOf('offer_shown')?.sha256 as string));
  assert.deepEqual([shownOf('contract_shown')?.sha256, shownOf('contract_accepted')?.sha256], [SHA, SHA]);
  assert.equal(texts.at(-2), shownOf('contract_shown')?.text_sha256);
});

it('D46: who signs reads until when they may withdraw, and with which word', async () => {
  const ana = await at('contract');
  await ana.choose(0);
  await ana.write('1234');
  await ana.write('123456');
  // The newest one is the signed contract.
  assert.match(
    (await ana.replies()).at(-2)?.text ?? '',
    /hasta el 30 de noviembre de 2026: escribe RETRACTO/,
  );
  await ana.write('RETRACTO');
  assert.equal(await ana.place(), 'withdrawn service');
});

it('D43, D46: a signature is found for as long as it may be withdrawn, also 84 days after the end', async () => {
  const hour = 3_600_000;
  const now = (await databaseTime(database)).getTime();
  for (const [until, place] of [
    [now + hour, 'withdrawn service'],
    [now - hour, 'signed service'],
  ] as const) {
    const ana = await at('contract');
    await ana.choose(0);
    await ana.write('1234');
    await ana.write('123456');
    assert.equal((await ana.row()).state.withdrawableUntilMs, Date.parse('2026-12-01T05:00:00Z'));
    await database.query(
      `UPDATE conversations SET ended_at = now() - interval '84 days',
         state = jsonb_set(state, '{withdrawableUntilMs}', to_jsonb($2::bigint)) WHERE application_id = $1`,
      [ana.id, until],
    );
    await ana.write('RETRACTO');
    assert.equal(await ana.place(), place);
  }
});

it('D46: what the closed window keeps back is no evidence of anything shown', async () => {
  const ana = await at('summary');
  await tapFirst(ana);
  await takeTurns(context);
  await database.query(
    "UPDATE conversations SET heard_at = now() - interval '25 hours' WHERE application_id = $1",
    [ana.id],
  );
  await settle();
  assert.ok(!evidenceOf(ana).some(({ kind }) => kind === 'contract_shown'));
  await ana.write('acepto');
  assert.equal(await ana.place(), 'contract service');
  assert.equal((await lastReply(ana))?.document?.mediaId, 'media.contract');
  assert.equal(evidenceOf(ana).filter(({ kind }) => kind === 'contract_shown').length, 1);
});

/** What the channel may have made of the reply that asks. */
const UNTOLD = {
  failed: "status = 'failed', reason = '131053', sent_at = NULL, delivered_at = NULL",
  uncertain: "status = 'uncertain', sent_at = NULL, delivered_at = NULL",
  'cancelled, because the window closed':
    "status = 'cancelled', reason = 'window_closed', sent_at = NULL, delivered_at = NULL",
  'taken, and then told as not delivered': "status = 'failed', reason = '131026', delivered_at = NULL",
} as const;
/** Such a reply comes by itself. */
const COMING = {
  'still waiting': "status = 'queued', sent_at = NULL, delivered_at = NULL",
  'on its way': "status = 'sending', sent_at = NULL, delivered_at = NULL",
} as const;
const QUESTIONS = {
  data_consent: { act: 'data_consent_given', word: 'sí', next: 'earnings service' },
  summary: { act: 'offer_accepted', word: 'sí', next: 'contract service' },
  contract: { act: 'contract_accepted', word: 'acepto', next: 'code service' },
} as const;

type Place = keyof typeof QUESTIONS;
/** What becomes of a reply is the same at each place (`rules/next.test.ts` has the places): all at one, one at all. */
const isTried = (place: Place, fate: string, way: 'button' | 'word' = 'button') =>
  place === 'contract' || (fate === UNTOLD.failed && way === 'word') || fate === COMING['on its way'];

/** The newest reply is the question of a place, and this became of it. */
async function asked(place: Place, fate: string): Promise<Applicant> {
  const ana = place === 'data_consent' ? await applicantAt(APPROVED) : await at(place);
  if (place === 'data_consent') await ana.tap();
  await setNewest(ana, fate);
  return ana;
}

const setNewest = async ({ id }: Applicant, fate: string) =>
  void (await database.query(
    `UPDATE replies SET ${fate} WHERE application_id = $1
       AND turn = (SELECT max(turn) FROM replies WHERE application_id = $1)`,
    [id],
  ));

/** Turns and work until nothing is left to do, while the channel takes nothing. */
async function settleUntaken(): Promise<void> {
  await untilDone(async () => {
    const turns = await takeTurns(context);
    const done = await performDue(works, 'others');
    return turns + done === 0;
  });
}

for (const [place, { act, word, next }] of Object.entries(QUESTIONS) as [
  Place,
  (typeof QUESTIONS)[Place],
][]) {
  for (const [name, fate] of Object.entries(UNTOLD)) {
    for (const way of ['button', 'word'] as const) {
      if (!isTried(place, fate, way)) continue;
      it(`D46: at ${place} no ${way} accepts a question whose reply is ${name}, and it is shown again`, async () => {
        const ana = await asked(place, fate);
        const before = (await ana.replies()).length;
        const payload = (await lastReply(ana))?.buttons[0]?.payload;
        const early = new Date((await databaseTime(database)).getTime() - 5_000);
        await hear(way === 'button' ? await ana.tapEvent(payload, early) : await ana.textEvent(word));
        await settleUntaken();
        assert.equal(await ana.place(), `${place} service`);
        assert.ok(!evidenceOf(ana).some(({ kind }) => kind === act));
        const replies = await ana.replies();
        assert.equal(replies.length, before + 1);
        assert.deepEqual(replies.at(-1)?.document, replies.at(-2)?.document);
        await deliver();
        await ana.choose(0);
        assert.equal(await ana.place(), next);
        assert.equal(evidenceOf(ana).filter(({ kind }) => kind === act).length, 1);
      });
    }
  }
}

for (const [place, { act, word, next }] of Object.entries(QUESTIONS) as [
  Place,
  (typeof QUESTIONS)[Place],
][]) {
  for (const [name, fate] of Object.entries(COMING)) {
    if (!isTried(place, fate)) continue;
    it(`D46: at ${place} the button of a question accepts it also where its reply is ${name}`, async () => {
      const ana = await asked(place, fate);
      await hear(await ana.tapEvent((await lastReply(ana))?.buttons[0]?.payload));
      await settleUntaken();
      assert.equal(await ana.place(), next);
      assert.equal(evidenceOf(ana).filter(({ kind }) => kind === act).length, 1);
    });

    it(`D46: at ${place} no word accepts a question whose reply is ${name}, and it is answered`, async () => {
      const ana = await asked(place, fate);
      const before = await ana.replies();
      await hear(await ana.textEvent(word));
      await settleUntaken();
      assert.equal(await ana.place(), `${place} service`);
      assert.ok(!evidenceOf(ana).some(({ kind }) => kind === act));
      // What has not gone out comes after the word. What may have come before it is asked again.
      const replies = await ana.replies();
      assert.equal(replies.length, before.length + (name === 'on its way' ? 1 : 0));
      await database.query(
        "UPDATE replies SET status = 'delivered', delivered_at = now() - interval '2 seconds' WHERE application_id = $1",
        [ana.id],
      );
      await ana.choose(0);
      assert.equal(await ana.place(), next);
    });
  }
}

it('D45: the button under an offer accepts no later offer, which may have other costs', async () => {
  const ana = await at('summary');
  const old = (await lastReply(ana))?.buttons[0]?.payload;
  await setNewest(ana, UNTOLD.failed);
  await ana.write('sí');
  assert.match((await lastReply(ana))?.text ?? '', /8\.000\.000/);
  await setNewest(ana, COMING['on its way']);
  await hear(await ana.tapEvent(old));
  await settleUntaken();
  assert.equal(await ana.place(), 'summary service');
  assert.ok(!evidenceOf(ana).some(({ kind }) => kind === 'offer_accepted'));
});

it('D43: what comes while the contract is made asks for no second one', async () => {
  const ana = await at('summary');
  const [button] = (await lastReply(ana))?.buttons ?? [];
  await hear(await ana.tapEvent(button?.payload));
  await takeTurns(context);
  const before = (await ana.replies()).length;
  // The newest reply fails meanwhile, and the person taps again.
  await setNewest(ana, UNTOLD.failed);
  await hear(await ana.tapEvent(button?.payload));
  await hear(await ana.textEvent('hola'));
  await settle();
  assert.equal((await ana.replies()).length, before + 1);
  assert.equal((await lastReply(ana))?.document?.mediaId, 'media.contract');
});

it('D46: a contract that arrives at last, by what the channel tells, is accepted', async () => {
  const ana = await asked('contract', UNTOLD.uncertain);
  await setNewest(ana, "status = 'delivered', delivered_at = now()");
  await ana.choose(0);
  assert.equal(await ana.place(), 'code service');
});

it('D46: the buttons of a reminder of the contract accept none that was not told', async () => {
  const ana = await asked('contract', UNTOLD.uncertain);
  await ana.write('¿qué es esto?');
  await ana.choose(0);
  assert.equal(await ana.place(), 'contract service');
  assert.equal((await lastReply(ana))?.document?.mediaId, 'media.contract');
});

const TAKEN = "status = 'accepted', sent_at = now(), delivered_at = NULL";

// A word and the button of a reminder prove nothing by themselves, at each place alike (`rules/next.test.ts`).
describe('D46: at the contract, which the phone may not have yet', () => {
  const { act, word, next } = QUESTIONS.contract;
  const isAsked = async (ana: Applicant) => {
    assert.equal(await ana.place(), 'contract service');
    assert.ok(!evidenceOf(ana).some(({ kind }) => kind === act));
  };

  it('a word accepts nothing until the channel has told that the question arrived', async () => {
    const ana = await asked('contract', TAKEN);
    await ana.write(word);
    await isAsked(ana);
    // It was told whole again, and that has arrived.
    await ana.write(word);
    assert.equal(await ana.place(), next);
    assert.equal(evidenceOf(ana).filter(({ kind }) => kind === act).length, 1);
  });

  it('nothing but its own button accepts a question in the second in which it arrives', async () => {
    const ana = await asked('contract', "status = 'delivered', delivered_at = date_trunc('second', now())");
    const { rows } = await database.query<{ at: Date }>(
      'SELECT delivered_at AS at FROM replies WHERE application_id = $1 ORDER BY turn DESC LIMIT 1',
      [ana.id],
    );
    await hear(await ana.textEvent(word, rows[0]!.at));
    await settleUntaken();
    await isAsked(ana);
  });

  it('a word after a reminder accepts no question', async () => {
    const ana = await asked('contract', TAKEN);
    await ana.tap();
    await ana.write(word);
    assert.equal(await ana.place(), 'contract service');
    await ana.write(word);
    assert.equal(await ana.place(), next);
  });

  for (const [name, fate] of [
    ['taken', TAKEN],
    ['delivered', "status = 'delivered', delivered_at = now()"],
  ] as const) {
    it(`a word that was written before the question was ${name} accepts nothing`, async () => {
      const early = new Date((await databaseTime(database)).getTime() - 1_000);
      const ana = await asked('contract', fate);
      await hear(await ana.textEvent(word, early));
      await settleUntaken();
      await isAsked(ana);
    });
  }

  it('the button of a reminder accepts no question', async () => {
    const ana = await asked('contract', TAKEN);
    const remind = async () => {
      await ana.tap();
      await ana.choose(0);
    };
    await remind();
    assert.equal(await ana.place(), 'contract service');
    assert.match((await lastReply(ana))?.text ?? '', /huella/);
    // This one has come.
    await remind();
    assert.equal(await ana.place(), next);
  });
});

it('D46: a contract that the channel takes and never delivers is not signed, and is shown again', async () => {
  const ana = await at('contract');
  const { rows } = await database.query<{ turn: number }>(
    'SELECT max(turn) AS turn FROM replies WHERE application_id = $1',
    [ana.id],
  );
  await ana.choose(0);
  await ana.write('1234');
  await database.query(
    "UPDATE replies SET status = 'failed', reason = '131026', delivered_at = NULL WHERE application_id = $1 AND turn = $2",
    [ana.id, rows[0]?.turn],
  );
  await ana.write('123456');
  assert.equal(await ana.place(), 'contract service');
  assert.equal((await lastReply(ana))?.document?.mediaId, 'media.contract');
  await ana.choose(0);
  await ana.write('1234');
  await ana.write('123456');
  assert.equal(await ana.place(), 'signed service');
});

it('D43: a contract that does not reach the person again and again goes to an operator', async () => {
  const ana = await asked('contract', UNTOLD.failed);
  for (let tries = 0; tries < 4; tries += 1) {
    await hear(await ana.textEvent('acepto'));
    await settleUntaken();
    assert.equal(await ana.place(), 'contract service');
    await setNewest(ana, UNTOLD.failed);
  }
  await hear(await ana.textEvent('acepto'));
  await settleUntaken();
  assert.deepEqual(
    [await ana.place(), (await ana.row()).state.handedOver],
    ['contract operator', 'not_shown'],
  );
});

it('D46: what is written while a code is on its way is compared with nothing', async () => {
  const compared: string[] = [];
  const checkAnswer = signing.checkAnswer;
  signing.checkAnswer = async (session, id, question, text) => {
    compared.push(question);
    return checkAnswer(session, id, question, text);
  };
  try {
    const ana = await at('contract');
    await ana.choose(0);
    await hear(await ana.textEvent('1234'));
    await takeTurns(context);
    await hear(await ana.textEvent('123456'));
    await takeTurns(context);
    assert.deepEqual([await ana.place(), compared], ['code service', ['last_four']]);
  } finally {
    signing.checkAnswer = checkAnswer;
  }
});

it('D53: the evidence begins with the hash of what the partner told about the consent, once; and without it where nothing was told', async () => {
  const ana = await applicantAt({ ...APPROVED, consent_at: '2026-11-20', consent_text: 'Autorizo' });
  await ana.tap();
  await ana.choose(0);
  const told = evidenceOf(ana);
  const sha256 = hash('sha256', '["2026-11-20","Autorizo",null]');
  assert.deepEqual([told[0]?.kind, told[0]?.facts], ['partner_consent_told', { sha256 }]);
  assert.equal(told.filter(({ kind }) => kind === 'partner_consent_told').length, 1);
  const bea = await applicantAt(APPROVED);
  await bea.tap();
  assert.equal(evidenceOf(bea)[0]?.kind, 'data_consent_asked');
});
