/** A contract from the offer to the signature, on a real database (D45, D46). */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import pg from 'pg';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import type { EvidenceEntry, EvidenceKind } from '../../src/domain/evidence/evidence.ts';
import type { ContractTemplate } from '../../src/domain/loan/contract-template.ts';
import type { Offer } from '../../src/domain/loan/offer.ts';
import type { CountryTerms, Terms } from '../../src/domain/loan/terms.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { readReplyContents } from '../../src/subjects/messages/sql/replies/contents.ts';
import { checkSeal } from '../../src/subjects/signing/pdf/check-seal.ts';
import { demoIdentity } from '../../src/subjects/signing/pdf/demo-identity.ts';
import { sealerOf } from '../../src/subjects/signing/pdf/seal.ts';
import { checkAnswer } from '../../src/subjects/signing/uses/check-answer.ts';
import { finishContract } from '../../src/subjects/signing/uses/finish-contract.ts';
import { makeContract } from '../../src/subjects/signing/uses/make-contract.ts';
import { costsOf, offerOf, outlookOf } from '../../src/subjects/signing/uses/price.ts';
import { recordedWithdrawals } from '../../src/subjects/signing/uses/received-withdrawal.ts';
import { sendCode } from '../../src/subjects/signing/uses/send-code.ts';
import { recordEvidence, signContract } from '../../src/subjects/signing/uses/sign-contract.ts';
import { verifyContract } from '../../src/subjects/signing/uses/verify-contract.ts';
import { rejectWithdrawn, withdraw } from '../../src/subjects/signing/uses/withdraw.ts';
import { IN_REVIEW } from '../support/applicant.ts';
import { machinesOf } from '../support/citus-database.ts';
import { cpuMsOf } from '../support/cpu-time.ts';
import { testDatabase } from '../support/database.ts';
import { besideLock } from '../support/held-lock.ts';
import { attached, missingPdfTools, pdfsig, pdfText, qpdfFault } from '../support/pdf-tools.ts';
import { queueReply, textContent } from '../support/replies.ts';
import { shifted } from '../support/shifted.ts';
import { testSigning } from '../support/signing.ts';

const store = await testDatabase();
const { database, runtime } = store;
const signing = await testSigning(store);
const { context, codes, begin, make, answer, accept, consent, prove, sign, lastFourOf, json, run } = signing;

const faultsOf = async (id: ApplicationId) =>
  (await verifyContract(context, id))?.checks.flatMap(({ name, fault }) =>
    fault === null ? [] : [`${name}: ${fault}`],
  );
const statusOf = async (id: ApplicationId) => (await json('application', 'show', `${id}`)).status;
const stateOf = async (id: ApplicationId) =>
  (
    await database.query('SELECT state FROM loan_contracts WHERE application_id = $1 ORDER BY id', [id])
  ).rows.map(({ state }) => state);
/** The day that ends at this time in Bogotá, as a contract says it, without spaces. */
const lastDayBefore = (end: string) =>
  new Intl.DateTimeFormat('es-CO', { timeZone: 'America/Bogota', dateStyle: 'long' })
    .format(Date.parse(end) - 1)
    .replaceAll(' ', '');
const isWithdrawal = ({ kind }: { kind: string }) => kind.startsWith('withdraw');
const withdrawOf = (id: ApplicationId) =>
  inTransaction(runtime, async (session) => {
    const { result, evidence } = await withdraw(session, id);
    await recordEvidence(session, store.vault, [{ applicationId: id, entries: evidence }]);
    if (result === 'withdrawn') await rejectWithdrawn(session, id);
    return result;
  });

const CO = context.terms?.countries.CO as CountryTerms;
/** The service after a change of its terms. */
const withTerms = (changes: Partial<CountryTerms>, version: string) => ({
  ...context,
  terms: { ...(context.terms as Terms), version, countries: { CO: { ...CO, ...changes } } },
});
/** A legal maximum of each month around this year. */
const everyMonth = (maximum: string) =>
  Object.fromEntries(
    [-1, 0, 1]
      .map((years) => new Date().getUTCFullYear() + years)
      .flatMap((year) =>
        Array.from({ length: 12 }, (_, month) => [`${year}-${`${month + 1}`.padStart(2, '0')}`, maximum]),
      ),
  );
const versionOf = async (id: ApplicationId) =>
  (
    await database.query(
      "SELECT terms->>'termsVersion' AS version FROM loan_contracts WHERE application_id = $1 AND state = 'open'",
      [id],
    )
  ).rows[0]?.version;
const OVER = 'UPDATE loan_offers SET expires_at = clock_timestamp() WHERE application_id = $1';
const AHEAD = `UPDATE loan_offers SET made_at = ${shifted('made_at', "interval '2 minutes'")} WHERE application_id = $1`;

