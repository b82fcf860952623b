/** Puts into the tables how long applications are kept, so that the role of the service deletes none earlier. */
import type { Retention } from '../domain/application/retention.ts';
import { sessionRole } from '../ground/schema/runtime-role.ts';
import { isLeastRetention, putLeastRetention } from '../subjects/applications/sql/retention.ts';
import { asOwner, type Opened } from './prepare-tables.ts';

/**
 * Puts the configured retention into the tables as their owner, where it is another one than there. Without a
 * retention, and where the owner is not at hand, nothing changes: then the upkeep says where the owner keeps
 * applications for longer.
 */
export async function keepRetention(opened: Opened, retention: Retention | null): Promise<void> {
  const { database, owner, patience } = opened;
  if (retention === null || (await patience.run(() => isLeastRetention(database, retention)))) return;
  const put = (tables: Opened['database']) => patience.run(() => putLeastRetention(tables, retention));
  if ((await patience.run(() => sessionRole(database))).isOwner === true) await put(database);
  else if (owner !== null) await asOwner(owner, opened, put);
}
