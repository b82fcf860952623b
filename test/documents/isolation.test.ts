/**
 * An evil program in the reader's place: it tries to reach the service, its files, its sockets and the machine, by
 * system calls of its own. The same program without isolation reaches them, so the tries are real.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { chooseReader } from '../../src/subjects/documents/reader/choose-reader.ts';
import {
  exposed,
  isolated,
  type ReaderCommand,
  type ReaderProgram,
  readerProgram,
} from '../../src/subjects/documents/reader/isolation.ts';
import { PDF_LIMITS, processReader } from '../../src/subjects/documents/reader/reader.ts';
import { eventually, PATIENCE_MS } from '../support/eventually.ts';

const isIsolating = (await chooseReader(machineClock, 'isolated')) !== null;
const skip = !isIsolating && 'this machine cannot isolate a reader';
const noCalls =
  (process.platform !== 'linux' || process.arch !== 'x64') && 'the numbers of calls are those of x64';
const MARK = `ventanilla-evil-${process.pid}`;

const folder = mkdtempSync(join(tmpdir(), 'ventanilla-isolation-'));
// The reader of root's service is another user: what stops it must not be the rights of this folder.
chmodSync(folder, 0o777);
after(() => rmSync(folder, { recursive: true }));
const secret = join(folder, 'secrets.json');
writeFileSync(secret, '{}', { mode: 0o666 });
writeFileSync(join(folder, 'keep'), '');

const account = process.getuid?.() === 0 ? { account: { uid: 61_084, gid: 61_084 } } : {};
const victim = spawn('sleep', ['3600'], { ...account.account, cwd: '/', stdio: 'ignore' });
after(() => victim.kill('SIGKILL'));

const connections: string[] = [];
async function listening(at: string | number): Promise<Server> {
  const server = createServer((socket) => {
    connections.push(String(at));
    socket.destroy();
  }).listen(typeof at === 'number' ? { port: at, host: '127.0.0.1' } : { path: at });
  after(() => server.close());
  await new Promise((done) => server.once('listening', done));
  return server;
}
const socketPath = join(folder, 's.PGSQL.5432');
const abstractName = `${MARK}-abstract`;
const tcp = await listening(0);
await listening(socketPath);
await listening(`\0${abstractName}`);
chmodSync(socketPath, 0o777);
const { port } = tcp.address() as { port: number };
const segment = noCalls
  ? '0'
  : (/\d+/.exec(execFileSync('ipcmk', ['-M', '64', '-p', '0666'], { encoding: 'utf8' }))?.[0] ?? '');
if (!noCalls) after(() => spawnSync('ipcrm', ['-m', segment]));

/** Perl can call the kernel by number, and needs no module for that. */
const EVIL = String.raw`
# ${MARK}
$| = 1;
my ($signals, $forks) = (SIGNALS, FORKS);
my @told;
sub told { my ($what, $reached) = @_; push @told, "$what: " . ($reached ? "reached" : 0 + $!); }
sub call { my ($call, @given) = @_; $! = 0; my $result = syscall($call, @given); return $result != -1; }
my $victim = VICTIM;
# The third one is this text; 259 is /dev/null.
my @open = grep { my $file; call(72, $_, 1, 0) && open($file, "<&=", $_) && (stat $file)[6] != 259 } 4 .. 1023;
told("files @open", scalar @open);
for my $signal (0 .. $signals) { told("signal $signal", call(62, $victim, $signal)); }
told("everybody", call(62, -1, 0)) if $signals;
# At the second one the shell ends, and this program with it.
call(62, 1, $_) for $signals ? (1, 3 .. 64) : ();
told("trace", call(101, 16, $victim, 0, 0));
told("trace the first", call(101, 16, 1, 0, 0));
# The pipes are sockets of the service, and the kernel names the process at their other end.
my ($peer, $length) = ("\0" x 4, pack("L", 4)); my $knows = syscall(55, 0, 1, 77, $peer, $length) != -1;
$peer = unpack("l", $peer);
if ($knows) {
  told("signal to the peer", call(424, $peer, 0, 0, 0));
  told("files of the peer", call(438, $peer, 0, 0));
  told("space $_->[0] of the peer", call(308, $peer, $_->[1])) for ["user", 0x10000000], ["mount", 0x20000], ["net", 0x40000000];
}
my $memory = "\0" x 8; my $vector = pack("PQ", $memory, 8);
told("memory", call(310, $victim, $vector, 1, $vector, 1, 0));
sub dial { my ($family, $address) = @_; my $fd = syscall(41, $family, 1, 0); return 0 if $fd < 0; return call(42, $fd, $address, length $address); }
told("tcp", dial(2, pack("S n C4 x8", 2, PORT, 127, 0, 0, 1)));
told("inspector", dial(2, pack("S n C4 x8", 2, 9229, 127, 0, 0, 1)));
told("socket", dial(1, pack("S a108", 1, "SOCKET")));
told("abstract socket", dial(1, pack("S", 1) . "\0" . "ABSTRACT"));
told("read $_", open(my $file, "<", $_)) for "SECRET", "/proc/$victim/environ", "/proc/$victim/mem", "/proc/self/environ", "/etc/passwd", "/dev/mem";
told("write $_", open(my $file, ">>", $_)) for "FOLDER/new", "/new", "TEXT";
told("folder", mkdir("FOLDER/evil-$$"));
told("folder at the root", mkdir("/evil-$$"));
told("link", symlink("/", "FOLDER/evil"));
told("remove", unlink("FOLDER/keep"));
told("shared memory", call(31, SEGMENT, 2, "\0" x 256));
told("user", call(105, 0));
told("group", call(106, 0));
told("groups", call(116, 0, 0));
my $header = pack("L i", 0x20080522, 0); my $rights = "\0" x 24;
syscall(125, $header, $rights); my @rights = unpack("L6", $rights);
told("rights @rights[0, 1]", $rights[0] | $rights[1] | $rights[3] | $rights[4]);
told("space $_->[0]", call(272, $_->[1])) for ["user", 0x10000000], ["mount", 0x20000], ["net", 0x40000000], ["pid", 0x20000000];
told("mount", call(165, "none", "/", "tmpfs", 0, 0));
told("root", call(161, "/"));
told("host name", call(170, "evil", 4));
told("variables " . join(" ", sort keys %ENV), grep { $_ ne "PATH" && $_ ne "PWD" } keys %ENV);
if ($forks) {
  my $made = 0;
  for (1 .. 1000) {
    my $pid = fork;
    last if !defined $pid;
    if ($pid == 0) { call(112); call(157, 1, 0, 0, 0, 0); close STDOUT; close STDIN; sleep 3600; exit; }
    $made++;
  }
  told("processes $made", $made > 64);
}
RESTS;
print '{"method":"text","pages":1,"confidence":1,"lines":[' . join(",", map { "\"$_\"" } @told) . "]}";
`;

