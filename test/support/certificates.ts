/** Certificates of every kind for tests of TLS, made by openssl on demand. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface CertificateFiles {
  readonly key: string;
  readonly cert: string;
}

/** An authority of its own, with certificates for 127.0.0.1: a good one and bad ones. */
export interface Certificates {
  /** The authority's certificate. */
  readonly ca: string;
  readonly good: CertificateFiles;
  readonly expired: CertificateFiles;
  readonly wrongName: CertificateFiles;
  readonly selfSigned: CertificateFiles;
}

/** True where the program is installed; its tests are skipped elsewhere. */
export function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'ventanilla-certificates-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const file = (name: string) => readFileSync(join(folder, name), 'utf8');
  const pair = (name: string) => ({ key: file(`${name}.key`), cert: file(`${name}.crt`) });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const issue = (name: string, alternativeName: string, ...when: string[]) => {
    writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${alternativeName}\n`);
    openssl('req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', '/CN=endpoint');
    const signed = [
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
    ];
    openssl(...signed, '-extfile', `${name}.ext`, '-out', `${name}.crt`, ...when);
  };
  try {
    const own = ['-x509', '-days', '2', '-subj', '/CN=test authority'];
    openssl('req', ...newKey, ...own, '-keyout', 'ca.key', '-out', 'ca.crt');
    issue('good', 'IP:127.0.0.1', '-days', '2');
    // openssl 3.0 has no option for the first day; a negative number of days ends yesterday.
    issue('expired', 'IP:127.0.0.1', '-days', '-1');
    issue('wrong', 'DNS:other.example', '-days', '2');
    openssl(
      ...[
        'req',
        ...newKey,
        '-x509',
        '-days',
        '2',
        '-subj',
        '/CN=self',
        '-addext',
        'subjectAltName=IP:127.0.0.1',
      ],
      ...['-keyout', 'self.key', '-out', 'self.crt'],
    );
    return {
      ca: file('ca.crt'),
      good: pair('good'),
      expired: pair('expired'),
      wrongName: pair('wrong'),
      selfSigned: pair('self'),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
