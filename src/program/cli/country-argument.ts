/** Reads the code of a country from an argument. Not in `command.ts`, which the help loads too. Pure. */
import { InvalidArgumentError } from 'commander';
import { type Country, isCountry } from '../../ground/base/country-data.ts';

/** The country of a code of two letters (ISO 3166). Throws `InvalidArgumentError`. */
export function readCountry(text: string): Country {
  const code = text.toUpperCase();
  if (!isCountry(code)) throw new InvalidArgumentError('It is no country code.');
  return code;
}