describe('the offer and the contract', () => {
  it('is made, sealed and stored with less than half a second of CPU', async () => {
    await make(await begin());
    const id = await begin();
    const ms = await cpuMsOf(() => make(id));
    assert.ok(ms < 500, `${ms} ms`);
  });

  it('D45: the offer has exact amounts and the rate with all costs', async () => {
    const offer = await offerOf(context, await begin());
    assert.ok(offer.kind === 'offer');
    assert.deepEqual(
      [offer.amount, offer.currency, offer.months, offer.net, offer.rateName],
      ['6000000', 'COP', 24, '5970000', 'valor total unificado (VTU)'],
    );
    assert.equal(offer.lender, 'Crédito Ejemplo S.A.S.');
  });

  it('D45: the same contract comes again while it may be signed, also with other terms, without terms and with another brand', async () => {
    const id = await begin({ name: 'María José Ñandú' });
    const first = await make(id);
    assert.equal(first.sha256, hash('sha256', first.bytes, 'hex'));
    assert.equal(checkSeal(first.bytes).intact, true);
    const others = { ...context, terms: null };
    const again = await makeContract(others, id);
    assert.ok(again.kind === 'made');
    assert.deepEqual(again.bytes, first.bytes);
    assert.deepEqual(await stateOf(id), ['open']);
  });

  it('D45: a revoked key keeps nobody from the contract', async () => {
    const { id: key } = await json('key', 'issue', '--partner', `${signing.partner}`);
    const id = await begin({}, key);
    await json('key', 'revoke', `${key}`);
    assert.equal((await make(id)).kind, 'made');
  });

  it('D45: several makings at once give one contract', async () => {
    const id = await begin();
    // A process that makes PDFs has no time to open connections.
    await Promise.all([1, 2, 3].map(() => context.database.query('SELECT pg_sleep(0.1)')));
    const made = await Promise.all([make(id), make(id), make(id)]);
    assert.equal(new Set(made.map(({ sha256 }) => sha256)).size, 1);
    assert.equal((await stateOf(id)).filter((state) => state === 'open').length, 1);
  });

  it('D45: nobody gets a contract without terms; the log, the store and the metrics say so until it is mended', async () => {
    const id = await begin();
    const blocked = await makeContract({ ...context, terms: null }, id);
    assert.deepEqual(blocked, { kind: 'blocked', reason: 'no_terms' });
    assert.deepEqual(await stateOf(id), ['blocked']);
    const { facts, text } = signing.lines.at(-1) ?? { facts: {}, text: '' };
    assert.deepEqual(facts, { application_id: id, reason: 'no_terms' });
    assert.match(text, /^ALARM: nobody gets a contract/);
    assert.deepEqual(await makeContract({ ...context, sealer: null }, id), {
      kind: 'blocked',
      reason: 'no_certificate',
    });
    await make(id);
    assert.deepEqual(await stateOf(id), ['open']);
  });

  it('D45: the costs of an offer are its amounts, rates and days: a change of any of them is another offer', async () => {
    const offer = await offerOf(context, await begin());
    assert.ok(offer.kind === 'offer');
    const costs = costsOf(offer);
    const changes: readonly Partial<Offer>[] = [
      ...[
        { amount: '1' },
        { net: '1' },
        { installment: '1' },
        { months: 1 },
        { total: '1' },
        { lender: 'X' },
      ],
      ...[{ monthlyRate: '1' }, { interestRate: '1' }, { annualRate: '1' }, { lateRate: '1' }],
      ...[{ disbursement: '2027-01-02' }, { firstDue: '2027-01-02' }, { lastDue: '2027-01-02' }],
    ];
    for (const change of changes)
      assert.notEqual(costsOf({ ...offer, ...change }), costs, JSON.stringify(change));
    assert.equal(costsOf({ ...offer, validUntil: '2027-01-02' }), costs);
  });

  it('D45: no code is sent for a contract whose rate the maximum forbids by now', async () => {
    const id = await begin();
    await make(id);
    assert.equal(await answer(id, 'last_four', await lastFourOf(id)), 'right');
    const terms = context.terms as Terms;
    const CO = terms.countries.CO as CountryTerms;
    const sentWith = (maximum: string) => {
      const countries = { CO: { ...CO, legal_maximum: everyMonth(maximum) } };
      return sendCode({ ...context, terms: { ...terms, countries } }, id);
    };
    assert.deepEqual(await sentWith('20'), { kind: 'failed', reason: 'above_maximum' });
    assert.equal((await sentWith('40')).kind, 'sent');
  });

  it('D45: an offer holds until its last day: other terms, or no template of then, change nothing of its contract', async () => {
    const id = await begin();
    const offer = await offerOf(context, id);
    assert.ok(offer.kind === 'offer');
    const dearer = withTerms({ monthly_rate: '1.9', months: 12, fees: [], offer_days: 9 }, 'dearer');
    const again = await offerOf(dearer, id);
    assert.ok(again.kind === 'offer');
    assert.equal(costsOf(again), costsOf(offer));
    assert.equal(again.validUntil, offer.validUntil);
    const made = await makeContract(dearer, id);
    assert.ok(made.kind === 'made');
    assert.equal(costsOf(made.offer), costsOf(offer));
    assert.equal(made.offer.validUntil, offer.validUntil);
    assert.equal(await versionOf(id), (context.terms as Terms).version);
  });

  it('D45: after its last day, and where its rate is above a new legal maximum, the terms of then hold', async () => {
    const cheaper = { monthly_rate: '1', late_rate: '1' };
    const cases: [what: string, after: (id: ApplicationId) => Promise<unknown>, Partial<CountryTerms>][] = [
      ['its day is over', (id) => database.query(OVER, [id]), cheaper],
      ['the clock went back', (id) => database.query(AHEAD, [id]), cheaper],
      ['the maximum fell', async () => {}, { ...cheaper, legal_maximum: everyMonth('15') }],
    ];
    for (const [what, after, changes] of cases) {
      const id = await begin();
      const offer = await offerOf(context, id);
      await after(id);
      const made = await makeContract(withTerms(changes, 'cheaper'), id);
      assert.ok(made.kind === 'made' && offer.kind === 'offer', what);
      assert.equal(made.offer.monthlyRate, '1', what);
      assert.notEqual(costsOf(made.offer), costsOf(offer), what);
      assert.equal(await versionOf(id), 'cheaper', what);
    }
    const id = await begin();
    await offerOf(context, id);
    assert.deepEqual(await makeContract(withTerms({ legal_maximum: everyMonth('15') }, 'low'), id), {
      ...{ kind: 'blocked', reason: 'above_maximum' },
      limits: { minimum: CO.minimum, maximum: CO.maximum, currency: 'COP' },
    });
  });

  it('D45: what could be offered before the documents holds nothing, and an erasure lets go of an offer', async () => {
    const id = await begin();
    const held = async () =>
      (await database.query('SELECT FROM loan_offers WHERE application_id = $1', [id])).rowCount;
    await outlookOf(context, id);
    assert.equal(await held(), 0);
    await offerOf(context, id);
    assert.equal(await held(), 1);
    const idNumber = (await json('application', 'show', `${id}`, '--reveal', '--reason', 'x')).id_number;
    const person = ['--id-number', idNumber, '--reason', 'x'];
    const { applications } = await json('subject', 'export', ...person, '--reveal');
    assert.equal(applications[0].loan_offers[0].terms.version, (context.terms as Terms).version);
    await json('subject', 'erase', ...person, '--close', '--yes');
    assert.equal(await held(), 0);
  });

  it('D45: what could be offered is known before the documents, also in review, and without a contract', async () => {
    const id = await begin();
    const offer = await outlookOf(context, id);
    assert.ok(offer.kind === 'offer');
    assert.deepEqual([offer.amount, offer.months], ['6000000', 24]);
    assert.deepEqual(await stateOf(id), []);
    const inReview = await begin(IN_REVIEW);
    assert.equal(await statusOf(inReview), 'in_review');
    assert.equal((await outlookOf(context, inReview)).kind, 'offer');
    const terms = context.terms as Terms;
    const CO = terms.countries.CO as CountryTerms;
    const reasonWith = async (changes: Partial<CountryTerms>, of = id) => {
      const countries = { CO: { ...CO, ...changes } };
      const found = await outlookOf({ ...context, terms: { ...terms, countries } }, of);
      return found.kind === 'blocked' ? [found.reason, found.limits?.minimum, found.limits?.maximum] : found;
    };
    assert.deepEqual(await reasonWith({ minimum: '6000001' }), ['below_minimum', '6000001', CO.maximum]);
    assert.deepEqual(await reasonWith({ maximum: '5999999' }), ['above_limit', CO.minimum, '5999999']);
    assert.deepEqual(((await reasonWith({ currency: 'USD' })) as string[])[0], 'wrong_currency');
    assert.deepEqual(await stateOf(id), ['blocked'], 'operators see it');
    const short = await begin({ id_number: '12' });
    assert.deepEqual(await outlookOf(context, short), { kind: 'blocked', reason: 'short_id_number' });
    assert.deepEqual(await outlookOf({ ...context, terms: null }, id), {
      kind: 'blocked',
      reason: 'no_terms',
    });
    await json('application', 'reject', `${id}`, '--reason', 'x');
    assert.deepEqual(await outlookOf(context, id), { kind: 'blocked', reason: 'not_pending' });
  });

  it('D45: nobody gets a contract by terms that lack what it tells, or a template that tells too little', async () => {
    const id = await begin();
    const terms = context.terms as Terms;
    const { complaints: _, ...CO } = terms.countries.CO as CountryTerms;
    const reasonOf = async (changed: Terms) => {
      const made = await makeContract({ ...context, terms: changed }, id);
      return made.kind === 'blocked' ? made.reason : made.kind;
    };
    assert.equal(await reasonOf({ ...terms, countries: { CO } }), 'terms_incomplete');
    assert.match(signing.lines.at(-1)?.text ?? '', /^ALARM/);
    const template = terms.contracts['standard-es'] as ContractTemplate;
    const short = { ...template, sections: template.sections.slice(0, 3) };
    assert.equal(
      await reasonOf({ ...terms, contracts: { ...terms.contracts, 'standard-es': short } }),
      'no_template',
    );
  });

  it('D45: nobody gets a contract that an expired certificate would seal, and no signed PDF is made with it', async () => {
    const id = await begin();
    const { sealer } = context;
    assert.ok(sealer !== null);
    const year = 366 * 86_400_000;
    const now = new Date();
    assert.equal(sealer.isValidAt(now), true);
    for (const years of [-1, 11])
      assert.equal(sealer.isValidAt(new Date(now.getTime() + years * year)), false);
    const expired = { ...context, sealer: { ...sealer, isValidAt: () => false } };
    assert.deepEqual(await makeContract(expired, id), { kind: 'blocked', reason: 'certificate_expired' });
    assert.match(signing.lines.at(-1)?.text ?? '', /^ALARM/);
    const said = await run('contract', 'show', `${id}`);
    assert.match(said.err, /has no contract: it is blocked by certificate_expired/);
    await sign(id);
    await assert.rejects(finishContract(expired, id), /SIGNING_CERTIFICATE_FILE is not valid now/);
    await finishContract(context, id);
    assert.deepEqual(await faultsOf(id), []);
  });

  it('D45: a brand chooses its template; a template that is not there blocks', async () => {
    const { id: key } = await json('key', 'issue', '--partner', `${signing.partner}`);
    const path = join(signing.folder, 'brand.json');
    const brandOf = async (contract: string) => {
      writeFileSync(path, JSON.stringify({ contract }));
      await json('key', 'brand', 'set', `${key}`, path);
    };
    await brandOf('nowhere');
    const id = await begin({}, key);
    assert.deepEqual(await makeContract(context, id), { kind: 'blocked', reason: 'no_template' });
    await brandOf('standard-en');
    const { bytes } = await make(id);
    if (missingPdfTools === false) assert.match(pdfText(bytes), /Loan contract/);
  });

  it('D45: the contract tells where to pay and complain, who watches, and what a late payment costs', {
    skip: missingPdfTools,
  }, async () => {
    const said = pdfText((await make(await begin())).bytes).replaceAll(/\s/g, '');
    for (const text of [
      'condomicilioenCalleInventada1-23,Bogotá',
      'Impuestos:losinteresesnotienenimpuesto',
      'Formaylugardepago:porPSEenpagos.credito.example',
      'Interesesdemora:1,8%mensual(23,87%efectivoanual),solosobreelcapitalvencido',
      'con3cuotassinpagarelacreedorpuedeexigirtodoelsaldo',
      'bastaescribirRETRACTOenelchat',
      'Quejasyreclamos:quejas@credito.example',
      'SuperintendenciadeIndustriayComercio(SIC)',
    ])
      assert.ok(said.includes(text), text);
  });

  it('D45: an application that is rejected or erased gets no contract', async () => {
    const id = await begin();
    await json('application', 'reject', `${id}`, '--reason', 'x');
    assert.deepEqual(await makeContract(context, id), { kind: 'blocked', reason: 'not_pending' });
    assert.deepEqual(await makeContract(context, 999_999 as ApplicationId), {
      kind: 'blocked',
      reason: 'unreadable',
    });
  });

  it('D45: after its time a contract is another one, and the old one cannot be signed', async () => {
    const id = await begin();
    const old = await make(id);
    await prove(id);
    await database.query(
      "UPDATE loan_contracts SET expires_at = now() - interval '1 second' WHERE application_id = $1",
      [id],
    );
    assert.equal(await accept(id, old.sha256), 'not_signable');
    const next = await make(id);
    assert.notEqual(next.sha256, old.sha256);
    assert.deepEqual(await stateOf(id), ['expired', 'open']);
    assert.equal(await accept(id, old.sha256), 'not_signable');
    // What was proven for the old one proves nothing for the new one.
    assert.equal(await accept(id, next.sha256), 'not_signable');
  });

  it('nothing of the person lies readable in the tables or in the store', async () => {
    const id = await begin({ name: 'Xiomara Quintanilla', id_number: '77889900' });
    await make(id);
    await prove(id);
    const { rows } = await database.query(
      `SELECT c::text || s::text || e::text AS text FROM loan_contracts c, signing_codes s, contract_evidence e
      WHERE c.application_id = $1 AND s.application_id = $1 AND e.application_id = $1`,
      [id],
    );
    assert.ok(rows.length > 0);
    for (const { text } of rows) assert.doesNotMatch(text, /Xiomara|Quintanilla|77889900|\+57301|9900/);
    assert.ok(!rows.some(({ text }) => text.includes(codes.last)));
    for (const path of readdirSync(join(signing.folder, 'documents'), {
      recursive: true,
      encoding: 'utf8',
    })) {
      const file = join(signing.folder, 'documents', path);
      let bytes: Buffer;
      try {
        bytes = readFileSync(file);
      } catch {
        continue;
      }
      assert.equal(bytes.includes('%PDF'), false, path);
    }
  });
});

