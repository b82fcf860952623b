/** Whether something is this machine alone. */

/** Whether a hostname of a URL is: `localhost`, an address of 127.0.0.0/8, or `[::1]`. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** Whether an address is, as a setting or a connection tells it: an IPv6 address has no brackets. */
export function isLoopbackAddress(address: string): boolean {
  // A listener of both families has IPv4 addresses in the form of IPv6.
  const plain = address.replace(/^::ffff:(?=127\.)/, '');
  return isLoopback(plain.includes(':') ? `[${plain}]` : plain);
}
