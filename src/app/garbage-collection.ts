/** How V8 collects a service's garbage. Most of that garbage is buffers, which lie outside of V8's heap. */
import { setFlagsFromString } from 'node:v8';

/** The first major version of V8 that knows the flag. */
const SINCE_V8 = 13;

/**
 * Counts buffers towards the heap's own limit. By default V8 marks the whole heap whenever buffers have grown by a
 * tenth since the last time: several times a second under load, in all its threads.
 */
export function countBuffersInHeapLimit(): void {
  if (Number.parseInt(process.versions.v8, 10) < SINCE_V8) return;
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}
