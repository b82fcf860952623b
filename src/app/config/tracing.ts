/** The standard variables of OpenTelemetry that decide whether a process is traced; the SDK reads the others. */
import { ConfigError, type Problems, type Read } from './config-error.ts';

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`]);
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'];

/**
 * Whether the process is traced: where an endpoint or the exporter is named, and OTEL_SDK_DISABLED is not true. A value
 * that the SDK would replace by another one is a problem.
 */
export function readTracing(read: Read, problems: Problems): boolean {
  const exporter = read('OTEL_TRACES_EXPORTER');
  if (read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || exporter === 'none') return false;
  if (exporter === undefined && ENDPOINTS.every((name) => read(name) === undefined)) return false;
  const check = (name: string, rule: string, holds: (text: string) => boolean) =>
    problems.try(() => {
      const text = read(name);
      if (text !== undefined && !holds(text)) throw new ConfigError(name, rule);
    });
  check('OTEL_TRACES_EXPORTER', 'must be otlp or none', (text) => text === 'otlp');
  for (const name of ENDPOINTS) check(name, 'must be a URL that begins with http:// or https://', isHttpUrl);
  for (const name of PROTOCOLS) check(name, 'must be http/protobuf', (text) => text === 'http/protobuf');
  check('OTEL_TRACES_SAMPLER', `must be one of: ${SAMPLERS.join(', ')}`, (text) => SAMPLERS.includes(text));
  check(
    'OTEL_TRACES_SAMPLER_ARG',
    'must be a number from 0 to 1',
    (text) => Number(text) >= 0 && Number(text) <= 1,
  );
  return true;
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
