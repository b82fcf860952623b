/** What `serve` and `worker` run for the operators' accounts: the upkeep job that looks for forged rows. */
import type { Service } from '../../program/subject/subject.ts';
import { tellForgedOperators } from './sql/macs.ts';

export const OPERATORS_SERVICE: Service = {
  upkeep: [{ name: 'check the rows of operators', seldom: true, run: tellForgedOperators }],
};