let programs = 0;

/** Perl with what it loads. `rests`: what it does before it answers. */
function evil({
  signals = 0,
  forks = 0,
  rests = '',
}: {
  signals?: number;
  forks?: 0 | 1;
  rests?: string;
}): ReaderProgram {
  programs += 1;
  const file = join(folder, `${MARK}-${programs}.pl`);
  const program = Object.entries({
    ...{
      SIGNALS: signals,
      TEXT: file,
      FORKS: forks,
      RESTS: rests,
      VICTIM: victim.pid,
      PORT: port,
      SOCKET: socketPath,
    },
    ...{ ABSTRACT: abstractName, SECRET: secret, FOLDER: folder, SEGMENT: segment },
  }).reduce((text, [name, value]) => text.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), `${value}`), EVIL);
  const libraries = execFileSync('ldd', ['/usr/bin/perl'], { encoding: 'utf8' });
  writeFileSync(file, program);
  return {
    command: ['/usr/bin/perl', file],
    sees: ['/usr/bin/perl', file, ...(libraries.match(/\/\S+/g) ?? [])],
  };
}

async function linesOf(command: ReaderCommand): Promise<readonly string[]> {
  const read = processReader(machineClock, async () => command, { ...PDF_LIMITS, timeMs: PATIENCE_MS });
  const result = await read(Buffer.from('x'), 'application/pdf');
  // A text of few letters is looked at once more.
  assert.ok('lines' in result, JSON.stringify(result));
  return result.lines;
}

