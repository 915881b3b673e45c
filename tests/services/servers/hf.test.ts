import { createServer, type IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HUB_TOKEN } from '../../../main/services/models/hub-access.ts';
import { whileUsed } from '../../../main/services/servers/shell.ts';
import { closeServer, listenInTest } from '../../local-server.ts';
import { engineWith, freePort, openDesk } from './desk.ts';

interface Job {
  readonly id: string;
  status: { stage: string; message: string | null; failureCount: number };
  readonly body: Readonly<Record<string, unknown>>;
  readonly labels: unknown;
}

/** A double of the Hub's jobs, for one namespace and one token. */
async function openHub() {
  const jobs = new Map<string, Job>();
  const late: Job[] = [];
  let breaks = false;
  let delays = false;
  const server = createServer((request, response) => {
    void (async () => {
      const body = await textOf(request);
      const { method, url = '', headers } = request;
      const send = (status: number, value: unknown) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      if (headers.authorization !== 'Bearer hf_s3cret') return send(401, { error: 'Invalid credentials' });
      const [, id, what] = /^\/api\/jobs\/me(?:\/([^/]+))?(?:\/(cancel|logs))?$/.exec(url) ?? [];
      if (method === 'POST' && id === undefined) {
        const given = JSON.parse(body) as Readonly<Record<string, unknown>>;
        const status = { stage: 'SCHEDULING', message: null, failureCount: 0 };
        const job: Job = { id: `job${jobs.size + late.length}`, status, body: given, labels: given.labels };
        if (delays) late.push(job);
        else jobs.set(job.id, job);
        return breaks ? request.socket.destroy() : send(200, job);
      }
      if (id === undefined) return send(200, [...jobs.values()]);
      const job = jobs.get(id);
      if (job === undefined) return send(404, { error: 'Job not found' });
      if (what === 'cancel') job.status.stage = 'CANCELED';
      if (what !== 'logs') return send(200, job);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      // It stays open, as the log of a running job does.
      for (const line of ['one', 'two'])
        response.write(`data: ${JSON.stringify({ data: line, timestamp: '2026-11-23T00:00:00Z' })}\n\n`);
      return undefined;
    })();
  });
  const url = await listenInTest(server);
  const losesAnswers = (): void => {
    breaks = true;
  };
  /** Jobs whose start isn't answered are listed once they have arrived. */
  const delaysJobs = (): void => {
    breaks = true;
    delays = true;
  };
  const arrive = (): void => {
    for (const job of late.splice(0)) jobs.set(job.id, job);
    breaks = false;
    delays = false;
  };
  return { url, jobs, close: () => closeServer(server), losesAnswers, delaysJobs, arrive };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

let endpoint: string | undefined;
beforeEach(() => {
  endpoint = process.env.HF_ENDPOINT;
});
afterEach(() => {
  if (endpoint === undefined) delete process.env.HF_ENDPOINT;
  else process.env.HF_ENDPOINT = endpoint;
});

async function world() {
  const hub = await openHub();
  process.env.HF_ENDPOINT = hub.url;
  const desk = openDesk();
  desk.secrets.set(HUB_TOKEN, 'hf_s3cret');
  const launcher = { kind: 'hf', namespace: 'me', image: 'img', command: 'serve', flavor: 'a10g-small', maxHours: 1 };
  const port = await freePort();
  return { hub, desk, port, engine: engineWith(`http://127.0.0.1:${port}`, { ...launcher, kind: 'hf' }) };
}

describe('a job of Hugging Face', () => {
  it("isn't watched in the job where its address doesn't say on which port it listens", async () => {
    const { hub, desk, engine } = await world();
    await desk.servers.up({ ...engine, url: 'https://tunnel.example' });
    expect([...hub.jobs.values()][0]?.body).toMatchObject({ command: ['sh', '-c', 'serve'] });
    expect(await desk.servers.status('cluster')).toMatchObject({ endsIdle: false });
  });

  it('is started with its longest time and a label, followed, and cancelled', async () => {
    const { hub, desk, engine, port } = await world();
    await desk.servers.up(engine);
    const [job] = [...hub.jobs.values()];
    expect(job?.body).toMatchObject({
      dockerImage: 'img',
      command: ['sh', '-c', whileUsed('serve', 1800, port, 0)],
      flavor: 'a10g-small',
      timeoutSeconds: 3600,
      labels: { 'braid-engine': expect.stringMatching(/^cluster-/) },
    });
    expect(await desk.servers.status('cluster')).toMatchObject({
      state: 'starting',
      detail: expect.stringMatching(/is scheduling/),
    });
    expect(await desk.servers.log('cluster')).toBe('one\ntwo');
    if (job !== undefined) job.status = { stage: 'ERROR', message: 'no credit', failureCount: 1 };
    expect(await desk.servers.status('cluster')).toMatchObject({
      state: 'failed',
      detail: 'The job failed: no credit',
    });
    await desk.servers.up(engine);
    await desk.servers.down('cluster');
    expect([...hub.jobs.values()][1]?.status.stage).toBe('CANCELED');
    expect(JSON.stringify(desk.records.list())).not.toContain('hf_s3cret');
  });

  it('whose start was never answered is found by its label, and cancelled', async () => {
    const { hub, desk, engine } = await world();
    hub.losesAnswers();
    expect(await desk.servers.up(engine)).toMatchObject({ state: 'starting', mayBeUp: true });
    await desk.servers.down('cluster');
    expect([...hub.jobs.values()].map(({ status }) => status.stage)).toEqual(['CANCELED']);
  });

  it.each(['is started again', 'was stopped first', 'was asked about first'])(
    'whose start was never answered, and which is listed late, is found before another is started: it %s',
    async (what) => {
      const { hub, desk, engine } = await world();
      hub.delaysJobs();
      await expect(desk.servers.up(engine)).rejects.toMatchObject({ code: 'HF_UNREACHABLE' });
      if (what === 'was stopped first') await desk.servers.down('cluster');
      if (what === 'was asked about first') await desk.servers.status('cluster');
      hub.arrive();
      await expect(desk.servers.up(engine)).rejects.toMatchObject({ code: 'SERVER_IS_UP' });
      expect(hub.jobs.size).toBe(1);
      await desk.servers.down('cluster');
      expect([...hub.jobs.values()].map(({ status }) => status.stage)).toEqual(['CANCELED']);
      await desk.servers.up(engine);
      expect(hub.jobs.size).toBe(2);
    },
  );

  it('that the Hub no longer knows is gone; one that it cannot be asked about may still cost', async () => {
    const { hub, desk, engine } = await world();
    await desk.servers.up(engine);
    await hub.close();
    expect(await desk.servers.status('cluster')).toMatchObject({
      state: 'unknown',
      detail: expect.stringMatching(/may still run and cost/),
    });
    const other = await openHub();
    process.env.HF_ENDPOINT = other.url;
    expect(await desk.servers.status('cluster')).toMatchObject({ state: 'gone' });
  });

  it('needs a token that may run jobs', async () => {
    const { desk, engine } = await world();
    desk.secrets.set(HUB_TOKEN, 'hf_other');
    await expect(desk.servers.up(engine)).rejects.toMatchObject({ code: 'HF_REFUSED' });
    desk.secrets.set(HUB_TOKEN, null);
    await expect(desk.servers.up(engine)).rejects.toMatchObject({ code: 'HF_NO_TOKEN' });
    expect(desk.servers.list()).toMatchObject([{ state: 'failed', mayBeUp: false }]);
  });
});
