/** What `serve` and `worker` run for reconsiderations: a job of the upkeep, and what hears the messages of persons. */
import { errorFields } from '../../ground/base/describe-error.ts';
import type { Service } from '../../program/subject/subject.ts';
import { following } from '../applications/uses/followers.ts';
import { loadPublicHolidays } from '../messages/uses/public-holidays.ts';
import { DATA_REQUEST_DAYS, RECONSIDERATION_DAYS } from './settings.ts';
import { eraseCases } from './sql/cases.ts';
import { hearRefused } from './uses/hear.ts';

/** The parts of one process. */
export function reconsiderationService(): Service {
  return {
    upkeep: [
      {
        name: 'delete cases without applications',
        seldom: true,
        run: following([
          { table: 'cases', orErased: true, forget: eraseCases },
          { table: 'told_reasons', orErased: true, forget: eraseCases },
        ]),
      },
    ],
    hear: async ({ database, vault, log, setting }, heard) => {
      const days = { reconsideration: setting(RECONSIDERATION_DAYS), data: setting(DATA_REQUEST_DAYS) };
      const onFault = (id: number | null, error: unknown) =>
        log.error(
          { application_id: id, error: errorFields(error) },
          'a message of a refused person cannot be answered',
        );
      const { taken, notices } = await hearRefused(
        { database, vault, days, holidays: loadPublicHolidays },
        heard,
        onFault,
      );
      for (const { applicationId, did } of notices) {
        log[did === 'wrong_person' ? 'warn' : 'info'](
          { application_id: applicationId, did },
          'a person wrote about a refused application or their data',
        );
      }
      return taken;
    },
  };
}
