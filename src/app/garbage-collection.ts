/** Settings of V8's garbage collection. Most garbage of a service is buffers, which lie outside of V8's heap. */
import { setFlagsFromString } from 'node:v8';

/** The first major version of V8 that knows the flag. */
const SINCE_V8 = 13;

/**
 * Counts buffers towards the heap's own limit. By default V8 marks the whole heap whenever the buffers have grown by a
 * tenth. Under load this happens several times a second, in all threads of V8.
 */
export function countBuffersInHeapLimit(): void {
  if (Number.parseInt(process.versions.v8, 10) < SINCE_V8) return;
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}