describe('the proof', () => {
  it('D46: the last four characters come first, then the code; each is right or wrong', async () => {
    const id = await begin();
    await make(id);
    assert.equal(await answer(id, 'code', '123456'), 'expired');
    assert.equal(await answer(id, 'last_four', 'hola'), 'unreadable');
    assert.equal(await answer(id, 'last_four', '0000'), 'wrong');
    assert.equal(await answer(id, 'last_four', await lastFourOf(id)), 'right');
    const sent = await sendCode(context, id);
    assert.ok(sent.kind === 'sent' && sent.way === 'sms');
    assert.match(codes.last, /^\d{6}$/);
    const other = `${(Number(codes.last) + 1) % 1_000_000}`.padStart(6, '0');
    assert.equal(await answer(id, 'code', other), 'wrong');
    assert.equal(await answer(id, 'code', ` ${codes.last.slice(0, 3)} ${codes.last.slice(3)} `), 'right');
    // A code is good once.
    assert.equal(await answer(id, 'code', codes.last), 'spent');
  });

  it('D46: a code that is right without the ID number proves nothing', async () => {
    const id = await begin();
    const { sha256 } = await make(id);
    const before = codes.sent.length;
    assert.deepEqual(await sendCode(context, id), { kind: 'no_proof' });
    assert.equal(codes.sent.length, before, 'nothing is paid for');
    assert.equal(await answer(id, 'code', '123456'), 'expired');
    assert.equal(await accept(id, sha256), 'not_signable');
  });

  it('D46: a code of another conversation never works, nor one of an older round', async () => {
    const [one, other] = [await begin(), await begin()];
    for (const id of [one, other]) {
      await make(id);
      assert.equal(await answer(id, 'last_four', await lastFourOf(id)), 'right');
    }
    await sendCode(context, one);
    const ofOne = codes.last;
    await sendCode(context, other);
    const ofOther = codes.last;
    assert.equal(await answer(one, 'code', ofOther), ofOne === ofOther ? 'right' : 'wrong');
    await sendCode(context, other);
    if (codes.last !== ofOther) assert.equal(await answer(other, 'code', ofOther), 'wrong');
    assert.equal(await answer(other, 'code', codes.last), 'right');
  });

  it('D46: five tries a round, over both questions and over several at once; then another code', async () => {
    const id = await begin();
    await make(id);
    for (let wrong = 1; wrong <= 2; wrong += 1) assert.equal(await answer(id, 'last_four', '0000'), 'wrong');
    assert.equal(await answer(id, 'last_four', await lastFourOf(id)), 'right');
    await sendCode(context, id);
    const other = `${(Number(codes.last) + 1) % 1_000_000}`.padStart(6, '0');
    const held = `SELECT FROM signing_codes WHERE application_id = ${id} FOR UPDATE`;
    const six = () => Promise.all(Array.from({ length: 6 }, () => answer(id, 'code', other)));
    const some = await besideLock(database, held, six, 6);
    assert.deepEqual(some.toSorted(), ['spent', 'spent', 'spent', 'spent', 'wrong', 'wrong']);
    const tries = await database.query(
      'SELECT tries FROM signing_codes WHERE application_id = $1 ORDER BY id DESC LIMIT 1',
      [id],
    );
    assert.deepEqual(tries.rows, [{ tries: 5 }], 'the sixth is compared with nothing');
    assert.equal(await answer(id, 'code', codes.last), 'spent');
    // The ID number has to be named again: its proof ended with the tries of its round.
    assert.deepEqual(await sendCode(context, id), { kind: 'no_proof' });
    assert.equal(await answer(id, 'last_four', await lastFourOf(id)), 'right');
    await sendCode(context, id);
    assert.equal(await answer(id, 'code', codes.last), 'right');
  });

  it('D46: five rounds an hour, whoever begins them', async () => {
    const id = await begin();
    await make(id);
    await answer(id, 'last_four', await lastFourOf(id));
    const kinds: string[] = [];
    for (let round = 0; round < 6; round += 1) kinds.push((await sendCode(context, id)).kind);
    assert.deepEqual(kinds, ['sent', 'sent', 'sent', 'sent', 'sent', 'too_many']);
    await database.query('UPDATE signing_codes SET tries = 5 WHERE application_id = $1', [id]);
    assert.equal(await answer(id, 'last_four', await lastFourOf(id)), 'spent');
    await database.query(
      "UPDATE signing_codes SET began_at = now() - interval '61 minutes' WHERE application_id = $1",
      [id],
    );
    assert.equal(await answer(id, 'last_four', await lastFourOf(id)), 'right');
    assert.equal((await sendCode(context, id)).kind, 'sent');
  });

  it('D46: a way that is away for a while uses up no rounds, and its code is worth nothing', async () => {
    const id = await begin();
    await make(id);
    assert.equal(await answer(id, 'last_four', await lastFourOf(id)), 'right');
    codes.result = { kind: 'later', reason: 'http_503' };
    for (let tries = 0; tries < 8; tries += 1)
      assert.deepEqual(await sendCode(context, id), { kind: 'later', reason: 'http_503' });
    assert.equal(await answer(id, 'code', codes.last), 'expired');
    codes.result = { kind: 'sent', messageId: 'SM1' };
    assert.equal((await sendCode(context, id)).kind, 'sent');
    assert.equal(await answer(id, 'code', codes.last), 'right');
  });

  it('D46: a code is good for ten minutes of the database’s clock, which may step back', async () => {
    const shift = (id: ApplicationId, by: string) =>
      database.query(
        `UPDATE signing_codes SET began_at = ${shifted('began_at', '$2::interval')}, ends_at = ${shifted('ends_at', '$2::interval')}
        WHERE application_id = $1`,
        [id, by],
      );
    for (const [by, expected] of [
      ['-9 minutes', 'right'],
      ['-10 minutes', 'expired'],
      ['30 seconds', 'right'],
      ['2 hours', 'expired'],
    ] as const) {
      const id = await begin();
      await make(id);
      await answer(id, 'last_four', await lastFourOf(id));
      await sendCode(context, id);
      await shift(id, by);
      assert.equal(await answer(id, 'code', codes.last), expected, by);
    }
  });

  it('D46: what was proven is good for ten minutes', async () => {
    const id = await begin();
    const { sha256 } = await make(id);
    await prove(id);
    await database.query(
      "UPDATE signing_codes SET used_at = now() - interval '11 minutes' WHERE application_id = $1",
      [id],
    );
    assert.equal(await accept(id, sha256), 'not_signable');
  });

  it('D46: a way that fails says why, and the evidence too', async () => {
    const id = await begin();
    await make(id);
    await answer(id, 'last_four', await lastFourOf(id));
    codes.result = { kind: 'failed', reason: '21211' };
    assert.deepEqual(await sendCode(context, id), { kind: 'failed', reason: '21211' });
    codes.result = { kind: 'sent', messageId: 'SM1' };
    assert.deepEqual(await sendCode({ ...context, sender: null }, id), { kind: 'failed', reason: 'no_way' });
    const { evidence } = await json('contract', 'show', `${id}`);
    assert.deepEqual(evidence.at(-1).facts, {
      ...evidence.at(-1).facts,
      way: 'sms',
      second_way: true,
      result: '21211',
    });
    assert.deepEqual(await sendCode(context, await begin()), { kind: 'failed', reason: 'no_contract' });
  });
});

