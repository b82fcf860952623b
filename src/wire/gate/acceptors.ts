/**
 * Opens more listeners on a server's address, because Node accepts one connection of a listener in a turn of its event
 * loop. A busy process has 20 to 100 turns a second. With one listener the system's queue filled up, and connections
 * waited there for seconds.
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** The connections that a turn of the event loop may accept. */
const ACCEPTORS = 16;
/** The connections that may wait for a listener: as many as Linux allows by default. Each listener has a queue. */
export const BACKLOG = 4_096;

/** True where several listeners may share an address, and the system deals connections out to them. */
export const canShareAddress = process.platform === 'linux';

/** Opens the listeners. `server` must listen with `reusePort`. */
export function openAcceptors(server: Server, onConnection: (socket: Socket) => void): readonly Server[] {
  const { address, port } = server.address() as AddressInfo;
  return Array.from({ length: ACCEPTORS - 1 }, () => {
    const acceptor = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, onConnection);
    // With fewer of them the service is slower to accept, and no worse.
    acceptor.on('error', () => acceptor.close());
    acceptor.listen({ host: address, port, reusePort: true, backlog: BACKLOG });
    return acceptor;
  });
}
