/**
 * What the statements of the program do with each table, read from their texts: what the runtime role needs. Functions
 * that run as the owner, and those that only such functions call, need nothing of it.
 */
import { readSources, readSql } from './sources.ts';
import { declaredStatements, declaredTables } from './tables.ts';

interface Part {
  /** The function's name; '' for a module. */
  readonly name: string;
  readonly text: string;
}

const SQL = readSql()
  .map(({ text }) => text.replace(/--.*$/gm, ''))
  .join('\n');
const TABLES = [...SQL.matchAll(/^CREATE TABLE (\w+)(?! PARTITION OF)\b(?![^;]*? PARTITION OF)/gm)].map(
  (match) => match[1] as string,
);
const OF_THE_OWNER = [...SQL.matchAll(/runs_as_owner\('(\w+)\(/g)].map((match) => match[1] as string);

/** The owner's own session writes it (src/app/open-store.ts). */
const READ_ONLY = ['least_retention'];

/** Version 1.0 stores its policies by itself, and may run on the same store. */
const OF_VERSION_1_0 = 'policies';

/** From `CREATE` to the end of the body: what stands after it is no statement of the function. */
const FUNCTIONS: readonly Part[] = [
  ...SQL.matchAll(
    /^CREATE OR REPLACE FUNCTION (\w+)(?:(?!^CREATE )[\s\S])*?(?:\$\$[\s\S]*?\$\$;|RETURN[ \n][^;]*;)/gm,
  ),
].map((match) => ({ name: match[1] as string, text: match[0] }));
/** The migrations are applied by the owner. */
const MODULES: readonly Part[] = [
  ...readSources('src')
    .filter(({ path }) => !path.startsWith('ground/schema/'))
    .map(({ text }) => text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, '')),
  ...(await declaredTables()).flatMap(({ table }) => declaredStatements(table)),
].map((text) => ({ name: '', text }));

/** The parts that run as the runtime role: modules, and functions that are called from these parts or by a trigger. */
function runtimeParts(): Part[] {
  const reached = [...MODULES];
  const left = new Set(FUNCTIONS.filter(({ name }) => !OF_THE_OWNER.includes(name)));
  const triggers = SQL.match(/EXECUTE FUNCTION \w+\(/g)?.join() ?? '';
  const views = SQL.match(/^CREATE OR REPLACE VIEW [^;]*;/gm)?.join() ?? '';
  let said = `${triggers}\n${views}\n${MODULES.map(({ text }) => text).join('\n')}`;
  for (let found: Part[] = [...left]; found.length > 0; ) {
    found = [...left].filter(({ name }) => new RegExp(`\\b${name}\\(`).test(said));
    for (const part of found) left.delete(part);
    reached.push(...found);
    said = found.map(({ text }) => text).join('\n');
  }
  return reached;
}

const VERBS: Readonly<Record<string, RegExp>> = {
  INSERT: /\bINSERT\s+INTO\s+([a-z_]+)/g,
  UPDATE: /\bUPDATE\s+([a-z_]+)/g,
  DELETE: /\bDELETE\s+FROM\s+([a-z_]+)/g,
};
/** Needs the right to update as well: a conflict that updates, and a lock of rows or of the table. */
const UPSERT = /\bINSERT\s+INTO\s+([a-z_]+)(?:(?!INSERT\s+INTO)[^;`])*?\bDO\s+UPDATE\b/g;
const LOCK =
  /\bFROM\s+([a-z_]+)(?:(?!\bFROM\b)[^;`])*?\bFOR\s+(?:NO\s+KEY\s+UPDATE|UPDATE|KEY\s+SHARE|SHARE)\b/g;

/** The privileges for each table, sorted. Every table is read. */
export function runtimeStatements(): Record<string, string[]> {
  const rights = new Map(TABLES.map((table) => [table, new Set(['SELECT'])]));
  const add = (verb: string, text: string, pattern: RegExp) => {
    for (const [, table = ''] of text.matchAll(pattern))
      if (!READ_ONLY.includes(table)) rights.get(table)?.add(verb);
  };
  for (const { text } of runtimeParts()) {
    for (const [verb, pattern] of Object.entries(VERBS)) add(verb, text, pattern);
    add('UPDATE', text, UPSERT);
    add('UPDATE', text, LOCK);
  }
  rights.get(OF_VERSION_1_0)?.add('INSERT');
  const names = [...rights.keys(), 'schema_migrations', 'schema_functions'].sort();
  return Object.fromEntries(names.map((name) => [name, [...(rights.get(name) ?? ['SELECT'])].sort()]));
}