describe('the signature', () => {
  it('D46: signs what was shown and accepted, once and for ever; verify proves it from the store', async () => {
    const id = await begin();
    const { sha256 } = await make(id);
    await consent(id);
    await prove(id);
    assert.equal(await accept(id, 'f'.repeat(64)), 'not_signable');
    assert.equal(await accept(id, sha256), 'signed');
    assert.equal(await accept(id, sha256), 'not_signable');
    assert.deepEqual(await faultsOf(id), [
      'document: the signed PDF is not made yet: a running service makes it within a minute',
    ]);
    const finished = await finishContract(context, id);
    assert.deepEqual(await faultsOf(id), []);
    const shown = await json('application', 'show', `${id}`);
    assert.equal(shown.status, 'pending_signature');
    assert.ok(shown.signed_at !== null && shown.withdrawable_until > shown.signed_at);
    assert.deepEqual((await finishContract(context, id))?.bytes, finished?.bytes);
    if (missingPdfTools !== false) return;
    const bytes = finished?.bytes ?? Buffer.alloc(0);
    assert.match(pdfsig(bytes), /Total document signed[\s\S]*Signature is Valid/);
    assert.equal(qpdfFault(bytes), null);
    assert.equal(hash('sha256', attached(bytes, 'contract.pdf'), 'hex'), sha256);
    const evidence = JSON.parse(attached(bytes, 'evidence.json').toString()).evidence;
    assert.deepEqual(
      evidence.map(({ kind }: { kind: string }) => kind),
      [
        ...['contract_made', 'data_consent_given', 'id_checked', 'code_sent', 'code_checked'],
        ...['contract_shown', 'contract_accepted', 'signed'],
      ],
    );
    assert.match(pdfText(bytes), /Certificado de la firma/);
    const said = pdfText(bytes).replaceAll(/\s/g, '');
    assert.ok(said.includes(sha256));
    const { expires_at: expires } = await json('contract', 'show', `${id}`);
    assert.ok(said.includes(`sepuedefirmarhastael${lastDayBefore(expires)}.`), 'the last day to sign');
    assert.ok(said.includes(`Últimodíapararetractarse:${lastDayBefore(shown.withdrawable_until)}`));
  });

  it('D46: of two signatures at once one counts', async () => {
    const id = await begin();
    const { sha256 } = await make(id);
    await prove(id);
    const held = `SELECT FROM loan_contracts WHERE application_id = ${id} FOR UPDATE`;
    const both = await besideLock(
      database,
      held,
      () => Promise.all([accept(id, sha256), accept(id, sha256)]),
      2,
    );
    assert.deepEqual(both.toSorted(), ['not_signable', 'signed']);
  });

  it('D46: an application that an operator rejects while its applicant signs is not signed, in both orders', async () => {
    const id = await begin();
    const { sha256 } = await make(id);
    await prove(id);
    const reject = () => run('application', 'reject', `${id}`, '--reason', 'forged');
    const [signed, rejected] = await Promise.all([accept(id, sha256), reject()]);
    assert.equal(rejected.code, 0);
    assert.equal(await statusOf(id), 'rejected');
    // Where the signature came first, the rejection holds all the same, and nothing is paid out.
    assert.ok(signed === 'signed' || signed === 'not_signable');
    assert.equal((await run('application', 'disburse', `${id}`, '--reason', 'x')).code, 1);
    const late = await begin();
    const made = await make(late);
    await prove(late);
    await json('application', 'reject', `${late}`, '--reason', 'x');
    assert.equal(await accept(late, made.sha256), 'not_signable');
    assert.equal((await json('application', 'show', `${late}`)).signed_at, null);
  });

  it('D46: a turn that fails after the signature leaves nothing of it', async () => {
    const id = await begin();
    const { sha256 } = await make(id);
    await prove(id);
    const before = (await json('contract', 'show', `${id}`)).evidence.length;
    await assert.rejects(
      inTransaction(runtime, async (session) => {
        const facts = { contract: sha256, acceptedInput: '1', shownTurn: 1 };
        assert.equal((await signContract(session, store.vault, id, facts)).result, 'signed');
        throw new Error('the process dies');
      }),
      /the process dies/,
    );
    assert.deepEqual(await stateOf(id), ['open']);
    assert.equal((await json('contract', 'show', `${id}`)).evidence.length, before);
    assert.equal(await accept(id, sha256), 'signed');
  });

  it('D46: a signed contract is paid out after the withdrawal period, and a withdrawal in time ends it', async () => {
    const id = await begin();
    await sign(id);
    const held = await run('application', 'disburse', `${id}`, '--reason', 'paid');
    assert.match(held.err, /may withdraw until/);
    assert.equal(await withdrawOf(id), 'withdrawn');
    assert.equal(await withdrawOf(id), 'rejected');
    const shown = await json('application', 'show', `${id}`);
    const last = shown.history.at(-1);
    assert.deepEqual(
      [shown.status, last.actor, last.reason_code, shown.holds_phone],
      ['rejected', 'applicant', 'contract_withdrawn', undefined],
    );
    const { rows } = await database.query('SELECT FROM open_phones WHERE application_id = $1', [id]);
    assert.equal(rows.length, 0);
    assert.ok(
      !shown.messages.some(({ type }: { type: string }) => type === 'rejected'),
      'no message of a rejection',
    );
    await finishContract(context, id);
    assert.deepEqual(await faultsOf(id), []);
  });

  it('D46: a withdrawal holds no lock that a review of another application waits for, before its last step', async () => {
    const [id, other] = [await begin(), await begin()];
    await sign(id);
    await make(other);
    await inTransaction(runtime, async (session) => {
      assert.equal((await withdraw(session, id)).result, 'withdrawn');
      assert.equal((await run('application', 'reject', `${other}`, '--reason', 'x')).code, 0);
      // The turn of the other applicant comes after the review, and in the same transaction.
      const { result } = await checkAnswer(session, store.vault, other, 'code', '123456');
      assert.equal(result, 'expired');
      await rejectWithdrawn(session, id);
    });
    assert.deepEqual([await statusOf(id), await statusOf(other)], ['rejected', 'rejected']);
  });

  it('D46: a withdrawal is too late after its period, without one, and after the payment', async () => {
    const id = await begin();
    assert.equal(await withdrawOf(id), 'not_signed');
    await sign(id);
    const end = (until: string | null) =>
      database.query('UPDATE application_states SET withdrawable_until = $2 WHERE application_id = $1', [
        id,
        until,
      ]);
    await end('2020-01-01T00:00:00Z');
    assert.equal(await withdrawOf(id), 'too_late');
    await end(null);
    assert.equal(await withdrawOf(id), 'too_late');
    const lines = await signing.lineOptions(id);
    assert.equal((await run('application', 'disburse', `${id}`, '--reason', 'paid', ...lines)).code, 0);
    assert.equal(await withdrawOf(id), 'too_late');
  });
});

