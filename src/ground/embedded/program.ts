/** Runs one program of PostgreSQL to its end, with a time limit. Starts a process. */
import { type SpawnOptions, spawn } from 'node:child_process';

/** How a program ended: `status` is null if it was killed or never ran. */
interface ProgramEnd {
  readonly status: number | null;
  readonly output: string;
}

/** Runs a program to its end, or kills it after `timeoutMs`. `stdin` is a file descriptor. Never rejects. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: SpawnOptions & { stdin?: number; timeoutMs: number },
): Promise<ProgramEnd> {
  const { stdin, timeoutMs, ...rest } = options;
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      ...rest,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      stdio: [stdin ?? 'ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-8192);
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.on('error', (error) => resolve({ status: null, output: error.message }));
    child.on('close', (status, signal) =>
      resolve({
        status,
        output: signal === null ? output : `${output}\n${howEnded(signal, child.killed, timeoutMs)}`,
      }),
    );
  });
}

function howEnded(signal: string, byLimit: boolean, timeoutMs: number): string {
  return byLimit ? `it was not over within ${timeoutMs / 1000} s` : `ended by ${signal}`;
}
