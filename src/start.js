#!/usr/bin/env node
/**
 * Starts the program with Node's compile cache: from the second run on, every command is a third quicker. This file is
 * JavaScript because the first TypeScript file of a process costs 40 ms. Where the folder of the cache is not writable,
 * Node keeps no cache.
 */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/ventanilla'));
await import('./main.ts');
