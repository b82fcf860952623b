/** A time-stamp authority (RFC 3161) on 127.0.0.1: `openssl ts` behind HTTP. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';

const CONFIG = `
[ req ]
distinguished_name = dn
[ dn ]
[ tsa ]
default_tsa = one
[ one ]
serial = serial
signer_cert = tsa.crt
signer_key = tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha384, sha512
ess_cert_id_alg = sha256
[ ext ]
extendedKeyUsage = critical,timeStamping
`;

export interface TimeStampAuthority {
  readonly url: string;
  /** Requests that were answered. */
  readonly count: number;
  /**
   * `down`: every request is answered with 503. `silent`: with nothing at all. `garbage`: with bytes that are no stamp.
   * `replay`: with the first stamp, which is of something else. `endless`: with a head, and then with nothing more.
   * `huge`: with more bytes than a stamp has.
   */
  mode: 'works' | 'down' | 'silent' | 'garbage' | 'replay' | 'endless' | 'huge';
}

/** Call this at the top of a test file; the authority goes with it. */
export async function timeStampAuthority(): Promise<TimeStampAuthority> {
  const folder = mkdtempSync(join(tmpdir(), 'ventanilla-tsa-'));
  writeFileSync(join(folder, 'config'), CONFIG);
  writeFileSync(join(folder, 'serial'), '01');
  const options = { cwd: folder, stdio: 'pipe' } as const;
  const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', 'tsa.key', '-out', 'tsa.crt'];
  const own = ['-x509', '-days', '2', '-subj', '/CN=test time', '-extensions', 'ext', '-config', 'config'];
  execFileSync('openssl', ['req', ...key, ...own], options);
  const run = promisify(execFile);
  let count = 0;
  let made = 0;
  const authority = {
    url: '',
    get count() {
      return count;
    },
    mode: 'works' as TimeStampAuthority['mode'],
  };
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (authority.mode === 'silent') return;
    if (authority.mode === 'down') return void response.writeHead(503).end();
    response.setHeader('content-type', 'application/timestamp-reply');
    if (authority.mode === 'garbage') return void response.end('<html>no stamp</html>');
    if (authority.mode === 'huge') return void response.end(Buffer.alloc(2_000_000));
    if (authority.mode === 'endless') return void response.write(Buffer.from([0x30]));
    if (authority.mode === 'replay') return void response.end(readFileSync(join(folder, '1.tsr')));
    made += 1;
    const [query, reply] = [join(folder, `${made}.tsq`), join(folder, `${made}.tsr`)];
    writeFileSync(query, Buffer.concat(parts));
    const args = ['ts', '-reply', '-queryfile', query, '-out', reply, '-config', 'config', '-section', 'one'];
    await run('openssl', args, { cwd: folder });
    count += 1;
    response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(readFileSync(reply));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  authority.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  after(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return authority;
}
