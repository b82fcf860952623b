/**
 * Reads the neighbours of an application: others of the same phone, of the same ID number, and of the same partner and
 * city within a day (docs/operators.md, "Neighbours"). Reads only, and shows nothing personal.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { lastEventOf } from '../../applications/sql/desk/last-event.ts';
import { type Neighbours, ofSamePerson } from '../../applications/sql/desk/neighbours.ts';
import { ofSameCity, type SameCity } from '../../applications/sql/desk/same-city.ts';
import type { Desk } from './desk-context.ts';

export interface ShownNeighbours {
  readonly samePhone: Neighbours;
  readonly sameIdNumber: Neighbours;
  readonly sameCity: SameCity;
}

/** The neighbours; null: there is no such application. Throws as `ofSamePerson`. */
export async function readNeighbours(
  { database, vault }: Desk,
  id: ApplicationId,
): Promise<ShownNeighbours | null> {
  if ((await lastEventOf(database, id)) === null) return null;
  const [samePerson, sameCity] = await Promise.all([
    ofSamePerson(database, vault, id),
    ofSameCity(database, vault, id),
  ]);
  return { ...samePerson, sameCity };
}
