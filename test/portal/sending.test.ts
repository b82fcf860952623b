/**
 * What the portal's page sends of a file (docs/portal.md, "Sending a file"): the page dies at any request, is opened
 * again and sends the file again, and each applicant is registered once. The page's own code, against the real routes.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { TRUE_AND_FALSE } from '../../packages/submit/src/map/consent.ts';
import { openSource, type Source } from '../../packages/submit/src/map/source.ts';
import { chosenFile } from '../../packages/submit/src/read/chosen-file.ts';
import { applicant, csvOf, fileOf } from '../../packages/submit/test/files.ts';
import type { Ended } from '../../portal/src/send/sending.ts';
import { noteSending, PageRecords, send, sentBefore, submissionId } from '../../portal/src/send/sending.ts';
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import { commandLine } from '../cli/harness.ts';
import { testDatabase } from '../support/database.ts';
import { startTestPortal } from '../support/portal.ts';

const store = await testDatabase();
const { json } = commandLine(store);
const portal = await startTestPortal(store);
const BATCHES = 6;
const ROWS = 100 * BATCHES;

let files = 0;

/**
 * Rows without a phone in every second place: nothing but the Idempotency-Key keeps these from being registered twice.
 */
async function aFile(changes: (index: number) => object = () => ({})): Promise<Source> {
  files += 1;
  const rows = Array.from({ length: ROWS }, (_, index) =>
    applicant({
      id_number: `${20 + files}${String(index).padStart(6, '0')}7`,
      phone: index % 2 === 0 ? '' : `+57300${String(files * 1_000 + index).padStart(7, '0')}`,
      ...changes(index),
    }),
  );
  const bytes = readFileSync(fileOf(`sent-${files}.csv`, csvOf(rows)));
  const chosen = Object.assign(new Blob([bytes]), { name: `sent-${files}.csv`, lastModified: 1 });
  return openSource(chosenFile(chosen), {
    ...{
      encoding: null,
      language: 'en',
      headerRow: null,
      sheet: null,
      visibleOnly: false,
      map: [],
      ignore: [],
    },
    conversion: { decimal: null, consent: TRUE_AND_FALSE, values: new Map(), country: 'CO' },
  });
}

async function aPartner(cap: string[] = []) {
  const id = toPartnerId((await json('partner', 'add', '--name', `P${files}`, '--country', 'CO')).id);
  const key = await json('key', 'issue', '--partner', `${id}`, ...cap);
  const visitor = await (await portal.enrolled(id, `sender.${id}`, 'owner')).signIn();
  const used = async () => (await visitor.ask('GET', '/api/quota')).body.used_24h;
  return { key, visitor, used };
}

const real = globalThis.fetch;

/** How a page dies: with the request `at` (from 1), before it leaves or before its answer is read. */
interface Death {
  readonly at: number;
  readonly isSent: boolean;
}

/** Sends as a page that was just opened does. After its death nothing of it reaches the service. */
async function aPage(
  source: Source,
  { key, visitor }: Awaited<ReturnType<typeof aPartner>>,
  death: Death = { at: Number.POSITIVE_INFINITY, isSent: true },
): Promise<Ended & { requests: number }> {
  const to = { keyId: key.id, environment: 'PRO' } as const;
  let requests = 0;
  const gone = () => Response.json({ error: 'the page is gone' }, { status: 400 });
  globalThis.fetch = async (path, init) => {
    requests += 1;
    const number = requests;
    if (number > death.at || (number === death.at && !death.isSent)) return gone();
    const headers = { ...(init!.headers as Record<string, string>), Cookie: visitor.cookie! };
    const answer = await real(`${portal.url()}${path}`, { ...init!, headers });
    return number === death.at ? gone() : answer;
  };
  try {
    const ended = await send({
      ...{ source, to, rows: ROWS, duplicate: 'duplicate', stop: new AbortController().signal },
      records: new PageRecords(await submissionId(source, to), 'a file'),
      faultsOf: () => [],
      onProgress: () => {},
      onWait: () => {},
    });
    return { ...ended, requests };
  } finally {
    globalThis.fetch = real;
  }
}

const registeredOf = ({ tally }: Ended) => Object.values(tally.registered).reduce((sum, one) => sum + one, 0);