const reachedBy = async (command: ReaderCommand) =>
  (await linesOf(command)).filter((line) => line.endsWith(': reached'));

/** The processes of the machine that have the program of the test in their command. */
const left = () =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(MARK);
    } catch {
      return false;
    }
  });

describe('an evil program in the place of the reader', { skip: noCalls || skip }, () => {
  it('reaches nothing: no process, socket, file, right or space', async () => {
    connections.length = 0;
    assert.deepEqual(await reachedBy(isolated(evil({ signals: 64, forks: 1 }))), []);
    assert.deepEqual(connections, []);
    assert.equal(victim.exitCode ?? victim.signalCode, null);
  });

  it('without isolation it reaches what a process of the service reaches', async () => {
    // As the same user: root would reach the whole machine.
    const reached = await reachedBy({ ...exposed(evil({})), ...account });
    for (const what of [
      'signal 0',
      'tcp',
      'socket',
      'abstract socket',
      `read ${secret}`,
      `write ${folder}/new`,
    ]) {
      assert.ok(reached.includes(`${what}: reached`), `${what} of ${reached.join('; ')}`);
    }
    for (const what of [
      'shared memory',
      'space user',
      'read /etc/passwd',
      `read /proc/${victim.pid}/environ`,
    ]) {
      assert.ok(reached.includes(`${what}: reached`), `${what} of ${reached.join('; ')}`);
    }
    await eventually('connections', async () => connections.length >= 3);
  });

  it('leaves no process behind, neither when it ends nor when its time is over', async () => {
    await linesOf(isolated(evil({ forks: 1 })));
    await eventually('no process', async () => left().length === 0);
    const away = 'call(112); call(157, 1, 0, 0, 0, 0); sleep 3600';
    const command = isolated(evil({ rests: away }));
    const read = processReader(machineClock, async () => command, { ...PDF_LIMITS, timeMs: 2_000 });
    assert.deepEqual(await read(Buffer.from('x'), 'application/pdf'), { fault: 'reader_time' });
    await eventually('no process', async () => left().length === 0);
  });

  /** A service that reads with the program in the reader's place, and has a file of its parent's open. */
  const serviceWith = (program: ReaderProgram) => {
    const own = (path: string) => JSON.stringify(join(import.meta.dirname, '../../src', path));
    const code = `
      import { machineClock } from ${own('ground/base/clock.ts')};
      import { isolated } from ${own('subjects/documents/reader/isolation.ts')};
      import { processReader } from ${own('subjects/documents/reader/reader.ts')};
      const command = isolated(${JSON.stringify(program)});
      const read = processReader(machineClock, async () => command);
      console.log(JSON.stringify(await read(Buffer.from('x'), 'image/png')));`;
    const file = openSync(secret, 'r');
    const files = Array.from({ length: 40 }, (_, index) => (index === 39 ? file : ('ignore' as const)));
    const stdio = ['ignore', 'pipe', 'inherit', ...files] as const;
    const service = spawn(process.execPath, ['--input-type=module-typescript', '-e', code], {
      stdio: [...stdio],
    });
    closeSync(file);
    return service;
  };

  it('has no open file that the service got from its parent', async () => {
    const service = serviceWith(evil({}));
    let out = '';
    service.stdout?.setEncoding('utf8').on('data', (part) => {
      out += part;
    });
    await new Promise((done) => service.once('close', done));
    const { lines } = JSON.parse(out) as { lines: string[] };
    assert.ok(lines.length > 20);
    assert.deepEqual(
      lines.filter((line) => line.endsWith(': reached')),
      [],
    );
  });

  it('ends with the service, however that ends', async () => {
    const service = serviceWith(evil({ rests: 'sleep 3600' }));
    await eventually('the reader', async () => left().some((pid) => Number(pid) !== service.pid));
    service.kill('SIGKILL');
    await eventually('no process', async () => left().length === 0);
  });
});