describe('the evidence', () => {
  it('D46: the runtime role may read and add rows, and nobody changes one', async () => {
    const id = await begin();
    await make(id);
    for (const statement of [
      "UPDATE contract_evidence SET kind = 'signed'",
      'DELETE FROM contract_evidence',
      'TRUNCATE contract_evidence',
    ]) {
      await assert.rejects(runtime.query(statement), { code: '42501' }, statement);
    }
    await assert.rejects(database.query("UPDATE contract_evidence SET kind = 'signed'"), { code: '42501' });
    await assert.rejects(database.query('TRUNCATE contract_evidence'), { code: '42501' });
  });

  it('D46: rows that somebody adds to the table prove nothing, hide nothing and end nothing', async () => {
    const id = await begin();
    const put = (number: number, kind: string, facts: string) =>
      runtime.query(
        `INSERT INTO contract_evidence (application_id, number, recorded_at, kind, facts, key_number, mac)
         VALUES ($1, $2, now(), $3, $4, 0, sha256('mallory'))`,
        [id, number, kind, facts],
      );
    const next = async () => {
      const last = 'SELECT max(number) AS last FROM contract_evidence WHERE application_id = $1';
      return (await runtime.query(last, [id])).rows[0].last + 1;
    };
    await make(id);
    const told = JSON.stringify({ signed_at: '2020-01-01T00:00:00.000Z', way: 'sms', turn: 3 });
    await put(await next(), 'signed', told);
    await put(await next(), 'withdrawal_asked', '{"by":"applicant"}');
    await put(await next(), 'contract_shown', 'no JSON');
    await put(1_000_000, 'withdrawn', '[');
    await sign(id);
    await finishContract(context, id);
    assert.deepEqual(await recordedWithdrawals(database, store.vault, id), []);
    const faults = (await faultsOf(id)) ?? [];
    assert.equal(faults.length, 1, faults.join('; '));
    assert.match(faults[0]!, /^evidence: row \d+ was changed or put in;.*row 1000000 was put in$/);
    const { bytes } = (await finishContract(context, id))!;
    if (missingPdfTools === false)
      assert.doesNotMatch(attached(bytes, 'evidence.json').toString(), /2020-01/);
    assert.equal(await withdrawOf(id), 'withdrawn');
    assert.equal((await recordedWithdrawals(database, store.vault, id)).length, 1);
    assert.equal((await json('contract', 'show', `${id}`)).evidence.filter(isWithdrawal).length, 1);
    // From a worker of Citus the code is not told.
    for (const [number, facts] of [
      [0, '{}'],
      [1_000_001, '{}'],
      [900_000, 'x'.repeat(20_001)],
    ] as const)
      await assert.rejects(put(number, 'shown', facts), /violates check constraint/);
  });

  it('D46: verify shows a changed row, a missing row, another PDF, and another state', async () => {
    // On a cluster tables are altered on the coordinator.
    const [coordinator = store.ownerUrl] = await machinesOf(store.ownerUrl);
    const asOwner = async (sql: string, values: unknown[]) => {
      const owner = new pg.Client({ connectionString: coordinator });
      await owner.connect();
      try {
        await owner.query('ALTER TABLE contract_evidence DISABLE TRIGGER ALL');
        await owner.query(sql, values);
      } finally {
        await owner.query('ALTER TABLE contract_evidence ENABLE TRIGGER ALL');
        await owner.end();
      }
    };
    const signed = async () => {
      const id = await begin();
      await sign(id);
      await finishContract(context, id);
      return id;
    };
    const changed = await signed();
    await asOwner(
      `UPDATE contract_evidence SET facts = replace(facts, 'right', 'wrong') WHERE application_id = $1 AND number = 3`,
      [changed],
    );
    assert.match((await faultsOf(changed))?.join() ?? '', /evidence: row 3 was changed/);
    const removed = await signed();
    await asOwner('DELETE FROM contract_evidence WHERE application_id = $1 AND number = 3', [removed]);
    assert.match((await faultsOf(removed))?.join() ?? '', /evidence: row 3 is missing/);
    const cut = await signed();
    await asOwner(
      `DELETE FROM contract_evidence WHERE application_id = $1 AND kind IN ('signed', 'document_made')`,
      [cut],
    );
    assert.match((await faultsOf(cut))?.join() ?? '', /signature: there is no evidence of the signature/);
    // The final PDF is that of the evidence: another one, with the same pages and a seal of its own, is not.
    const swapped = await signed();
    await database.query(
      'UPDATE loan_contracts SET signed_sha256 = NULL, finishing_at = NULL, signed_key = NULL WHERE application_id = $1',
      [swapped],
    );
    const mallory = sealerOf(await demoIdentity(join(signing.folder, 'mallory'), machineClock), null);
    await finishContract({ ...context, sealer: mallory }, swapped);
    await asOwner(
      `DELETE FROM contract_evidence e WHERE application_id = $1 AND kind = 'document_made'
        AND number = (SELECT max(number) FROM contract_evidence m WHERE m.application_id = $1)`,
      [swapped],
    );
    assert.match(
      (await faultsOf(swapped))?.join() ?? '',
      /document: it is another one than the evidence tells of/,
    );
    // A withdrawal whose evidence was cut off, and one that nobody asked for.
    const back = await signed();
    assert.equal(await withdrawOf(back), 'withdrawn');
    await asOwner("DELETE FROM contract_evidence WHERE application_id = $1 AND kind = 'withdrawn'", [back]);
    assert.match(
      (await faultsOf(back))?.join() ?? '',
      /state: the evidence tells something else of a withdrawal/,
    );
    const forged = await signed();
    await database.query("UPDATE loan_contracts SET state = 'withdrawn' WHERE application_id = $1", [forged]);
    assert.match((await faultsOf(forged))?.join() ?? '', /state: the evidence tells something else/);
    const [one, other] = [await signed(), await signed()];
    await database.query(
      `UPDATE loan_contracts a SET shown_key = b.shown_key FROM loan_contracts b
      WHERE a.application_id = $1 AND b.application_id = $2`,
      [one, other],
    );
    assert.match((await faultsOf(one))?.join() ?? '', /shown: /);
    const unsigned = await signed();
    await database.query('UPDATE application_states SET signed_at = NULL WHERE application_id = $1', [
      unsigned,
    ]);
    assert.match(
      (await faultsOf(unsigned))?.join() ?? '',
      /state: the application has another time of signature/,
    );
    const { code, out } = await run('contract', 'verify', `${unsigned}`);
    assert.equal(code, 1);
    assert.match(out, /FAIL {2}state: /);
  });

  /** Signs after a consent and an offer that were said in these words, and makes the final PDF. */
  const signedWith = async (said: Readonly<Record<'consent' | 'offer', string>>, stored = said) => {
    const id = await begin();
    const shown = await json('application', 'show', `${id}`, '--reveal', '--reason', 'x');
    const entry = (kind: EvidenceKind, turn: number, sha256?: string): EvidenceEntry => ({
      ...{ kind, at: new Date() },
      facts: sha256 === undefined ? { turn } : { turn, sha256 },
    });
    for (const [index, text] of [stored.consent, stored.offer].entries())
      await queueReply(store, { id, phone: shown.phone }, index + 1, textContent(text));
    const entries = [
      entry('data_consent_asked', 1, hash('sha256', said.consent)),
      entry('data_consent_given', 2),
      entry('offer_shown', 2, hash('sha256', said.offer)),
      entry('offer_accepted', 3),
    ];
    await inTransaction(runtime, (session) =>
      recordEvidence(session, store.vault, [{ applicationId: id, entries }]),
    );
    await sign(id);
    return { id, phone: shown.phone as string, bytes: (await finishContract(context, id))!.bytes };
  };

  it('D46: the words of the consent and of the offer are annexes of the final PDF, and survive an erasure', async () => {
    const said = {
      consent: 'Hola Ñandú 👍. ¿Nos autorizas?\n\nEscribe ASESOR.',
      offer: 'Monto: $\u00a06.000.000',
    };
    const { id, phone, bytes } = await signedWith(said);
    assert.deepEqual(await faultsOf(id), []);
    await json('subject', 'erase', '--phone', phone, '--reason', 'ticket', '--close', '--yes');
    assert.deepEqual(await readReplyContents(database, store.vault, id), []);
    assert.deepEqual(await faultsOf(id), []);
    const after = (await finishContract(context, id))!.bytes;
    assert.deepEqual(after, bytes);
    if (missingPdfTools !== false) return;
    assert.equal(attached(after, 'consent.txt').toString(), said.consent);
    assert.equal(attached(after, 'offer.txt').toString(), said.offer);
    assert.match(pdfText(after), /Anexo: la oferta que se aceptó[\s\S]*Monto: \$\s6\.000\.000/);
  });

  it('D46: words that are gone, or others than the evidence has, are not attached, and verify says so', async () => {
    const said = { consent: 'Autorizo', offer: 'Monto: 1' };
    const { id } = await signedWith(said, { ...said, offer: 'Monto: 2' });
    assert.deepEqual(await faultsOf(id), ['document: the words of the offer are not attached']);
  });

  it('D46: verify asks for the evidence that the contract was shown and accepted', async () => {
    const id = await begin();
    const { sha256 } = await make(id);
    await prove(id);
    const acceptance = { contract: sha256, acceptedInput: '1', shownTurn: 1 };
    const signed = await signing.proven(id, (session) => signContract(session, store.vault, id, acceptance));
    assert.equal(signed, 'signed');
    assert.match((await faultsOf(id))?.join() ?? '', /signature: there is no evidence of contract_shown/);
  });

  it('takes no text of a person, and chains what comes at once', async () => {
    const id = await begin();
    const add = (facts: Record<string, string>) =>
      inTransaction(runtime, (session) =>
        recordEvidence(session, store.vault, [
          { applicationId: id, entries: [{ kind: 'declined', at: null, facts }] },
        ]),
      );
    for (const facts of [{ text: 'Ana Gómez' }, { 'Ana Gómez': 'x' }, { x: 'y'.repeat(300) }]) {
      await assert.rejects(add(facts as unknown as Record<string, string>), RangeError);
    }
    await Promise.all(Array.from({ length: 8 }, (_, n) => add({ n: `${n}` })));
    await make(id);
    assert.deepEqual(await faultsOf(id), []);
  });
});

