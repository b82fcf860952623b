/** The PDFs of contracts, judged by Debian's tools (D45, D46). */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Block } from '../../src/domain/loan/contract-template.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { checkSeal } from '../../src/subjects/signing/pdf/check-seal.ts';
import { DEMO_IDENTITY_FILE, demoIdentity } from '../../src/subjects/signing/pdf/demo-identity.ts';
import { linesOf } from '../../src/subjects/signing/pdf/draw.ts';
import { readIdentity } from '../../src/subjects/signing/pdf/identity.ts';
import { contractPdf, signedPdf } from '../../src/subjects/signing/pdf/make.ts';
import { sealerOf } from '../../src/subjects/signing/pdf/seal.ts';
import { cpuMsOf } from '../support/cpu-time.ts';
import { attached, missingPdfTools, objectsOf, pdfsig, pdfText, qpdfFault } from '../support/pdf-tools.ts';
import { timeStampAuthority } from '../support/time-stamps.ts';

const AT = new Date('2026-11-23T15:00:00Z');
const HEADING = { title: 'Contrato', author: 'Acme', language: 'es', at: AT };
const FOOT = {
  left: 'Contrato 7',
  page: (page: number, pages: number) => `Página ${page} de ${pages}`,
  mark: null,
};
const text = (value: string): Block => ({ kind: 'text', text: value });
const TABLE: Block = {
  kind: 'table',
  head: ['Mes', 'Cuota', 'Saldo'],
  rows: Array.from({ length: 120 }, (_, month) => [
    `${month + 1}`,
    '$ 235.397,12',
    '$ 99.999.999.999.999.999,99',
  ]),
};

