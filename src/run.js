/**
 * Runs the program with Node's compile cache: from the second run on, every command is a third quicker. If the
 * folder of the cache is not writable, Node keeps no cache. A checkout has the program in TypeScript, and the package
 * of `npm pack` has it compiled in `dist` (packages/build-service.js).
 */
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/ventanilla'));
if (existsSync(join(import.meta.dirname, 'main.ts'))) await import('./main.ts');
else await import('../dist/src/main.js');
