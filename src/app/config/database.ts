/** DATABASE_URL and MIGRATE_DATABASE_URL. */
import { ConfigError } from './config-error.ts';

/** The URL of the service's own role; null: the embedded server. */
export function databaseUrl(text: string | undefined): string | null {
  return urlOf('DATABASE_URL', text);
}

/** The URL of the owner of the tables; null: none is given. */
export function migrateDatabaseUrl(text: string | undefined, ownDatabase: boolean): string | null {
  const name = 'MIGRATE_DATABASE_URL';
  if (text !== undefined && !ownDatabase) {
    throw new ConfigError(
      name,
      'is the owner of the tables: set DATABASE_URL as well, to the role of the service',
    );
  }
  return urlOf(name, text);
}

function urlOf(name: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  if (!/^postgres(ql)?:\/\//.test(text)) {
    throw new ConfigError(name, 'must begin with postgres:// or postgresql://');
  }
  return text;
}
