/** ISO 8601 with a numeric offset, as every time that leaves the service (D23). */
export function withOffset(time: Date): string {
  return time.toISOString().replace('Z', '+00:00');
}
