/** Real proxies with the configurations of docs/front-door.md, or before two services with that of docs/deploy.md. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

const DOCS = new URL('../../docs/', import.meta.url);

export type ProxyName = 'nginx' | 'haproxy';

interface Program {
  readonly paths: readonly string[];
  /** Replaces the addresses and the TLS of the page's configuration. Each pattern must be there. */
  readonly changes: (port: number, target: string, second?: string) => readonly (readonly [RegExp, string])[];
  readonly around: (configuration: string) => string;
  readonly args: (folder: string, file: string) => readonly string[];
}

const PROGRAMS: Readonly<Record<ProxyName, Program>> = {
  nginx: {
    paths: ['nginx', '/usr/sbin/nginx'],
    changes: (port, target, second) => [
      [/listen 443 ssl;/, `listen 127.0.0.1:${port};`],
      [/ssl_certificate .*;/, ''],
      [/ssl_certificate_key .*;/, ''],
      [/server 127\.0\.0\.1:8080/, `server ${target}`],
      ...(second === undefined ? [] : [[/server 127\.0\.0\.1:8081/, `server ${second}`] as const]),
    ],
    around: (configuration) => {
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const user = process.getuid?.() === 0 ? 'user root;\n' : '';
      const temporary = paths.map((name) => `${name}_temp_path ${name};`).join('\n');
      return `${user}pid pid;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${configuration}\n}\n`;
    },
    args: (folder, file) => ['-p', folder, '-c', file, '-e', 'stderr', '-g', 'daemon off;'],
  },
  haproxy: {
    paths: ['haproxy', '/usr/sbin/haproxy'],
    changes: (port, target) => [
      [/bind :443 ssl crt .*/, `bind 127.0.0.1:${port}`],
      // It needs two file descriptors each.
      [/maxconn 4000/, 'maxconn 400'],
      [/server one 127\.0\.0\.1:8080/, `server one ${target}`],
    ],
    around: (configuration) => configuration,
    args: (_folder, file) => ['-db', '-f', file],
  },
};

/** For `describe`: why this proxy cannot run here, or false. */
export function skipWithout(name: ProxyName): string | false {
  return pathOf(name) === undefined && `no ${name} is installed (apt-get install ${name})`;
}

/**
 * Starts the proxy before `url`, or nginx before two. Resolves to the proxy's base URL; the proxy ends with the tests.
 */
export async function startProxy(name: ProxyName, url: string, second?: string): Promise<string> {
  const program = PROGRAMS[name];
  const folder = mkdtempSync(join(tmpdir(), `ventanilla-${name}-`));
  const port = await freePort();
  const file = join(folder, 'configuration');
  writeFileSync(file, program.around(configurationOf(name, port, url, second)));
  const child = spawn(pathOf(name) as string, program.args(folder, file), {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  after(() => stop(child, folder));
  await eventually(name, () => {
    if (child.exitCode !== null) throw new Error(`${name} ended with code ${child.exitCode}: ${said}`);
    return answers(port);
  });
  return `http://127.0.0.1:${port}`;
}

/** The configuration of the page, with addresses of this machine. Throws where the page has lost a line. */
function configurationOf(name: ProxyName, port: number, ...urls: [string, string?]): string {
  const page = urls[1] === undefined ? 'front-door.md' : 'deploy.md';
  const text = readFileSync(new URL(page, DOCS), 'utf8');
  const [, block] = new RegExp(`\`\`\`${name}\n(.*?)\`\`\``, 's').exec(text) ?? [];
  if (block === undefined) throw new Error(`docs/${page} has no configuration of ${name}`);
  const [host, second] = urls.map((url) => url && new URL(url).host) as [string, string?];
  return PROGRAMS[name].changes(port, host, second).reduce((text, [pattern, replacement]) => {
    if (!pattern.test(text)) throw new Error(`the configuration of ${name} has no ${pattern}`);
    return text.replace(pattern, replacement);
  }, block);
}

function pathOf(name: ProxyName): string | undefined {
  return PROGRAMS[name].paths.find((path) => spawnSync(path, ['-v']).status === 0);
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null) {
    const exit = once(child, 'exit');
    // nginx ends its workers on SIGTERM, but not on SIGKILL.
    child.kill('SIGTERM');
    await exit;
  }
  rmSync(folder, { recursive: true, force: true });
}

async function answers(port: number): Promise<boolean> {
  const probe = connect(port, '127.0.0.1');
  try {
    await once(probe, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    probe.destroy();
  }
}