/** The numbers of the rows of an application's chain. */
const numbersOf = async (id: ApplicationId) =>
  (
    await database.query('SELECT number FROM contract_evidence WHERE application_id = $1 ORDER BY number', [
      id,
    ])
  ).rows.map(({ number }) => number);

describe('evidence of many applications in one call', () => {
  const declined = (n: number) => ({ kind: 'declined' as const, at: new Date(), facts: { n: `${n}` } });
  const record = (
    some: Parameters<typeof recordEvidence>[2],
    session?: Parameters<typeof recordEvidence>[0],
  ) =>
    session === undefined
      ? inTransaction(runtime, (own) => recordEvidence(own, store.vault, some))
      : recordEvidence(session, store.vault, some);

  it('keeps a chain for each application, in the given order, whether it is empty or not', async () => {
    const ids = [await begin(), await begin(), await begin(), await begin()];
    const [made, twice, once, none] = ids as [ApplicationId, ApplicationId, ApplicationId, ApplicationId];
    for (const id of [made, twice, once]) await make(id);
    const fresh = await begin();
    const before = await numbersOf(made);
    await record([
      { applicationId: twice, entries: [declined(1), declined(2)] },
      { applicationId: fresh, entries: [declined(1)] },
      { applicationId: made, entries: [declined(1)] },
      { applicationId: none, entries: [] },
      { applicationId: once, entries: [declined(1)] },
      { applicationId: twice, entries: [declined(3)] },
    ]);
    const from = before.length;
    assert.deepEqual(await numbersOf(made), [...before, from + 1]);
    assert.deepEqual(await numbersOf(twice), [...before, from + 1, from + 2, from + 3]);
    assert.deepEqual([await numbersOf(fresh), await numbersOf(none)], [[1], []]);
    assert.deepEqual([await stateOf(fresh), await stateOf(none)], [['begun'], []]);
    await make(fresh);
    for (const id of [made, twice, once, fresh]) assert.deepEqual(await faultsOf(id), []);
    const { rows } = await database.query(
      `SELECT facts FROM contract_evidence WHERE application_id = $1 AND kind = 'declined' ORDER BY number`,
      [twice],
    );
    assert.deepEqual(
      rows.map(({ facts }) => JSON.parse(facts).n),
      ['1', '2', '3'],
    );
  });

  it('takes as many statements for fifty applications as for one', async () => {
    const ids: ApplicationId[] = [];
    while (ids.length < 50) ids.push(await begin());
    const count = (some: readonly ApplicationId[]) =>
      inTransaction(runtime, async (session) => {
        let statements = 0;
        const query = session.query.bind(session) as (...args: unknown[]) => Promise<unknown>;
        const counted = Object.assign(Object.create(session), {
          query: (...args: unknown[]) => {
            statements += 1;
            return query(...args);
          },
        });
        await record(
          some.map((applicationId) => ({ applicationId, entries: [declined(1)] })),
          counted,
        );
        return statements;
      });
    assert.equal(await count(ids), await count([await begin()]));
    assert.equal(await count([]), 0);
  });

  it('two calls about the same applications in opposite orders wait for one another, and both are chained', async () => {
    const ids = [await begin(), await begin(), await begin()];
    for (const id of ids) await make(id);
    const before = (await numbersOf(ids[0]!)).length;
    const orders = Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? ids : ids.toReversed()));
    await Promise.all(
      orders.map((some, n) =>
        record(some.map((applicationId) => ({ applicationId, entries: [declined(n)] }))),
      ),
    );
    for (const id of ids) {
      assert.equal((await numbersOf(id)).length, before + orders.length);
      assert.deepEqual(await faultsOf(id), []);
    }
  });

  it('writes nothing for anybody where one fact is a text of a person', async () => {
    const [one, other] = [await begin(), await begin()];
    const bad = { ...declined(1), facts: { text: 'Ana Gómez' } };
    await inTransaction(runtime, async (session) => {
      await assert.rejects(
        record(
          [
            { applicationId: one, entries: [declined(1)] },
            { applicationId: other, entries: [bad] },
          ],
          session,
        ),
        RangeError,
      );
    });
    assert.deepEqual([await numbersOf(one), await stateOf(one)], [[], []]);
  });
});

