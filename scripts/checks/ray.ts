/**
 * Holds the Ray launcher against a real cluster: node scripts/checks/ray.ts http://127.0.0.1:8265 [--restart]
 * Submits, follows, reads logs, stops; a job that fails; one whose packages don't exist; one that ended by its longest
 * time. With --restart it then waits until the head has been restarted by hand, and expects the job to be gone. It needs
 * nothing but `ray[default]` on the cluster, and leaves nothing there but ended jobs. RAY_AUTH_TOKEN is used if set.
 * Commands for a cluster of two nodes on one machine: docs/engines.md.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineEntry } from '../../main/services/engines/engines.ts';
import { launcherSchema } from '../../main/services/engines/server-launcher.ts';
import { openServerRecords } from '../../main/services/engines/server-records.ts';
import { openServers, type ServerStatus } from '../../main/services/servers/servers.ts';

const [dashboard, ...options] = process.argv.slice(2);
if (dashboard === undefined) {
  process.stderr.write('Expected the address of a dashboard: node scripts/checks/ray.ts http://127.0.0.1:8265\n');
  process.exit(2);
}

const NAME = 'check';
const root = mkdtempSync(join(tmpdir(), 'braid-ray-'));
const servers = openServers({ records: openServerRecords(join(root, 'servers')), secrets: { get: () => null } });
let failed = 0;

function engine(port: number, launcher: object): EngineEntry {
  const parsed = launcherSchema.parse({ kind: 'ray', dashboard, ...launcher });
  return {
    name: NAME,
    url: `http://127.0.0.1:${port}`,
    baseModel: '',
    allowPlain: false,
    prices: null,
    launcher: parsed,
  };
}

/** Starts a job and follows it until the state comes, or another end. */
async function follow(entry: EngineEntry, state: ServerStatus['state'], withinMs = 180_000): Promise<ServerStatus> {
  let status = await servers.up(entry);
  const until = Date.now() + withinMs;
  while (status.state !== state && status.mayBeUp && Date.now() < until) {
    await sleep(500);
    status = (await servers.status(NAME)) ?? status;
  }
  return status;
}

function expectThat(what: string, isSo: boolean, seen: unknown): void {
  if (!isSo) failed++;
  process.stdout.write(
    `${isSo ? 'ok    ' : 'FAILED'} ${what}: ${typeof seen === 'string' ? seen : JSON.stringify(seen)}\n`,
  );
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

const port = await freePort();
const work = join(root, 'work');
mkdirSync(work);
writeFileSync(
  join(work, 'server.py'),
  `import http.server, os
print("from the folder,", os.environ["GREETING"], flush=True)
http.server.HTTPServer(("127.0.0.1", ${port}), http.server.SimpleHTTPRequestHandler).serve_forever()
`,
);
// On a cluster of one machine the server answers here; on another, "starting" with a running job is all that is seen.
const isHere = /^https?:\/\/(127\.|localhost)/.test(dashboard);
const serving = { entrypoint: 'python server.py', workingDir: work, env: { GREETING: 'hello' } };
try {
  const up = await follow(engine(port, serving), 'up', isHere ? 180_000 : 20_000);
  expectThat('a server starts with its folder and variables', up.state === 'up' || !isHere, up.detail);
  const log = await servers.log(NAME);
  expectThat('its log arrives', log.includes('from the folder, hello'), log.trim().split('\n').at(-1) ?? '');
  const stopped = await servers.down(NAME);
  expectThat('it stops', stopped.state === 'stopped', stopped.detail);

  const bad = await follow(engine(port, { entrypoint: 'echo bad; exit 4' }), 'failed');
  expectThat('a job that fails says so', bad.state === 'failed' && bad.detail.includes('4'), bad.detail);
  const none = await follow(engine(port, { entrypoint: 'true', pip: ['braid-check-no-such-package==9.9'] }), 'failed');
  expectThat('packages that do not exist fail it', none.state === 'failed', none.detail);
  await servers.down(NAME);
  const timed = await follow(engine(port, { entrypoint: 'sleep 100', maxHours: 2 / 3600 }), 'stopped');
  expectThat('it ends by itself after its longest time', timed.state === 'stopped', timed.detail);

  if (options.includes('--restart')) {
    await follow(engine(port, serving), 'up');
    process.stdout.write('Restart the head of the cluster now (ray stop, ray start --head …); waiting …\n');
    const until = Date.now() + 300_000;
    const seen = new Set<string>();
    let status = await servers.status(NAME);
    while (status?.mayBeUp === true && Date.now() < until) {
      seen.add(`${status.state}: ${status.detail}`);
      await sleep(500);
      status = await servers.status(NAME);
    }
    for (const line of seen) process.stdout.write(`       ${line}\n`);
    expectThat('a job that the head has forgotten is gone', status?.state === 'gone', status?.detail ?? '');
  }
} finally {
  await servers.down(NAME).catch(() => undefined);
  rmSync(root, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;
