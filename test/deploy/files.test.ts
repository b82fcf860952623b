/** Containerfile, compose.yaml, deploy/: what these files say of the service is so (docs/deploy.md). */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import { machineClock } from '../../src/ground/base/clock.ts';
import { healthApi } from '../../src/listeners/ops/health-api.ts';
import { REPOSITORY } from '../support/sources.ts';

const read = (path: string) => readFileSync(join(REPOSITORY, path), 'utf8');

const CONTAINERFILE = read('Containerfile');
const COMPOSE = parse(read('compose.yaml'), { merge: true });
const KUSTOMIZATION = parse(read('deploy/kubernetes/kustomization.yaml'));
const RESOURCES = (KUSTOMIZATION.resources as string[]).flatMap((file) =>
  parseAllDocuments(read(`deploy/kubernetes/${file}`)).map((document) => document.toJS()),
);
const DEPLOYMENTS = RESOURCES.filter(({ kind }) => kind === 'Deployment');
const UNITS = readdirSync(join(REPOSITORY, 'deploy/systemd'));

/** Variables of the service, and the ones of Node, PostgreSQL's image and compose.yaml itself. */
const VARIABLES = new Set([
  ...[...read('.env.example').matchAll(/^# ?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name),
  ...['NODE_ENV', 'NODE_OPTIONS', 'POSTGRES_DB', 'POSTGRES_PASSWORD', 'OWNER_PASSWORD', 'SERVICE_PASSWORD'],
]);
/** The port of the image's health listener. */
const HEALTH_PORT = Number(/HEALTH_PORT=(\d+)/.exec(CONTAINERFILE)?.[1]);
/** The longest stop, in seconds (docs/operations.md). */
const STOP_S = 8;

describe('the deployment files', () => {
  it('every variable that they set is one that the service reads', () => {
    const names = [
      ...[...CONTAINERFILE.matchAll(/^ENV (.*)$/gm)].flatMap(([, list = '']) => list.match(/[A-Z_]+(?==)/g)),
      ...Object.values<{ environment: object }>(COMPOSE.services).flatMap(({ environment }) =>
        Object.keys(environment),
      ),
      ...[...read('compose.yaml').matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name),
      ...RESOURCES.filter(({ kind }) => kind === 'ConfigMap').flatMap(({ data }) => Object.keys(data)),
      ...containers().flatMap(({ env = [] }) => env.map(({ name }: { name: string }) => name)),
      ...UNITS.flatMap((unit) =>
        [...read(`deploy/systemd/${unit}`).matchAll(/^Environment=(\w+)=/gm)].map(([, name]) => name),
      ),
    ];
    assert.ok(names.length > 20);
    assert.deepEqual(
      names.filter((name) => !VARIABLES.has(name as string)),
      [],
    );
  });

  it('every command that they run is one of the program', () => {
    const commands = [
      JSON.parse(/^CMD (\[.*\])$/m.exec(CONTAINERFILE)?.[1] ?? '[]'),
      ...Object.values<{ command?: string[] }>(COMPOSE.services).map(({ command }) => command),
      ...containers().map(({ args }) => args),
      ...UNITS.map((unit) =>
        /^ExecStart=\S+\/ventanilla (.*)$/m.exec(read(`deploy/systemd/${unit}`))?.[1]?.split(' '),
      ),
    ].filter((command) => command !== undefined);
    assert.ok(commands.length >= 7, `found only ${commands.length}`);
    for (const command of new Set(commands.map((words) => words.join(' ')))) {
      const { stdout } = spawnSync(process.execPath, ['src/start.js', ...command.split(' '), '--help'], {
        cwd: REPOSITORY,
        encoding: 'utf8',
      });
      assert.match(stdout, new RegExp(`^Usage: ventanilla ${command}\\b`, 'm'));
    }
  });

  it('no file opens OPS_PORT, which may show personal data', () => {
    for (const path of ['Containerfile', 'compose.yaml']) {
      assert.doesNotMatch(read(path), /^[^#\n]*OPS_(HOST|PORT)/m, path);
    }
    assert.match(CONTAINERFILE, new RegExp(`^EXPOSE 8080 ${HEALTH_PORT}$`, 'm'));
    const ports = containers().flatMap(({ ports }) => ports.map((port: { containerPort: number }) => port));
    const metrics = Number(RESOURCES.find(({ kind }) => kind === 'ConfigMap').data.METRICS_PORT);
    const opened = new Set(ports.map(({ containerPort }) => containerPort));
    assert.deepEqual([...opened], [8080, HEALTH_PORT, metrics]);
    assert.deepEqual(COMPOSE.services.service.ports, ['127.0.0.1:8080-8081:8080']);
  });

  it('the owner of the tables is known to the container that migrates alone, and no container is the superuser', () => {
    const services = Object.entries<{ environment: Record<string, string> }>(COMPOSE.services);
    const withOwner = services.filter(([, { environment }]) => 'MIGRATE_DATABASE_URL' in environment);
    assert.deepEqual(
      withOwner.map(([name]) => name),
      ['migrate'],
    );
    const userOf = (url = '') => /^postgres:\/\/(\w+):/.exec(url)?.[1];
    for (const name of ['service', 'worker', 'migrate']) {
      assert.equal(userOf(COMPOSE.services[name].environment.DATABASE_URL), 'ventanilla_service', name);
    }
    const [, owner] = withOwner[0] as (typeof services)[0];
    assert.equal(userOf(owner.environment.MIGRATE_DATABASE_URL), 'ventanilla');
    const made: string = COMPOSE.configs.roles.content;
    assert.deepEqual(
      [...made.matchAll(/^CREATE ROLE (\w+) LOGIN PASSWORD '[^']+';$/gm)].map(([, role]) => role),
      ['ventanilla', 'ventanilla_service'],
    );
  });

  it('every image has a version', () => {
    const images = [
      ...[...CONTAINERFILE.matchAll(/^ARG NODE_IMAGE=(.*)$/gm)].map(([, image]) => image),
      COMPOSE.services.database.image,
      ...KUSTOMIZATION.images.map(({ newName, newTag }: Record<string, string>) => `${newName}:${newTag}`),
    ];
    for (const image of images) assert.match(image as string, /:[0-9]/);
  });

  it('the Containerfile copies what is there and what .dockerignore lets through', () => {
    const allowed = [...read('.dockerignore').matchAll(/^!(.*)$/gm)].map(([, path]) => path);
    const copied = [...CONTAINERFILE.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, list = '']) =>
      list.split(' '),
    );
    assert.deepEqual([...new Set(copied)].sort(), allowed.sort());
    for (const path of copied) assert.ok(existsSync(join(REPOSITORY, path)), path);
  });

  it('each stop has more time than the service takes', () => {
    for (const { spec } of DEPLOYMENTS) {
      const { containers, terminationGracePeriodSeconds: graceS } = spec.template.spec;
      const pauseS = Number(containers[0].lifecycle?.preStop.exec.command[1] ?? 0);
      assert.ok(graceS > pauseS + STOP_S);
    }
    for (const name of ['service', 'worker']) {
      assert.ok(Number.parseInt(COMPOSE.services[name].stop_grace_period, 10) > STOP_S);
    }
    for (const unit of UNITS) {
      assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(read(`deploy/systemd/${unit}`))?.[1]) > STOP_S);
    }
  });
});

describe('the process that reads documents gets spaces of its own (docs/documents.md)', () => {
  /** What setpriv, unshare and mount(8) call, the newer mount(8) too. */
  const CALLS = [
    'capset',
    'unshare',
    'mount',
    'chroot',
    'move_mount',
    'open_tree',
    'mount_setattr',
    'fsopen',
    'fsmount',
  ];
  /** What lets a process reach into another one, or into the kernel. */
  const HARM = [
    ...['ptrace', 'process_vm_readv', 'process_vm_writev', 'process_madvise', 'pidfd_getfd', 'kcmp', 'setns'],
    ...['bpf', 'keyctl', 'add_key', 'request_key', 'userfaultfd', 'perf_event_open'],
    // By these a process opens sockets past a filter of system calls.
    ...['io_uring_setup', 'io_uring_enter', 'io_uring_register'],
  ];

  it('in containers: the profile allows what its start calls, and not what reaches into other processes', () => {
    const { defaultAction, syscalls } = JSON.parse(read('deploy/seccomp.json'));
    assert.equal(defaultAction, 'SCMP_ACT_ALLOW');
    const whole = syscalls.filter(({ args }: { args?: unknown }) => args === undefined);
    const refused = new Set(whole.flatMap(({ names }: { names: string[] }) => names));
    assert.deepEqual(
      [...CALLS, ...HARM].filter((name) => refused.has(name)),
      HARM,
    );
    // The kinds of sockets that no space of the network holds: AF_ALG and AF_VSOCK.
    const kinds = syscalls.filter(({ names }: { names: string[] }) => names.includes('socket'));
    assert.deepEqual(kinds.map(({ args }: { args: { value: number }[] }) => args[0]?.value).sort(), [38, 40]);
    assert.ok(COMPOSE.services.worker.security_opt.includes('seccomp:./deploy/seccomp.json'));
    assert.ok(COMPOSE.services.worker.security_opt.includes('no-new-privileges:true'));
  });

  it('in Kubernetes: a component of its own changes the profile of the worker alone', () => {
    const { kind, patches } = parse(read('deploy/kubernetes/isolated-reader/kustomization.yaml'));
    assert.deepEqual([kind, patches.length], ['Component', 1]);
    const { metadata, spec } = parse(patches[0].patch);
    assert.ok(DEPLOYMENTS.some((deployment) => deployment.metadata.name === metadata.name));
    assert.deepEqual(spec.template.spec.securityContext.seccompProfile, {
      type: 'Localhost',
      localhostProfile: 'ventanilla.json',
    });
  });

  it('in units: the spaces that its start makes, and no other', () => {
    for (const unit of UNITS) {
      assert.match(read(`deploy/systemd/${unit}`), /^RestrictNamespaces=user mnt pid net ipc$/m);
      assert.match(read(`deploy/systemd/${unit}`), /^OOMPolicy=continue$/m);
    }
  });

  it('in units: the filter allows what its start calls', {
    skip: spawnSync('systemd-analyze', ['--version']).status !== 0 && 'needs systemd-analyze',
  }, () => {
    const known = new Map<string, string[]>();
    const callsOf = (word: string): string[] => {
      if (!word.startsWith('@')) return [word];
      const { stdout } = spawnSync('systemd-analyze', ['syscall-filter', word], { encoding: 'utf8' });
      const words = stdout
        .split('\n')
        .slice(1)
        .map((line) => line.trim());
      if (!known.has(word)) known.set(word, words.filter((one) => /^[@_a-z]/.test(one)).flatMap(callsOf));
      return known.get(word) as string[];
    };
    for (const unit of UNITS) {
      const allowed = new Set<string>();
      for (const [, not, words = ''] of read(`deploy/systemd/${unit}`).matchAll(
        /^SystemCallFilter=(~?)(.*)$/gm,
      )) {
        for (const call of words.split(' ').flatMap(callsOf)) allowed[not === '~' ? 'delete' : 'add'](call);
      }
      assert.deepEqual(
        CALLS.filter((call) => !allowed.has(call)),
        [],
        unit,
      );
      assert.deepEqual(
        [...HARM, 'reboot'].filter((call) => allowed.has(call)),
        [],
        unit,
      );
    }
  });
});

describe('health checks of containers', () => {
  const [, ofImage = ''] = /HEALTHCHECK[^[]*(\[.*\])/s.exec(CONTAINERFILE) ?? [];
  const commands: [what: string, command: string[]][] = [
    ['the image', JSON.parse(ofImage.split('\n')[0] as string)],
    ['compose.yaml', COMPOSE.services.service.healthcheck.test.slice(1)],
  ];
  for (const [what, command] of commands) {
    it(`${what}: exit code 0 with health, else 1`, async () => {
      let isWell = true;
      const app = healthApi({ alive: () => isWell, ready: async () => isWell }, machineClock);
      await app.listen({ host: '127.0.0.1', port: 0 });
      const { port } = app.server.address() as { port: number };
      assert.equal(command[0], 'node');
      const args = command.slice(1).map((part) => part.replace(`:${HEALTH_PORT}`, `:${port}`));
      const env = { ...process.env, HEALTH_PORT: String(port) };
      const check = () =>
        promisify(execFile)(process.execPath, args, { env }).then(
          () => 0,
          ({ code }) => code,
        );
      assert.equal(await check(), 0);
      isWell = false;
      assert.equal(await check(), 1);
      await app.close();
      assert.equal(await check(), 1);
    });
  }
});

describe('the Kubernetes base', () => {
  it('lists every file of its folder, and holds no secret', () => {
    const files = readdirSync(join(REPOSITORY, 'deploy/kubernetes'), { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'kustomization.yaml')
      .map(({ name }) => name);
    assert.deepEqual([...KUSTOMIZATION.resources].sort(), files.sort());
    assert.deepEqual(
      RESOURCES.filter(({ kind }) => kind === 'Secret'),
      [],
    );
  });

  it('each container is confined, limited and probed on the health listener', () => {
    assert.equal(DEPLOYMENTS.length, 2);
    for (const { spec } of DEPLOYMENTS) {
      const { securityContext, automountServiceAccountToken } = spec.template.spec;
      assert.equal(securityContext.runAsNonRoot, true);
      assert.equal(securityContext.seccompProfile.type, 'RuntimeDefault');
      assert.equal(automountServiceAccountToken, false);
    }
    for (const container of containers()) {
      assert.deepEqual(container.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      assert.ok(container.resources.limits.memory);
      assert.deepEqual(
        ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => container[probe].httpGet),
        ['/healthz', '/healthz', '/readyz'].map((path) => ({ path, port: 'health' })),
      );
    }
  });

  it('each deployment has a disruption budget and a network policy', () => {
    for (const kind of ['PodDisruptionBudget', 'NetworkPolicy']) {
      const names = RESOURCES.filter((resource) => resource.kind === kind).map(
        ({ metadata }) => metadata.name,
      );
      assert.deepEqual(
        names,
        DEPLOYMENTS.map(({ metadata }) => metadata.name),
        kind,
      );
    }
  });
});

describe('the systemd units', () => {
  const analyze = (unit: string, ...options: string[]) =>
    spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', ...options, unit], {
      cwd: join(REPOSITORY, 'deploy/systemd'),
      encoding: 'utf8',
    });
  const skip = analyze(UNITS[0] as string).status === 0 ? false : 'needs systemd-analyze 250 or newer';
  for (const unit of UNITS) {
    it(`${unit} has an exposure below 2`, { skip }, () => {
      const { status, stdout } = analyze(unit, '--threshold=20');
      assert.equal(status, 0, stdout);
    });
  }

  it('systemd finds no fault in them but the program, which is not installed here', { skip }, () => {
    const { stderr } = spawnSync('systemd-analyze', ['verify', ...UNITS.map((unit) => `./${unit}`)], {
      cwd: join(REPOSITORY, 'deploy/systemd'),
      encoding: 'utf8',
    });
    const faults = stderr.split('\n').filter((line) => UNITS.some((unit) => line.includes(unit)));
    const notInstalled = /: Command \/opt\/ventanilla\/\S+ is not executable: No such file or directory$/;
    assert.deepEqual(
      faults.filter((line) => !notInstalled.test(line)),
      [],
    );
  });

  it('both are confined alike', () => {
    const [first, second] = UNITS.map((unit) =>
      read(`deploy/systemd/${unit}`).replace(/^(Description|EnvironmentFile=-|ExecStart).*$/gm, ''),
    );
    assert.equal(first, second);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: the manifests are read as they are
function containers(): any[] {
  return DEPLOYMENTS.flatMap(({ spec }) => spec.template.spec.containers);
}
