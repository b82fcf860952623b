/**
 * Brings the tables up to date as their owner, and gives the role of the service what it needs to work with them.
 * Changes the schema and privileges. docs/roles.md has the rule.
 */
import type { Clock } from '../ground/base/clock.ts';
import { awaitServer } from '../ground/postgres/await-server.ts';
import type { Database } from '../ground/postgres/database.ts';
import { type DatabaseAddress, openDatabase } from '../ground/postgres/open-database.ts';
import type { Patience } from '../ground/postgres/patience.ts';
import { SetupError } from '../ground/postgres/setup-error.ts';
import { migrate, schemaFit } from '../ground/schema/migrations.ts';
import {
  grantRuntime,
  runtimeByGroups,
  runtimeGaps,
  runtimeMissing,
  type SessionRole,
  sessionRole,
} from '../ground/schema/runtime-role.ts';

/** How to connect as the owner of the tables. */
export interface OwnerAddress extends DatabaseAddress {
  /** The variable that has the address, for errors. */
  readonly variable: string;
}

/** The database, as it was opened. */
export interface Opened {
  /** Sessions of the role of the service. */
  readonly database: Database;
  readonly owner: OwnerAddress | null;
  readonly patience: Patience;
  readonly clock: Clock;
}

interface User {
  /** The kind of `StoreUser`. A running service is told if its role may do more than it needs. */
  readonly kind: string;
  readonly signal: AbortSignal;
  readonly notice: (text: string) => void;
}

interface Prepared {
  /** The migrations that were applied. */
  readonly applied: readonly string[];
  /** The role that got privileges; null: it lacked none. */
  readonly granted: string | null;
}

/**
 * Migrates, and grants the role of `database` what it lacks, by sessions of the owner, which end before this returns.
 * If nothing has to be done, nobody connects as the owner. If `database` itself has the owner's rights, the owner is
 * not needed. Throws `SetupError` that says what to do if the role is a superuser, the owner is needed and not known,
 * the role may do more than the service needs and the owner cannot take that back, or this version does not work on the
 * tables.
 */
export async function prepareTables(opened: Opened, { kind, signal, notice }: User): Promise<Prepared> {
  const { database, owner, patience, clock } = opened;
  const applied = new Set<string>();
  const role = await patience.run(() => sessionRole(database));
  refuse(superuser(role));
  if (await migratesItself(role, opened)) {
    if (kind === 'service') notice(asOwnerToo(role));
    await patience.run(() => migrate(database, clock, signal, applied));
    return { applied: [...applied], granted: null };
  }
  refuse(maker(role) ?? excess(role));
  const lack = await patience.run(() => lackOf(database, role, owner !== null));
  if (lack === null) {
    refuse(await patience.run(() => byGroups(database, role)));
    return { applied: [], granted: null };
  }
  if (owner === null) throw new SetupError(`${lack}: ${GIVE_THE_OWNER}`);
  const isGranted = await asOwner(owner, opened, async (tables) => {
    refuse(notOwner(await patience.run(() => sessionRole(tables)), owner));
    await patience.run(() => migrate(tables, clock, signal, applied));
    return patience.run(() => grantRuntime(tables, role.name));
  });
  const left = await patience.run(() => lackOf(database, role, false));
  if (left !== null) {
    throw new SetupError(
      `${left}: DATABASE_URL and ${owner.variable} lead to different databases or schemas`,
    );
  }
  refuse(await patience.run(() => byGroups(database, role)));
  return { applied: [...applied], granted: isGranted ? role.name : null };
}

/** Runs `work` with sessions of the owner of the tables, and ends them. Throws like `awaitServer`. */
export async function asOwner<T>(
  owner: OwnerAddress,
  { patience, clock }: Pick<Opened, 'patience' | 'clock'>,
  work: (tables: Database) => Promise<T>,
): Promise<T> {
  const tables = openDatabase(owner, { clock, max: 2, onError: () => {} });
  try {
    await awaitServer(tables, patience, owner.variable);
    return await work(tables);
  } finally {
    await tables.end();
  }
}

const GIVE_THE_OWNER =
  'set MIGRATE_DATABASE_URL to the owner of the tables, or run `ventanilla migrate` with it (docs/roles.md)';

/**
 * What the owner has to do before the role can work, for operators; null: nothing. `isExact`: also if the role may do
 * more than it needs. Throws `SetupError` if this version does not work on the tables.
 */