describe('a file that the page sends', () => {
  for (const isSent of [false, true])
    it(`registers each applicant once where the page dies ${isSent ? 'before an answer is read' : 'before a request leaves'}`, async () => {
      for (let at = 1; at <= BATCHES; at += 1) {
        const source = await aFile();
        const partner = await aPartner();
        const dead = await aPage(source, partner, { at, isSent });
        assert.equal(dead.kind, 'failed');
        const used = await partner.used();
        assert.ok(used < ROWS || (isSent && at === BATCHES), `request ${at}: ${used}`);
        const whole = await aPage(source, partner);
        assert.deepEqual(
          [whole.kind, registeredOf(whole), await whole.refused?.text()],
          ['done', ROWS, undefined],
          `request ${at}`,
        );
        assert.equal(await partner.used(), ROWS);
        const again = await aPage(source, partner);
        assert.deepEqual([again.kind, again.tally], ['done', whole.tally]);
        assert.equal(await partner.used(), ROWS);
      }
    });

  it('goes on where the quota ended it, also with a page that was just opened, and registers each applicant once', async () => {
    const source = await aFile();
    const partner = await aPartner(['--daily-cap', '250']);
    const first = await aPage(source, partner);
    assert.deepEqual([first.kind, registeredOf(first), first.tally.notSent], ['quota', 250, ROWS - 250]);
    await json('key', 'set', `${partner.key.id}`, '--daily-cap', '430');
    const second = await aPage(source, partner, { at: 7, isSent: true });
    assert.equal(second.kind, 'failed');
    const third = await aPage(source, partner);
    assert.deepEqual([third.kind, registeredOf(third)], ['quota', 430]);
    await json('key', 'set', `${partner.key.id}`, '--daily-cap', '1000');
    const last = await aPage(source, partner);
    assert.deepEqual([last.kind, registeredOf(last), await partner.used()], ['done', ROWS, ROWS]);
  });

  it('ends with the rows that were not taken, as submit writes them, without formulas', async () => {
    const source = await aFile((index) =>
      index === 3 ? { city: '@SUM(1)', income: '0' } : index === 5 ? { phone: '+573000000001' } : {},
    );
    const partner = await aPartner();
    await partner.visitor.ask('POST', `/api/batches?key=${partner.key.id}&environment=PRO`, {
      applications: [
        {
          ...applicant(),
          income: 9_000_000,
          debt_amount: 6_000_000,
          messaging_optin: true,
          phone: '+573000000001',
        },
      ],
    });
    const ended = await aPage(source, partner);
    assert.deepEqual([ended.kind, registeredOf(ended)], ['done', ROWS - 2]);
    assert.deepEqual([ended.tally.duplicate, ended.tally.invalid], [1, 1]);
    const lines = (await ended.refused!.text()).split('\r\n');
    assert.match(lines[0]!, /^\ufeff?rejected_row,rejected_reason,name/);
    assert.match(lines[1]!, /^5,income is required and must be > 0 \(numeric\),/);
    assert.match(lines[1]!, /,'@SUM\(1\),/);
    assert.match(lines[2]!, /^7,duplicate,/);
    assert.equal(lines.length, 4);
  });

  it('of another key, another country or another mapping is another submission', async () => {
    const source = await aFile();
    const id = (one: Source, keyId = 1) => submissionId(one, { keyId, environment: 'PRO' });
    const other = { ...source, settings: { ...source.settings, decimal: 'comma' } };
    const ids = [await id(source), await id(source, 2), await id(source.inCountry('MX')), await id(other)];
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(await id(source), ids[0]);
    assert.match(ids[0]!, /^[0-9a-f]{64}$/);
  });

  it('leaves digests and times in the browser, which tell whether the first answers come back', async (t) => {
    const kept = new Map<string, string>();
    const before = Object.getOwnPropertyDescriptor(globalThis, 'localStorage');
    const value = {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, text: string) => kept.set(name, text),
    };
    Object.defineProperty(globalThis, 'localStorage', { value, configurable: true });
    t.after(() => {
      if (before === undefined) Reflect.deleteProperty(globalThis, 'localStorage');
      else Object.defineProperty(globalThis, 'localStorage', before);
    });
    const source = await aFile();
    const to = { keyId: 1, environment: 'PRO' } as const;
    const look = (id: string) => sentBefore(source, to, id).then(({ kind }) => kind);
    assert.equal(await look('one'), 'never');
    await noteSending(source, to, 'one', 'never');
    assert.deepEqual([await look('one'), await look('two')], ['again', 'anew']);
    await noteSending(source, { ...to, environment: 'DEV' }, 'two', 'never');
    assert.equal(await look('one'), 'again');
    t.mock.method(Date, 'now', () => 0x1_000_000_000_000);
    assert.equal(await look('one'), 'anew', 'after a day');
    assert.match([...kept.values()].join(), /^\[\["[0-9a-f]{64}","one",\d+\]\]$/);
  });
});
