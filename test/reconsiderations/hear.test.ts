/** Whoever was refused and writes: the reasons once a day, and a way to a person (D50; docs/reconsiderations.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { databaseTime } from '../../src/ground/postgres/database-time.ts';
import { commandLine } from '../cli/harness.ts';
import { APPROVED, IN_REVIEW } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { refusedOf } from '../support/refused.ts';

const store = await testDatabase();
const { database } = store;
const { json, run } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { applicantAt, refusedAt, writes, hear, textsOf, casesOf, lines, stranger } = await refusedOf(
  store,
  key,
);

const HOUR_MS = 3_600_000;
const why = '¿Por qué me rechazaron?';
const linesOf = ({ id }: { id: number }) => lines.filter(({ application_id }) => application_id === id);
const toldOf = async ({ id }: { id: number }) =>
  (
    await database.query<{ codes: string[]; language: string }>(
      'SELECT codes, language FROM told_reasons WHERE application_id = $1 ORDER BY id',
      [id],
    )
  ).rows;

describe('D50: whoever was refused and writes', () => {
  it('gets the reasons in words, with a button that asks for a review; what was told is stored', async () => {
    const ana = await refusedAt();
    await writes(ana, why);
    const [reply, ...more] = await ana.replies();
    assert.deepEqual(more, []);
    assert.equal(
      reply?.text,
      'Por ahora no pudimos aprobar tu solicitud con Acme. Estos son los motivos:\n\n' +
        '• El ingreso es menos de 1,5 veces la cuota estimada\n• La deuda está vencida hace más de dos años\n' +
        '• Hay tres deudas vencidas\n• No hay historial de pago previo\n\n' +
        'Si crees que hay un error, puedes pedir que una persona la revise: toca el botón o escribe REVISIÓN.',
    );
    assert.deepEqual(reply?.buttons, [{ title: 'Pedir revisión', payload: `review.${ana.id}` }]);
    const codes = ['capacity_below_1_5', 'debt_2_years', 'three_debts', 'no_history'];
    assert.deepEqual(await toldOf(ana), [{ codes, language: 'es' }]);
    assert.deepEqual(
      linesOf(ana).map(({ did }) => did),
      ['told'],
    );
    assert.ok(!JSON.stringify(lines).includes(ana.phone.slice(1)));
  });

  for (const [language, phone, words] of [
    [
      'pt',
      '+5511987654321',
      /Por enquanto não pudemos aprovar o seu pedido com Acme.*Há três dívidas vencidas/s,
    ],
    ['en', '+18765550123', /could not approve your application with Acme.*Three debts are overdue/s],
  ] as const) {
    it(`reads ${language} where the phone is of such a country`, async () => {
      const ana = await refusedAt({ phone });
      const self = (await import('../../src/domain/phone/phone.ts')).toPhone(phone);
      const event = { ...(await ana.textEvent('why was I rejected')), from: self };
      await hear(event);
      assert.match((await textsOf(ana))[0] ?? '', words);
      assert.equal((await toldOf(ana))[0]?.language, language);
    });
  }

  it('hears a limit first, and the reason of the review that refused it', async () => {
    const limit = await applicantAt({ ...APPROVED, income: 90_000_000, debt_amount: 100_000_001 }, false);
    await writes(limit, 'hola');
    assert.match(
      (await textsOf(limit))[0] ?? '',
      /motivos:\n\n• El monto supera lo que prestamos\n\nSi crees/,
    );
    const reviewed = await applicantAt({ ...IN_REVIEW }, false);
    await json(
      'application',
      'reject',
      `${reviewed.id}`,
      '--reason',
      'x',
      '--reason-code',
      'suspected_fraud',
    );
    await writes(reviewed, 'hola');
    const [text = ''] = await textsOf(reviewed);
    assert.match(text, /motivos:\n\n• No pudimos verificar los datos de la solicitud\n• El ingreso/);
    assert.doesNotMatch(text, /fraude/);
    const plain = await applicantAt({ ...APPROVED }, false);
    await json('application', 'reject', `${plain.id}`, '--reason', 'x');
    await writes(plain, why);
    assert.match((await textsOf(plain))[0] ?? '', /^Una persona de nuestro equipo revisó tu solicitud/);
  });

  it('a flood of a hundred questions costs one answer, also when they come at once and twice', async () => {
    const ana = await refusedAt();
    const events = await Promise.all(Array.from({ length: 50 }, () => ana.textEvent(why)));
    await Promise.all([hear(...events), hear(...events.toReversed()), hear(...events)]);
    for (const event of events) await hear(event);
    assert.equal((await ana.replies()).length, 1);
    assert.equal((await toldOf(ana)).length, 1);
    assert.deepEqual(await casesOf(ana), []);
  });

  it('who said nothing about it gets them too, but not for thanks, a no or “later”', async () => {
    const [hello, thanks, no, later] = [
      await refusedAt(),
      await refusedAt(),
      await refusedAt(),
      await refusedAt(),
    ];
    await writes(hello, 'hola, ¿venden carros?');
    await writes(thanks, 'gracias');
    await writes(no, 'no gracias');
    await writes(later, 'más tarde');
    assert.equal((await textsOf(hello)).length, 1);
    for (const one of [thanks, no, later]) assert.deepEqual(await textsOf(one), []);
  });

  it('who agreed to no messages gets them only for a question about the refusal', async () => {
    const ana = await refusedAt({ messaging_optin: false });
    await writes(ana, 'hola');
    assert.deepEqual(await textsOf(ana), []);
    await writes(ana, 'por que me negaron');
    assert.equal((await textsOf(ana)).length, 1);
  });

  it('an opt-out goes first: nothing is said, also when they ask why later; a wish for a review is kept', async () => {
    const ana = await refusedAt();
    await writes(ana, 'BAJA');
    await writes(ana, why);
    assert.deepEqual(await textsOf(ana), []);
    assert.deepEqual(await toldOf(ana), []);
    await writes(ana, 'quiero que una persona lo revise');
    assert.deepEqual(await textsOf(ana), []);
    assert.deepEqual(
      (await casesOf(ana)).map(({ kind }) => kind),
      ['reconsideration'],
    );
  });

  it('a wrong person learns nothing, from then on', async () => {
    const ana = await refusedAt();
    await writes(ana, 'número equivocado');
    await writes(ana, why);
    await writes(ana, 'quiero revisión');
    assert.deepEqual([await textsOf(ana), await casesOf(ana)], [[], []]);
  });

  it('a message of over a day ago is not answered', async () => {
    const ana = await refusedAt();
    const now = await databaseTime(database);
    await writes(ana, why, new Date(now.getTime() - 25 * HOUR_MS));
    assert.deepEqual(await textsOf(ana), []);
    await writes(ana, why);
    assert.equal((await textsOf(ana)).length, 1);
  });

  it('a stranger stays one, and so does whoever was erased', async () => {
    const before = lines.length;
    await writes(stranger(), why);
    assert.deepEqual(
      lines.slice(before).map(({ strangers }) => strangers),
      [1],
    );
    const ana = await refusedAt();
    await writes(ana, 'quiero revisión');
    await run('subject', 'erase', '--phone', ana.phone, '--reason', 'x', '--yes');
    assert.deepEqual([await casesOf(ana), await toldOf(ana), await ana.replies()], [[], [], []]);
    await writes(ana, why);
    await writes(ana, 'quiero revisión');
    assert.deepEqual([await casesOf(ana), await ana.replies()], [[], []]);
  });

  it('where the look-up of phones fails, nobody else’s message waits, and the person may write again', async () => {
    const ana = await refusedAt();
    const eva = await applicantAt();
    const away = 'look_up(bigint[], bigint[], bigint, bigint, boolean)';
    await database.query(`ALTER FUNCTION ${away} RENAME TO look_up_away`);
    try {
      await hear(await ana.textEvent(why), await eva.tapEvent());
    } finally {
      await database.query(`ALTER FUNCTION ${away.replace('look_up', 'look_up_away')} RENAME TO look_up`);
    }
    assert.equal(await eva.place(), 'data_consent service');
    assert.deepEqual(await textsOf(ana), []);
    await writes(ana, why);
    assert.equal((await textsOf(ana)).length, 1);
  });

  it('of two applications the open one counts, and of two refused ones the newest', async () => {
    const first = await refusedAt();
    const second = await refusedAt({ phone: first.phone });
    await writes(first, why);
    assert.deepEqual([await textsOf(first), (await textsOf(second)).length], [[], 1]);
    const open = await applicantAt({ ...IN_REVIEW, phone: first.phone }, false);
    await writes(first, why);
    await writes(first, 'quiero revisión');
    assert.deepEqual([(await textsOf(open)).length, (await textsOf(second)).length], [0, 1]);
    assert.deepEqual([await casesOf(open), await casesOf(second)], [[], []]);
  });

  it('whoever withdrew was not refused', async () => {
    const ana = await applicantAt({ ...IN_REVIEW }, false);
    await json('application', 'reject', `${ana.id}`, '--reason', 'x', '--reason-code', 'applicant_withdrew');
    await writes(ana, why);
    assert.deepEqual(await textsOf(ana), []);
  });

  it('a chat that the rejection closed answers with the reasons, and not twice', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await json('application', 'reject', `${ana.id}`, '--reason', 'x', '--reason-code', 'income_not_verified');
    const { length } = await textsOf(ana);
    await writes(ana, why);
    const texts = await textsOf(ana);
    assert.equal(texts.length, length + 1);
    assert.ok(texts.some((text) => text.includes('No pudimos comprobar el ingreso')));
  });
});

describe('D50: a review by a person', () => {
  it('the button opens one case, told with the last day of its term; everything else is kept with it', async () => {
    const ana = await refusedAt();
    await writes(ana, why);
    const tap = await ana.tapEvent(`review.${ana.id}`);
    await Promise.all([hear(tap), hear(tap), hear(await ana.textEvent('quiero revisión'))]);
    await hear(tap);
    await writes(ana, 'ya pagué dos deudas');
    const texts = await textsOf(ana);
    assert.equal(texts.length, 2);
    assert.match(
      texts[1] ?? '',
      /Recibimos tu pedido: una persona va a revisar tu solicitud con Acme.*a más tardar el \d/s,
    );
    assert.equal((await casesOf(ana)).length, 1);
    const { rows } = await database.query(
      'SELECT action, actor FROM application_events WHERE application_id = $1 ORDER BY id',
      [ana.id],
    );
    assert.deepEqual(rows, [{ action: 'review_asked', actor: 'applicant' }]);
  });

  it('the term is ten working days of the country, without its holidays', async () => {
    const ana = await refusedAt();
    await writes(ana, 'asesor');
    const { rows } = await database.query<{ asked: Date; due: Date }>(
      'SELECT asked_at AS asked, due_at AS due FROM cases WHERE application_id = $1',
      [ana.id],
    );
    const days = (rows[0]!.due.getTime() - rows[0]!.asked.getTime()) / (24 * HOUR_MS);
    assert.ok(days > 13 && days < 22, `${days}`);
  });

  it('the button of another person opens nothing', async () => {
    const [ana, eva] = [await refusedAt(), await refusedAt()];
    await hear(await ana.tapEvent(`review.${eva.id}`));
    assert.deepEqual([await casesOf(ana), await casesOf(eva)], [[], []]);
  });

  it('an answer reaches the open chat; the next case begins only then, and not by a repeated message', async () => {
    const ana = await refusedAt();
    const ask = await ana.textEvent('quiero que una persona lo revise');
    await hear(ask);
    const [one] = await casesOf(ana);
    const answered = await json(
      ...['reconsideration', 'answer', `${one!.id}`, '--confirmed', 'Las tres deudas siguen vencidas'],
    );
    assert.deepEqual([answered.outcome, answered.unreached], ['confirmed', null]);
    assert.match(
      (await textsOf(ana)).at(-1) ?? '',
      /mantuvo la decisión. El motivo:\n\nLas tres deudas siguen vencidas$/,
    );
    await hear(ask);
    assert.equal((await casesOf(ana)).length, 1);
    await writes(ana, 'pido otra revisión');
    assert.equal((await casesOf(ana)).length, 2);
    assert.equal((await json('application', 'show', `${ana.id}`)).status, 'rejected');
  });

  it('an answer outside of the channel’s day says so, and is told with the next message, once', async () => {
    const ana = await refusedAt();
    await writes(ana, 'quiero revisión');
    const { length } = await ana.replies();
    const [one] = await casesOf(ana);
    await database.query("UPDATE cases SET window_until = now() - interval '1 second' WHERE id = $1", [
      one!.id,
    ]);
    const args = ['reconsideration', 'answer', `${one!.id}`, '--apply-again', 'Puede volver con un extracto'];
    assert.match((await run(...args)).out, /The chat cannot tell it now/);
    assert.equal((await ana.replies()).length, length);
    await writes(ana, 'hola');
    await writes(ana, 'hola?');
    const texts = await textsOf(ana);
    assert.equal(texts.filter((text) => /Puede volver con un extracto$/.test(text)).length, 1);
  });
});

describe('D50: what data is stored', () => {
  it('anybody with an application asks it, also beside an open chat, which does not hear it', async () => {
    const ana = await applicantAt();
    await ana.tap();
    const place = await ana.place();
    const { length } = await ana.replies();
    await writes(ana, '¿qué datos tienen de mí?');
    const texts = await textsOf(ana);
    assert.equal(texts.length, length + 1);
    assert.ok(texts.some((text) => text.startsWith('Tienes derecho a saber qué datos tuyos guardamos')));
    assert.equal(await ana.place(), place);
    const [one] = await casesOf(ana);
    assert.deepEqual([one?.kind, one?.outcome], ['data', null]);
    await writes(ana, 'qué datos tienen de mí');
    assert.equal((await casesOf(ana)).length, 1);
    assert.equal((await textsOf(ana)).length, length + 1);
    const listed = await json('reconsideration', 'list', '--kind', 'data');
    assert.ok((listed as { application: number }[]).some(({ application }) => application === ana.id));
    const answered = await json(
      'reconsideration',
      'answer',
      `${one!.id}`,
      '--answered',
      'Escríbanos a datos@acme.co',
    );
    assert.equal(answered.unreached, null);
    assert.equal((await textsOf(ana)).length, length + 2);
  });
});
