/** Writes short texts into buffers. */

/**
 * Writes a text as UTF-8 and returns the offset after it. The runtime's own function costs a call out of JavaScript,
 * which is more than a short text itself. The buffer must have room for three bytes a UTF-16 unit.
 */
export function writeText(out: Buffer, offset: number, value: string): number {
  for (let index = 0; index < value.length; index += 1) {
    const unit = value.charCodeAt(index);
    if (unit > 0x7f) return offset + out.write(value, offset);
    out[offset + index] = unit;
  }
  return offset + value.length;
}
