/** Contracts in this process, on a real database and a real folder. */
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { type ApplicationId, toApplicationId } from '../../src/domain/application/ids.ts';
import type { Proven } from '../../src/domain/evidence/evidence.ts';
import { localDate } from '../../src/domain/loan/local-day.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { inTransaction, type Transaction } from '../../src/ground/postgres/database.ts';
import { markConversations } from '../../src/subjects/applications/sql/application-marks.ts';
import { openDocumentStore } from '../../src/subjects/documents/store/document-store.ts';
import { DEMO_IDENTITY_FILE, demoIdentity } from '../../src/subjects/signing/pdf/demo-identity.ts';
import { sealerOf } from '../../src/subjects/signing/pdf/seal.ts';
import type { CodeResult, CodeSender, PersonsCode } from '../../src/subjects/signing/senders/code-sender.ts';
import { checkAnswer } from '../../src/subjects/signing/uses/check-answer.ts';
import { checkTerms } from '../../src/subjects/signing/uses/check-terms.ts';
import type { SigningContext } from '../../src/subjects/signing/uses/context.ts';
import { makeContract } from '../../src/subjects/signing/uses/make-contract.ts';
import { sendCode } from '../../src/subjects/signing/uses/send-code.ts';
import { recordEvidence, signContract } from '../../src/subjects/signing/uses/sign-contract.ts';
import { commandLine } from '../cli/harness.ts';
import { APPROVED, applicant } from './applicant.ts';
import { sessionsOf, type TestDatabase } from './database.ts';
import { registrarOf } from './intake.ts';
import { TERMS } from './terms.ts';

/** A way of codes within the process: it keeps what it sends. */
export class KeptCodes implements CodeSender {
  readonly way = 'sms';
  result: CodeResult = { kind: 'sent', messageId: 'SM1' };
  readonly sent: PersonsCode[] = [];

  async send(code: PersonsCode): Promise<CodeResult> {
    this.sent.push(code);
    return this.result;
  }

  /** The newest code. */
  get last(): string {
    return this.sent.at(-1)?.code ?? '';
  }
}

/** Writes the certificate of `testSigning` as two files, as an operator has it: cert.pem and key.pem. */
export function splitIdentity(folder: string): void {
  const text = readFileSync(join(folder, DEMO_IDENTITY_FILE), 'utf8');
  writeFileSync(join(folder, 'cert.pem'), new X509Certificate(text).toString());
  writeFileSync(join(folder, 'key.pem'), text, { mode: 0o600 });
}

/** 95 % of the declared amount, so that something is left for fees. */
const balanceOf = ({ debt_amount: amount = 6_000_000 }: { debt_amount?: unknown }) =>
  `${Math.floor(Number(amount) * 0.95)}`;

