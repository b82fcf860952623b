/** What pushes name as their sender. */
import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync(new URL('../../../../../package.json', import.meta.url), 'utf8'));

export const USER_AGENT = `Ventanilla/${version}`;