describe('a contract', { skip: missingPdfTools }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ventanilla-identity-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const identity = await demoIdentity(folder, machineClock);
  const sealer = sealerOf(identity, null);
  const make = async (...blocks: Block[]) =>
    sealer.seal(await contractPdf(HEADING, blocks, FOOT), { reason: 'test', at: AT });

  it('is sealed as PAdES, and pdfsig and qpdf find no fault', async () => {
    const pdf = await make({ kind: 'title', text: 'Contrato' }, text('María José Ñandú'), TABLE);
    const said = pdfsig(pdf);
    assert.match(said, /Signature Type: ETSI\.CAdES\.detached/);
    assert.match(said, /Total document signed/);
    assert.match(said, /Signature Validation: Signature is Valid/);
    assert.match(said, /DEMONSTRATION, not trusted/);
    assert.equal(qpdfFault(pdf), null);
    const { intact, certificate, timestamped } = checkSeal(pdf);
    assert.deepEqual([intact, timestamped], [true, false]);
    assert.match(certificate ?? '', /^[0-9a-f]{64}$/);
  });

  it('says that nothing may be added: its one signature certifies it (DocMDP)', async () => {
    const shown = await make(text('Uno'));
    const certificate = { blocks: [text('Certificado')], foot: FOOT, evidence: '{}', annexes: {} };
    const signed = await sealer.seal(await signedPdf(HEADING, shown, certificate), { reason: 'x', at: AT });
    for (const pdf of [shown, signed]) {
      const { catalog, value } = objectsOf(pdf);
      const perms = value(catalog['/Perms']);
      const signature = value(perms['/DocMDP']);
      assert.deepEqual(Object.keys(perms), ['/DocMDP']);
      assert.equal(signature['/Type'], '/Sig');
      const [reference, ...others] = signature['/Reference'].map(value);
      assert.deepEqual(others, []);
      assert.deepEqual(
        { ...reference, '/TransformParams': value(reference['/TransformParams']) },
        {
          '/Type': '/SigRef',
          '/TransformMethod': '/DocMDP',
          '/TransformParams': { '/Type': '/TransformParams', '/P': 1, '/V': '/1.2' },
        },
      );
      assert.match(pdfsig(pdf), /Total document signed\n.*Signature Validation: Signature is Valid/s);
    }
  });

  it('shows every changed byte, by pdfsig and by the own check', async () => {
    const pdf = await make(text('Valor: 100'));
    const at = [50, 1_000, pdf.length - 50];
    for (const index of at) {
      const changed = Buffer.from(pdf);
      changed[index] = (changed[index] ?? 0) ^ 1;
      assert.equal(checkSeal(changed).intact, false, `byte ${index}`);
      assert.doesNotMatch(pdfsig(changed), /Signature is Valid[\s\S]*/, `byte ${index}`);
    }
    assert.equal(checkSeal(Buffer.concat([pdf, Buffer.from(' ')])).intact, false);
    for (const none of [Buffer.alloc(0), Buffer.from('%PDF-1.7'), pdf.subarray(0, pdf.length / 2)]) {
      assert.equal(checkSeal(none).intact, false);
    }
  });

  it('has names with accents, without their emoji, and with letters that the font lacks by their number', async () => {
    const pdf = await make(text('Zoë Łukasz 😀🦊👍🏽 Ñuñoa O’Neil‮x 中 Ю'), text('ação ™ 12 # *'));
    const read = pdfText(pdf);
    assert.match(read, /Zoë Łukasz Ñuñoa O’Neilx \[U\+4E2D\] Ю/);
    assert.match(read, /ação ™ 12 # \*/);
  });

  it('breaks long names inside, and pages with the head of the table again', async () => {
    const name = 'Wolfeschlegelsteinhausen'.repeat(12);
    const pdf = await make(text(`El deudor ${name} paga.`), TABLE);
    const read = pdfText(pdf);
    assert.equal(read.replaceAll(/\s/g, '').includes(name), true);
    assert.equal(read.match(/Mes\s+Cuota\s+Saldo/g)?.length, read.match(/Página \d de \d/g)?.length);
    assert.match(read, /Página 3 de 3/);
    for (let month = 1; month <= 120; month += 1) assert.match(read, new RegExp(`^ *${month} `, 'm'));
  });

  it('has equal texts for equal values', async () => {
    const blocks = [text('Uno'), TABLE];
    assert.equal(pdfText(await make(...blocks)), pdfText(await make(...blocks)));
  });

  it('is made and sealed in less than 500 ms of a core', async (t) => {
    const took: number[] = [];
    for (let run = 0; run < 5; run += 1) {
      took.push(
        await cpuMsOf(() => make({ kind: 'title', text: 'Contrato' }, text('María '.repeat(300)), TABLE)),
      );
    }
    t.diagnostic(`took ${took.map((ms) => ms.toFixed()).join(', ')} ms of a core`);
    assert.ok(Math.min(...took) < 500, `${took}`);
  });

  it('is part of the signed document: its pages, then the certificate, and itself byte for byte', async () => {
    const shown = await make(text('Valor: 100'), TABLE);
    const annexes = { consent: 'Sí, autorizo 👍\n', offer: 'Monto: 100' };
    const certificate = { blocks: [text('Certificado')], foot: FOOT, evidence: '{"a":"ñ"}', annexes };
    const signed = await sealer.seal(await signedPdf(HEADING, shown, certificate), { reason: 'x', at: AT });
    assert.equal(qpdfFault(signed), null);
    const said = pdfsig(signed);
    assert.equal(said.match(/Signature is Valid/g)?.length, 1);
    assert.match(said, /Total document signed/);
    assert.deepEqual(attached(signed, 'contract.pdf'), shown);
    assert.equal(attached(signed, 'evidence.json').toString(), '{"a":"ñ"}');
    assert.equal(attached(signed, 'consent.txt').toString(), annexes.consent);
    assert.equal(attached(signed, 'offer.txt').toString(), annexes.offer);
    const read = pdfText(signed);
    assert.ok(read.startsWith(pdfText(shown).trimEnd().slice(0, -1)), 'the pages of the shown contract');
    assert.match(read, /Certificado/);
  });

  it('has a time stamp where an authority is set, and none is made where the authority fails', async () => {
    const authority = await timeStampAuthority();
    const stamping = sealerOf(identity, { url: authority.url, clock: machineClock });
    const pdf = await contractPdf(HEADING, [text('Uno')], FOOT);
    const stamped = await stamping.seal(pdf, { reason: 'x', at: AT });
    assert.equal(authority.count, 1);
    assert.deepEqual(checkSeal(stamped).timestamped, true);
    assert.match(pdfsig(stamped), /Signature is Valid/);
    assert.equal(qpdfFault(stamped), null);
    for (const mode of ['down', 'garbage', 'huge', 'replay'] as const) {
      authority.mode = mode;
      await assert.rejects(stamping.seal(pdf, { reason: 'x', at: AT }), { name: 'TimestampFailure' }, mode);
    }
  });

  it('waits for a time stamp for a bounded time, also for its last byte', async () => {
    const authority = await timeStampAuthority();
    const stamping = sealerOf(identity, { url: authority.url, clock: machineClock });
    const pdf = await contractPdf(HEADING, [text('Uno')], FOOT);
    for (const mode of ['silent', 'endless'] as const) {
      authority.mode = mode;
      await assert.rejects(stamping.seal(pdf, { reason: 'x', at: AT }), { name: 'TimestampFailure' }, mode);
    }
  });
});

