/** The API key that `submit` sends with. */
import { readFileSync, statSync } from 'node:fs';
import { errorCode } from '../../../ground/base/error-code.ts';
import type { Words } from '../../../ground/base/language.ts';
import { isOpenToOthers, OPEN_TO_OTHERS } from '../../../ground/base/private-file.ts';
import { BulkError } from '../read/bulk-error.ts';
import type { Surroundings } from './submit-terminal.ts';

const OF_FILE: Words = {
  en: 'the file of VENTANILLA_API_KEY_FILE',
  es: 'el archivo de VENTANILLA_API_KEY_FILE',
};
const VARIABLE: Words = { en: 'VENTANILLA_API_KEY', es: 'VENTANILLA_API_KEY' };

/**
 * The API key of the environment, or of the file that VENTANILLA_API_KEY_FILE names. Throws `BulkError` where there is
 * none; no text shows the path, because somebody may put the key itself there by mistake.
 */
export function readKey({ env }: Surroundings): string {
  const path = env.VENTANILLA_API_KEY_FILE?.trim();
  const given = env.VENTANILLA_API_KEY?.trim();
  if (path && given)
    throw new BulkError({
      en: 'VENTANILLA_API_KEY and VENTANILLA_API_KEY_FILE are both set: set one of them',
      es: 'VENTANILLA_API_KEY y VENTANILLA_API_KEY_FILE están definidas las dos: define una sola',
    });
  const [name, key] = path ? [OF_FILE, readKeyFile(path)] : [VARIABLE, given];
  if (!key)
    throw new BulkError(
      path
        ? {
            en: `${name.en} is empty: write the API key into it`,
            es: `${name.es} está vacío: escribe en él la API key`,
          }
        : {
            en: 'VENTANILLA_API_KEY is not set: put the API key into that environment variable',
            es: 'VENTANILLA_API_KEY no está definida: pon la API key en esa variable de entorno',
          },
    );
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new BulkError({
      en: `${name.en} must be the API key as it was issued, without spaces`,
      es: `${name.es} debe ser la API key tal como se entregó, sin espacios`,
    });
  return key;
}

function readKeyFile(path: string): string {
  try {
    const key = readFileSync(path, 'utf8').trim();
    if (!isOpenToOthers(statSync(path))) return key;
    throw new BulkError({
      en: `VENTANILLA_API_KEY_FILE names a file that ${OPEN_TO_OTHERS}`,
      es: 'VENTANILLA_API_KEY_FILE indica un archivo que otros usuarios pueden leer o cambiar: quítales el permiso (chmod 600)',
    });
  } catch (error) {
    if (error instanceof BulkError) throw error;
    throw new BulkError({
      en: `VENTANILLA_API_KEY_FILE names a file that cannot be read (${errorCode(error)})`,
      es: `VENTANILLA_API_KEY_FILE indica un archivo que no se puede leer (${errorCode(error)})`,
    });
  }
}
