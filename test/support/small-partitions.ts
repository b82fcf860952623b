/** A store whose partitions may be left with an application, or at once. */
import type { Database } from '../../src/ground/postgres/database.ts';

/** `database` has sessions of the owner. */
export async function allowSmallPartitions(database: Database): Promise<void> {
  for (const name of ['least_partition_applications', 'least_partition_ms'])
    await database.query(
      `CREATE OR REPLACE FUNCTION ${name}() RETURNS bigint LANGUAGE sql IMMUTABLE RETURN 0`,
    );
}
