/**
 * `npm run bench`: measures how fast the service is. On Linux it also measures the CPU and write-ahead log of an
 * application, and what an idle service takes. Prints the figures and the bars. The exit code is 1 where a bar is
 * missed. `--seconds N` a phase, `--rounds N`, `--only NAME` for measurements with NAME in their name. `--stored N`
 * instead measures a service with N applications in its store, in turn with one on an empty store. `--partitions N,N`
 * instead measures the delivery of a service with N partitions more. `--against FOLDER`
 * measures the quiet neighbour in another checkout too, in turn.
 */
import { benchBacklog } from './backlog.ts';
import { judge } from './bars.ts';
import { benchCpu } from './cpu.ts';
import { benchIdle } from './idle.ts';
import { benchMonitoring } from './monitoring.ts';
import { benchNeighbour } from './neighbour.ts';
import { numberOption, readOptions } from './options.ts';
import { benchOverload } from './overload.ts';
import { benchDeliveryAt, benchPartitions } from './partitions.ts';
import { benchStored } from './stored.ts';
import { benchThroughput } from './throughput.ts';

const values = readOptions({
  seconds: { default: '1.5', about: 'seconds of a phase' },
  rounds: { default: '3', about: 'interleaved rounds' },
  only: { default: '', about: 'phases with this in their name alone' },
  stored: { about: 'measure with so many stored applications instead, such as 20000000,60000000' },
  partitions: { about: 'measure delivery with so many partitions more instead, such as 600,1200,4000' },
  against: { about: 'a checkout whose quiet neighbour is measured as well, in turn' },
});
const options = {
  seconds: numberOption('seconds', values.seconds, 0.1),
  rounds: numberOption('rounds', values.rounds, 1),
  only: values.only,
  against: values.against,
};

const stored = values.stored?.split(',').map((text) => numberOption('stored', text, 100));
const partitions = values.partitions?.split(',').map((text) => numberOption('partitions', text, 100));
if (stored === undefined && partitions === undefined)
  console.log(`${options.rounds} interleaved rounds of ${options.seconds} s, medians\n`);
judge(
  stored !== undefined
    ? await benchStored(stored)
    : partitions !== undefined
      ? await benchDeliveryAt(partitions, options.rounds)
      : [
          ...(await benchThroughput(options)),
          ...(await benchPartitions(options)),
          ...(await benchNeighbour(options)),
          ...(await benchBacklog(options)),
          ...(await benchOverload(options)),
          ...benchCpu(options),
          ...(await benchIdle(options)),
          ...(await benchMonitoring(options)),
        ],
);
