/**
 * `npm run bench:desk`: what reviewers wait for on a store with many applications, while batches are registered: each
 * order and filter of the queue, the next application, a selection, an application's page, the views, a search, a
 * person. Over HTTP, one request at a time. The exit code is 1 where a bar is missed. `--stored N` applications,
 * `--waiting N` of them in review, and `--rounds N` of each request. `--against FOLDER` instead measures registrations
 * in another checkout too, in turn.
 */
import { judge } from './bars.ts';
import { deskAgainst } from './desk-against.ts';
import { benchDesk } from './desk-requests.ts';
import { numberOption, readOptions } from './options.ts';

const options = readOptions({
  stored: { default: '20000000', about: 'applications in the store' },
  waiting: { default: '200000', about: 'applications in review, at most a fifth of the others' },
  rounds: { default: '20', about: 'requests of each kind, or slots of each checkout' },
  against: { about: 'a checkout whose registrations are measured as well, in turn' },
});
const rounds = numberOption('rounds', options.rounds, 1);

judge(
  options.against !== undefined
    ? await deskAgainst(options.against, rounds)
    : await benchDesk({
        stored: numberOption('stored', options.stored, 100),
        waiting: numberOption('waiting', options.waiting, 1),
        rounds,
      }),
);