/** Call this at the top of a test file. */
export async function testSigning(store: TestDatabase) {
  const folder = mkdtempSync(join(tmpdir(), 'ventanilla-signing-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const codes = new KeptCodes();
  const lines: { facts: object; text: string }[] = [];
  writeFileSync(join(folder, 'terms.json'), JSON.stringify(TERMS));
  const { json, run } = commandLine(store, { DATA_DIR: folder, TERMS_FILE: join(folder, 'terms.json') });
  const register = await registrarOf(store);
  const { id: partner } = await json('partner', 'add', '--name', 'Acme Contracts', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  const database = sessionsOf(store);
  const context: SigningContext = {
    database,
    vault: store.vault,
    store: await openDocumentStore(join(folder, 'documents'), null, machineClock),
    log: { warn: (facts: object, text: string) => void lines.push({ facts, text }) } as SigningContext['log'],
    terms: checkTerms(TERMS, 'terms.json'),
    sealer: sealerOf(await demoIdentity(folder, machineClock), null),
    sender: codes,
    codesAnHour: 1_000,
  };
  let serial = 0;
  /** An approved application with a conversation, and with a debt that its loan can pay (D52). */
  const begin = async (
    changes: Parameters<typeof applicant>[0] = {},
    ofKey = key,
    balances: readonly string[] = [balanceOf(changes)],
  ): Promise<ApplicationId> => {
    serial += 1;
    const phone = toPhone(`+57301${String(serial).padStart(7, '0')}`);
    const idNumber = `10${String(serial).padStart(8, '0')}`;
    const made = applicant({ ...APPROVED, phone, id_number: idNumber, ...changes });
    const [id = 0] = await register(ofKey, [made]);
    await markConversations(database, [toApplicationId(id)]);
    for (const [index, balance] of balances.entries())
      await owe(toApplicationId(id), `Banco ${index + 1}`, balance);
    return toApplicationId(id);
  };
  const brandFile = join(folder, 'without-debts.json');
  writeFileSync(brandFile, JSON.stringify({ conversation: { steps: { debts: false } } }));
  const { id: plainKey } = await json('key', 'issue', '--partner', `${partner}`, '--brand', brandFile);
  /** The same, of a brand that asks for no debts: all of the loan is for the applicant. */
  const beginWithoutDebts = () => begin({}, plainKey, []);
  /** An operator adds a debt. */
  const owe = (id: ApplicationId, creditor: string, balance: string) =>
    json('debt', 'add', `${id}`, '--creditor', creditor, '--balance', balance, '--reference', '4711');
  /** What is proven, with its evidence, in a transaction of its own. */
  const proven = <Result>(
    id: ApplicationId,
    prove: (session: Transaction) => Promise<Proven<Result>>,
  ): Promise<Result> =>
    inTransaction(database, async (session) => {
      const { result, evidence } = await prove(session);
      await recordEvidence(session, store.vault, [{ applicationId: id, entries: evidence }]);
      return result;
    });
  const answer = (id: ApplicationId, question: 'last_four' | 'code', text: string) =>
    proven(id, (session) => checkAnswer(session, store.vault, id, question, text));
  /** The acceptance of the shown contract as the conversation records it, and the signature. */
  const accept = (id: ApplicationId, contract: string) =>
    proven(id, async (session) => {
      const acts = (['contract_shown', 'contract_accepted'] as const).map((kind, index) => ({
        ...{ kind, at: new Date(), facts: { turn: 3 + index, sha256: contract } },
      }));
      const { result, evidence } = await signContract(session, store.vault, id, {
        ...{ contract, acceptedInput: '7', shownTurn: 3 },
      });
      return { result, evidence: result === 'signed' ? [...acts, ...evidence] : evidence };
    });
  /** The last four of the ID number that `begin` gave. */
  const lastFourOf = async (id: ApplicationId): Promise<string> => {
    const shown = await json('application', 'show', `${id}`, '--reveal', '--reason', 'test');
    return shown.id_number.slice(-4);
  };
  /** Makes the contract; fails the test where it is blocked. */
  const make = async (id: ApplicationId) => {
    const made = await makeContract(context, id);
    if (made.kind !== 'made') throw new Error(`${made.kind}: ${made.reason}`);
    return made;
  };
  /** Proves both. */
  const prove = async (id: ApplicationId): Promise<void> => {
    const first = await answer(id, 'last_four', await lastFourOf(id));
    await sendCode(context, id);
    const second = await answer(id, 'code', codes.last);
    if (first !== 'right' || second !== 'right') throw new Error(`${first}, ${second}`);
  };
  /** The consent, as the conversation records it. */
  const consent = (id: ApplicationId) =>
    proven(id, async () => ({
      result: null,
      evidence: [{ kind: 'data_consent_given', at: new Date(), facts: { sha256: 'a'.repeat(64), turn: 1 } }],
    }));
  /** Everything up to the signature. */
  const sign = async (id: ApplicationId): Promise<string> => {
    const { sha256 } = await make(id);
    await consent(id);
    await prove(id);
    const signed = await accept(id, sha256);
    if (signed !== 'signed') throw new Error(signed);
    return sha256;
  };
  /** The options of `application disburse` that pay a signed contract by its list. */
  const lineOptions = async (id: number): Promise<string[]> => {
    const plan: { payee: string; amount: string }[] = await json('disbursement', 'plan', `${id}`);
    const { rows } = await store.database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    const day = localDate(rows[0]!.now, TERMS.countries.CO.zone);
    return plan.flatMap(({ payee, amount }, index) => [
      '--line',
      `payee=${payee};amount=${amount};reference=TR-${id}-${index};value-date=${day}`,
    ]);
  };
  return {
    context,
    lineOptions,
    codes,
    lines,
    folder,
    begin,
    beginWithoutDebts,
    owe,
    make,
    answer,
    proven,
    accept,
    prove,
    consent,
    sign,
    lastFourOf,
    json,
    run,
    partner,
    key,
    register,
  };
}
