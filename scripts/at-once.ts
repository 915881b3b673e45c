/** `node scripts/at-once.ts NAME…`: npm scripts side by side, as most wait for one core; what each says comes when it ends. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

const codes = await Promise.all(
  process.argv.slice(2).map(async (name) => {
    // On Windows npm is a file of commands, which only a shell starts.
    const child = spawn(`npm run ${name}`, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const closed = new Promise<number>((done) => child.on('close', (code) => done(code ?? 1)));
    const [out, error, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    process.stdout.write(out);
    process.stderr.write(error);
    if (code !== 0) process.stderr.write(`npm run ${name} failed\n`);
    return code;
  }),
);
process.exitCode = codes.find((code) => code !== 0) ?? 0;
