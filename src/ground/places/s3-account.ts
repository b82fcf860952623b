/**
 * Reads the account of an S3-compatible store from AWS' standard variables (docs/backup.md). Pure: gets their values.
 */
import type { S3Account } from './s3.ts';

/** The variables of an account. */
export const S3_VARIABLES = [
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_REGION',
  'AWS_ENDPOINT_URL_S3',
] as const;

/** Null if the two keys are not set. `read` gives the text of a variable, or undefined. */
export function s3AccountOf(
  read: (variable: (typeof S3_VARIABLES)[number]) => string | undefined,
): S3Account | null {
  const [accessKeyId, secretAccessKey] = [read('AWS_ACCESS_KEY_ID'), read('AWS_SECRET_ACCESS_KEY')];
  const region = read('AWS_REGION') ?? 'us-east-1';
  const endpoint = read('AWS_ENDPOINT_URL_S3')?.replace(/\/$/, '');
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  return { accessKeyId, secretAccessKey, region, endpoint };
}
