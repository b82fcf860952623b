/** A real clamd with a signature of the tests' own. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';

const PROGRAM = '/usr/sbin/clamd';
export const hasClamd = existsSync(PROGRAM);
/** What clamd is told to find. */
export const VIRUS = 'VENTANILLA-TEST-VIRUS';
export const VIRUS_NAME = 'VentanillaTest.UNOFFICIAL';

/** Starts clamd; `mostBytes` is its StreamMaxLength. */
export async function startClamd(mostBytes = 30_000_000) {
  const folder = mkdtempSync(join(tmpdir(), 'ventanilla-clamd-'));
  const data = join(folder, 'data');
  mkdirSync(data);
  writeFileSync(join(data, 'test.ndb'), `VentanillaTest:0:*:${Buffer.from(VIRUS).toString('hex')}\n`);
  const path = join(folder, 'socket');
  const port = await freePort();
  const settings = [
    `LocalSocket ${path}`,
    `TCPSocket ${port}`,
    'TCPAddr 127.0.0.1',
    `DatabaseDirectory ${data}`,
    `TemporaryDirectory ${folder}`,
    'Foreground yes',
    `StreamMaxLength ${mostBytes}`,
  ];
  writeFileSync(join(folder, 'clamd.conf'), `${settings.join('\n')}\n`);
  const process = spawn(PROGRAM, ['-c', join(folder, 'clamd.conf')], { stdio: 'ignore' });
  const ended = new Promise((done) => process.once('close', done));
  const stop = async () => {
    process.kill('SIGKILL');
    await ended;
  };
  after(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await eventually('clamd', () => accepts(path));
  return { address: { host: '127.0.0.1', port }, socket: { path }, stop };
}

function accepts(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ path }, () => {
      socket.destroy();
      done(true);
    });
    socket.on('error', () => done(false));
  });
}
