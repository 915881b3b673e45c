/** Several processes that run the same TypeScript program at once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** Starts `count` processes of a program that reads its number from `process.env.NUMBER`; gives what each printed. */
export async function processesAtOnce(count: number, program: string): Promise<string[]> {
  const outputs = Array.from({ length: count }, async (_, number) => {
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NUMBER: String(number) },
    });
    const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    if (child.exitCode !== 0) throw new Error(error);
    return out;
  });
  return Promise.all(outputs);
}

/** The address of a source file, to import it from such a program. */
export function sourceUrl(path: string): string {
  return new URL(`../${path}`, import.meta.url).href;
}
