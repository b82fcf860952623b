/**
 * Opens more listeners on a server's address, because Node accepts one connection of a listener in a turn of its event
 * loop. A busy process has 20 to 100 turns a second; with one listener, connections waited in the system's queue for
 * seconds. Touches the network. ARCHITECTURE, "A request's way", has the rule.
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** The connections that the listener may accept in one turn of the event loop. */
const ACCEPTORS = 16;
/** The connections that may wait for a listener: as many as Linux allows by default. Each listener has a queue. */
export const BACKLOG = 4_096;

/** True if several listeners may share an address, and the system distributes connections among them. */
export const canShareAddress = process.platform === 'linux';

/** Opens the listeners. `server` must listen with `reusePort`. */
export function openAcceptors(server: Server, onConnection: (socket: Socket) => void): readonly Server[] {
  const { address, port } = server.address() as AddressInfo;
  return Array.from({ length: ACCEPTORS - 1 }, () => {
    const acceptor = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, onConnection);
    // Without some of them the service accepts more slowly, but works.
    acceptor.on('error', () => acceptor.close());
    acceptor.listen({ host: address, port, reusePort: true, backlog: BACKLOG });
    return acceptor;
  });
}