describe('the commands', () => {
  it('contract show writes the PDF for its owner alone, and the record of acts has it', async () => {
    const id = await begin();
    const sha256 = await sign(id);
    const path = join(signing.folder, 'out.pdf');
    // The certificate of the tests is that of the folder.
    await finishContract(context, id);
    const shown = await json('contract', 'show', `${id}`, '--output', path, '--reason', 'ticket 1');
    assert.deepEqual([shown.application_id, shown.state, shown.sha256], [id, 'signed', sha256]);
    assert.equal(shown.signed_sha256, hash('sha256', readFileSync(path), 'hex'));
    const [act] = await json('audit', 'list', '--application', `${id}`);
    assert.deepEqual([act.act, act.reason], ['contract show --output', 'ticket 1']);
    const verified = await json('contract', 'verify', `${id}`);
    assert.deepEqual([verified.verified, verified.checks.evidence], [true, 'ok']);
    assert.equal((await json('audit', 'list', '--application', `${id}`))[0].act, 'contract verify');
    const text = await run('contract', 'show', `${id}`);
    assert.doesNotMatch(text.out, /Ana|Gómez/);
    const again = join(signing.folder, 'again.pdf');
    const told = await run('contract', 'show', `${id}`, '--output', again);
    assert.deepEqual([told.code, told.err.includes(`The PDF was written to ${again}`)], [0, true]);
  });

  it('contract show replaces no file, and says what goes together', async () => {
    const id = await begin();
    await make(id);
    const path = join(signing.folder, 'there.pdf');
    writeFileSync(path, 'x', { mode: 0o644 });
    const replaced = await run('contract', 'show', `${id}`, '--output', path);
    assert.equal(replaced.code, 1);
    assert.match(replaced.err, /there\.pdf cannot be written \(.*EEXIST.*\): name a new file/);
    assert.equal(readFileSync(path, 'utf8'), 'x');
    const alone = await run('contract', 'show', `${id}`, '--reason', 'x');
    assert.deepEqual([alone.code, /--reason goes with --output/.test(alone.err)], [2, true]);
    const nowhere = await run('contract', 'show', `${id}`, '--output', join(signing.folder, 'no', 'c.pdf'));
    assert.match(nowhere.err, /cannot be written \(.*ENOENT.*\): name a new file/);
  });

  it('an application without a contract is said so', async () => {
    const id = await begin();
    for (const command of ['show', 'verify']) {
      const { code, err } = await run('contract', command, `${id}`);
      assert.equal(code, 1);
      assert.match(err, new RegExp(`application ${id} has no contract`));
    }
  });
});
