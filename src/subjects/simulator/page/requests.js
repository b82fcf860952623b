/** The requests of the simulator's page to the service. */

/** The longest wait for an answer, in milliseconds. */
export const TIMEOUT_MS = 8_000;
/** A file may take longer. */
const FILE_TIMEOUT_MS = 60_000;

/** Does something as the owner of a phone. Throws where the service does not do it. */
export async function send(path, body) {
  await post(path, JSON.stringify(body), 'application/json', TIMEOUT_MS);
}

/** Gives a file to the simulator. Returns its media id. */
export async function upload(file) {
  const type = file.type === '' ? 'application/octet-stream' : file.type;
  const response = await post('files', file, type, FILE_TIMEOUT_MS);
  return (await response.json()).mediaId;
}

async function post(path, body, type, timeoutMs) {
  const response = await fetch(`/simulator/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': type },
    body,
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response;
}
