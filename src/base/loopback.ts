/** Whether a hostname of a URL is this machine: `localhost`, an address of 127.0.0.0/8, or `[::1]`. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