async function lackOf(database: Database, { name }: SessionRole, isExact: boolean): Promise<string | null> {
  const { missing, hasMore } = await runtimeGaps(database);
  if (missing === null)
    return `the tables are not there, or the role ${name} of DATABASE_URL may not use them`;
  const { fault, pending } = await schemaFit(database);
  if (fault !== null) throw new SetupError(fault);
  if (pending.length > 0) {
    return `migrations are pending, and the role ${name} of DATABASE_URL may not apply them`;
  }
  if (missing.length > 0) return lacking(name, missing);
  return isExact && hasMore ? `the role ${name} of DATABASE_URL may do more than it needs` : null;
}

/**
 * Whether the role of the service migrates: it owns the tables, or may make them if there are none. If another role is
 * given as the owner, that role makes them, because the maker of tables owns them for good.
 */
async function migratesItself(role: SessionRole, opened: Opened): Promise<boolean> {
  const { owner, patience } = opened;
  if (role.isOwner !== null || !role.mayCreate) return role.isOwner === true;
  if (owner === null) return true;
  const { name } = await asOwner(owner, opened, (tables) => patience.run(() => sessionRole(tables)));
  return name === role.name;
}

function refuse(fault: string | null): void {
  if (fault !== null) throw new SetupError(fault);
}

function superuser({ name, isSuperuser }: SessionRole): string | null {
  if (!isSuperuser) return null;
  return (
    `DATABASE_URL connects as the superuser ${name}, and the service never does: make a role for the service ` +
    "(CREATE ROLE ventanilla_service LOGIN PASSWORD '...'), set DATABASE_URL to that role and MIGRATE_DATABASE_URL to " +
    'the owner of the tables (docs/roles.md)'
  );
}

function notOwner({ name, isOwner }: SessionRole, { variable }: OwnerAddress): string | null {
  if (isOwner !== false) return null;
  return `the role ${name} of ${variable} does not own the tables: set it to their owner`;
}

function asOwnerToo({ name }: SessionRole): string {
  return `the service connects as ${name}, who owns the tables and can change what is recorded of operators: docs/roles.md tells how to give the service a role of its own`;
}

/** Functions that run as the owner look for tables in this schema: the role must not be able to put its own there. */
function maker({ name, mayCreate }: SessionRole): string | null {
  if (!mayCreate) return null;
  return `the role ${name} of DATABASE_URL may make tables in the schema of the store: REVOKE CREATE ON SCHEMA ... FROM the role and from PUBLIC`;
}

/** Rights that go around the privileges of the tables: over other roles, or to make tables of the role's own. */
function excess({ name, excess: has }: SessionRole): string | null {
  if (has.length === 0) return null;
  return `the role ${name} of DATABASE_URL has ${has.join(', ')}, which the service never needs: take it back, or make another role for the service (docs/roles.md)`;
}

const MOST_NAMED = 5;

function some(texts: readonly string[]): string {
  return `${texts.slice(0, MOST_NAMED).join(', ')}${texts.length > MOST_NAMED ? ' and others' : ''}`;
}

function lacking(name: string, missing: readonly string[]): string {
  return `the role ${name} of DATABASE_URL lacks what the service needs (${some(missing)})`;
}

async function byGroups(database: Database, { name }: SessionRole): Promise<string | null> {
  const found = await runtimeByGroups(database);
  if (found.length === 0) return null;
  return `the role ${name} of DATABASE_URL may do more than it needs (${some(found)}): take it out of these roles, or these privileges from them (docs/roles.md)`;
}

/** What is wrong with the role of a running process. */
export interface RoleFault {
  readonly text: string;
  /** True: statements of the service fail. False: only the next start will be refused. */
  readonly isShort: boolean;
}

/**
 * Why the next start would refuse the role of `database`, whose tables are of this version; null: it would not. On a
 * cluster this includes what the role lacks on another machine.
 */
export async function roleFault(database: Database): Promise<RoleFault | null> {
  const role = await sessionRole(database);
  if (role.isOwner === true) return null;
  const { missing } = await runtimeGaps(database);
  const lack =
    missing === null
      ? `the role ${role.name} of DATABASE_URL may not use the tables`
      : lackingAnywhere(role, await runtimeMissing(database));
  if (lack !== null) return { text: `${lack}: ${GIVE_THE_OWNER}`, isShort: true };
  const more = maker(role) ?? excess(role) ?? (await byGroups(database, role));
  return more === null ? null : { text: more, isShort: false };
}

function lackingAnywhere({ name }: SessionRole, missing: readonly string[]): string | null {
  return missing.length > 0 ? lacking(name, missing) : null;
}
