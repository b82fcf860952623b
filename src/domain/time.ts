/** ISO 8601 with a numeric offset, the form of every time in an answer (D23). */
export function withOffset(time: Date): string {
  return time.toISOString().replace('Z', '+00:00');
}
