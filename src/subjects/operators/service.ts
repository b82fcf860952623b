/** What `serve` and `worker` run of the operators' accounts. */
import type { Service } from '../../program/subject/subject.ts';
import { tellForgedOperators } from './sql/macs.ts';

export const OPERATORS_SERVICE: Service = {
  upkeep: [{ name: 'check the rows of operators', seldom: true, run: tellForgedOperators }],
};
