/** `braid serve` on a workspace, started as a user would; it exits with this process. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

export interface Host {
  /** Includes the token. */
  readonly url: string;
  readonly stop: () => void;
}

/** Starts it on a free port. */
export async function startHost(workspace: string): Promise<Host> {
  const args = ['main/braid.ts', 'serve', '--workspace', workspace, '--port', '0', '--json'];
  const host = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => host.kill('SIGTERM'));
  const line = await new Promise<string>((settle, fail) => {
    let text = '';
    host.on('exit', (code) => fail(new Error(`Expected braid serve to start, but it ended with ${code}`)));
    host.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (text.includes('\n')) settle(text);
    });
  });
  return { url: (JSON.parse(line) as { url: string }).url, stop: () => host.kill('SIGTERM') };
}