describe('the certificate that seals', { skip: missingPdfTools }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'ventanilla-keys-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string) => join(folder, name);
  const make = (name: string, ...key: string[]) =>
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-nodes',
        '-newkey',
        ...key,
        '-keyout',
        file(`${name}.key`),
        '-out',
        file(`${name}.crt`),
      ].concat(['-days', '2', '-subj', `/CN=${name}`]),
      { stdio: 'pipe' },
    );

  it('is the operator’s own: RSA or a curve of NIST', async () => {
    make('rsa', 'rsa:2048');
    make('p384', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384');
    for (const name of ['rsa', 'p384']) {
      const sealer = sealerOf(await readIdentity(file(`${name}.crt`), file(`${name}.key`)), null);
      const pdf = await sealer.seal(await contractPdf(HEADING, [text('Uno')], FOOT), { reason: 'x', at: AT });
      assert.match(pdfsig(pdf), new RegExp(`Common Name: ${name}[\\s\\S]*Signature is Valid`));
      assert.equal(checkSeal(pdf).intact, true, name);
    }
  });

  it('is known by its issuer and its number: another certificate of the chain may have the same number', async () => {
    const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe', cwd: folder });
    openssl(
      ...['req', '-x509', '-nodes', '-newkey', 'rsa:2048', '-keyout', 'root.key', '-out', 'root.crt'],
      ...['-days', '2', '-subj', '/CN=root', '-set_serial', '7'],
    );
    openssl(
      ...[
        'req',
        '-nodes',
        '-newkey',
        'rsa:2048',
        '-keyout',
        'leaf.key',
        '-out',
        'leaf.csr',
        '-subj',
        '/CN=leaf',
      ],
    );
    openssl(
      ...['x509', '-req', '-in', 'leaf.csr', '-CA', 'root.crt', '-CAkey', 'root.key', '-set_serial', '7'],
      ...['-days', '2', '-out', 'leaf.crt'],
    );
    writeFileSync(file('chain.crt'), `${readFileSync(file('leaf.crt'))}${readFileSync(file('root.crt'))}`);
    const sealer = sealerOf(await readIdentity(file('chain.crt'), file('leaf.key')), null);
    const pdf = await sealer.seal(await contractPdf(HEADING, [text('Uno')], FOOT), { reason: 'x', at: AT });
    assert.deepEqual([checkSeal(pdf).intact, checkSeal(pdf).certificate], [true, sealer.certificate]);
  });

  it('is refused with the name of the file and the rule', async () => {
    make('other', 'rsa:2048');
    make('edwards', 'ed25519');
    writeFileSync(file('empty'), '');
    const refused = (certificate: string, key: string, message: RegExp) =>
      assert.rejects(readIdentity(file(certificate), file(key)), message);
    await refused('rsa.crt', 'other.key', /SIGNING_KEY_FILE is not the key of the certificate/);
    await refused('rsa.crt', 'empty', /SIGNING_KEY_FILE must have a private key in PEM/);
    copyFileSync(file('rsa.key'), file('open.key'));
    chmodSync(file('open.key'), 0o644);
    await refused('rsa.crt', 'open.key', /SIGNING_KEY_FILE is open to other users: .*chmod 600/);
    await refused('empty', 'rsa.key', /SIGNING_CERTIFICATE_FILE must have a certificate in PEM/);
    await refused('absent', 'rsa.key', /SIGNING_CERTIFICATE_FILE cannot be read: .*ENOENT/);
    await refused(
      'edwards.crt',
      'edwards.key',
      /must have an RSA key of 2048 bits or more, or a key on P-256/,
    );
  });

  it('of the demonstration is made once, for its owner alone, also by several processes at once', async () => {
    const data = join(folder, 'data');
    const some = await Promise.all([
      demoIdentity(data, machineClock),
      demoIdentity(data, machineClock),
      demoIdentity(data, machineClock),
    ]);
    assert.equal(new Set(some.map(({ certificate }) => Buffer.from(certificate).toString('hex'))).size, 1);
    assert.equal(statSync(join(data, DEMO_IDENTITY_FILE)).mode & 0o777, 0o600);
    const before = readFileSync(join(data, DEMO_IDENTITY_FILE));
    assert.deepEqual((await demoIdentity(data, machineClock)).certificate, some[0]?.certificate);
    assert.deepEqual(readFileSync(join(data, DEMO_IDENTITY_FILE)), before);
  });
});

describe('lines', () => {
  it('are never wider than the page, and lose no letter', () => {
    const widthOf = (one: string) => one.length;
    const value = 'uno dos treeeeeeeeeeees 4';
    const lines = linesOf(value, 6, widthOf);
    assert.ok(lines.every((line) => line.length <= 6));
    assert.equal(lines.join('').replaceAll(' ', ''), value.replaceAll(' ', ''));
    assert.deepEqual(linesOf('a\nb', 6, widthOf), ['a', 'b']);
    assert.deepEqual(linesOf('', 6, widthOf), ['']);
  });
});
