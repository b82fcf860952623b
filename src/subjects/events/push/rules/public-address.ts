/**
 * Decides which IP addresses are public, so that nobody can lead the service to an address inside a network (SSRF).
 * Pure. The RFCs of the ranges are named below; docs/events.md, "Where the service connects to".
 */
import ipaddr from 'ipaddr.js';

/**
 * Public by their range, but answered by the machine's host: 168.63.129.16 is Azure's own agent on every virtual
 * machine.
 */
const OF_THE_HOST = new Set(['168.63.129.16']);

/**
 * True for a unicast address of the internet. An IPv6 address that carries an IPv4 address for a translator (NAT64, or
 * IPv4-mapped) is judged by the carried one. False for any other text.
 */
export function isPublicAddress(text: string): boolean {
  // Node connects only to these forms. The library also reads 0x7f.1, 010.0.0.1, and addresses with a zone.
  if (!/^((0|[1-9]\d{0,2})(\.|$)){4}$|^(?=[^:]*:)[\da-f:.]+$/i.test(text) || !ipaddr.isValid(text))
    return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return isPublicIpv4(address);
  const range = address.range();
  if (range === 'ipv4Mapped' || (range === 'rfc6052' && address.match(NAT64))) {
    return isPublicIpv4(new ipaddr.IPv4(address.toByteArray().slice(-4)));
  }
  return range === 'unicast' && address.match(GLOBAL_UNICAST);
}

/** The well-known prefix of RFC 6052. Its neighbour 64:ff9b:1::/48 is for translators within a network. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** All of IPv6 that is assigned to the internet. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !OF_THE_HOST.has(address.toString());
}