describe('a machine that gives no space of users', { skip: noCalls || skip }, () => {
  /** How documents are read there, by the operator's word: the machine is a space of users that allows no other. */
  const howReadBy = (risk: string) => {
    const own = (path: string) => JSON.stringify(join(import.meta.dirname, '../../src', path));
    const code = `
      import { machineClock } from ${own('ground/base/clock.ts')};
      import { howRead } from ${own('subjects/documents/open.ts')};
      console.log(JSON.stringify(await howRead(() => '${risk}', machineClock)));
      process.exit();`;
    const script = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"';
    const node = [process.execPath, '--input-type=module-typescript', '-e', code];
    const { stdout, stderr } = spawnSync(
      'unshare',
      ['--user', '--map-root-user', 'sh', '-c', script, 'sh', ...node],
      { encoding: 'utf8' },
    );
    assert.notEqual(stdout, '', stderr);
    return JSON.parse(stdout) as { reader: string; told: string };
  };

  it('reads nothing and says so, unless the operator takes the risk or the phones are simulated', () => {
    const off = howReadBy('isolated');
    assert.equal(off.reader, 'off');
    assert.match(off.told, /^documents are not read, and each waits for an operator: .*#the-reader\)$/);
    for (const risk of ['exposed', 'demonstration']) {
      const taken = howReadBy(risk);
      assert.equal(taken.reader, risk);
      assert.match(taken.told, /reaches the secrets of the service/);
    }
  });
});

describe("code in the reader's Node, past its permission model", { skip }, () => {
  /** The reader's Node without `--permission`, as after a hole in the model. */
  async function told(value: string): Promise<string> {
    const child = join(folder, `child-${Math.random().toString(36).slice(2)}.mjs`);
    writeFileSync(
      child,
      `let value; try { value = ${value}; } catch (error) { value = error.code ?? error.message; }
      process.stdout.write(JSON.stringify({ method: 'text', pages: 1, confidence: 1, lines: [String(value), 'x'.repeat(200)] }));`,
    );
    const { command, sees } = readerProgram(child);
    const open = command.filter((word) => word !== '--permission' && !word.startsWith('--allow-'));
    return (await linesOf(isolated({ command: open, sees })))[0] ?? '';
  }

  it('finds no file of the service, and makes none, also by node:sqlite', async () => {
    const sqlite = (path: string) =>
      `new (await import('node:sqlite')).DatabaseSync('${path}').exec('CREATE TABLE a (b)')`;
    for (const path of [join(folder, 'a.db'), '/tmp/a.db', '/a.db']) {
      assert.match(await told(sqlite(path)), /^ERR_SQLITE_ERROR$/, path);
    }
    const fs = "(await import('node:fs'))";
    assert.equal(await told(`${fs}.readFileSync('${secret}')`), 'ENOENT');
    assert.equal(await told(`${fs}.readdirSync('/proc').length`), 'ENOENT');
    assert.equal(await told(`${fs}.writeFileSync('/new', 'x')`), 'EROFS');
    assert.match(await told(`${fs}.writeFileSync(process.execPath, 'x')`), /^(EROFS|ETXTBSY|EACCES)$/);
    assert.equal(
      await told("(await import('node:child_process')).execFileSync('/bin/sh', ['-c', 'true'])"),
      'ENOENT',
    );
  });

  it('signals nobody, and is nobody', async () => {
    assert.equal(await told(`process.kill(${process.pid}, 'SIGUSR1')`), 'ESRCH');
    assert.equal(await told('process.getuid()'), '65534');
    assert.match(await told('process.setuid(0)'), /^(EPERM|EINVAL)$/);
  });
});
