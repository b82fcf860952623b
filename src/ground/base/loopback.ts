/** Tells whether a hostname or an address is that of this machine alone (loopback: RFC 1122, RFC 4291). Pure. */

/** Whether a hostname of a URL is this machine's: `localhost`, an address of 127.0.0.0/8, or `[::1]`. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** The same for the address of a setting or of a connection, where an IPv6 address has no brackets. */
export function isLoopbackAddress(address: string): boolean {
  // A listener of both families has IPv4 addresses in the form of IPv6.
  const plain = address.replace(/^::ffff:(?=127\.)/, '');
  return isLoopback(plain.includes(':') ? `[${plain}]` : plain);
}
