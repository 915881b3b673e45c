/** A double of a Ray dashboard's Jobs API: jobs by id, packages, a token, faults; as real ones it refuses browsers. */
import { createServer, type IncomingMessage } from 'node:http';
import { closeServer, listenInTest } from '../../local-server.ts';

export interface DoubleJob {
  status: 'PENDING' | 'RUNNING' | 'STOPPED' | 'SUCCEEDED' | 'FAILED';
  message: string | null;
  logs: string;
  driver_exit_code: number | null;
  readonly submitted: Readonly<Record<string, unknown>>;
}

export interface RayDouble {
  readonly url: string;
  readonly jobs: Map<string, DoubleJob>;
  readonly packages: Map<string, Buffer>;
  /** What was asked: "POST /api/jobs/". */
  readonly asked: string[];
  /** The head is restarted: nothing is known any more. */
  restart(): void;
  /** Breaks the connection of the next request that ends so, after its work. */
  breakAfter(route: string): void;
  close(): Promise<void>;
}

export async function openRayDouble({ token = null }: { readonly token?: string | null } = {}): Promise<RayDouble> {
  const jobs = new Map<string, DoubleJob>();
  const packages = new Map<string, Buffer>();
  const asked: string[] = [];
  let broken: string | null = null;

  function answer(method: string, path: string, body: Buffer): readonly [status: number, body: string] {
    const [, name = ''] = /^\/api\/packages\/gcs\/(.+)$/.exec(path) ?? [];
    if (name !== '' && method === 'PUT') {
      packages.set(name, body);
      return [200, ''];
    }
    if (name !== '') return packages.has(name) ? [200, 'there'] : [404, `Package gcs://${name} does not exist`];
    if (method === 'POST' && path === '/api/jobs/') {
      const submitted = JSON.parse(body.toString('utf8')) as Readonly<Record<string, unknown>>;
      const id = String(submitted.submission_id);
      if (jobs.has(id)) return [500, `Traceback\nValueError: Job with submission_id ${id} already exists.`];
      jobs.set(id, { status: 'PENDING', message: null, logs: '', driver_exit_code: null, submitted });
      return [200, JSON.stringify({ job_id: id, submission_id: id })];
    }
    const [, id = '', what] = /^\/api\/jobs\/([^/]+)(?:\/(logs|stop))?$/.exec(path) ?? [];
    const job = jobs.get(id);
    if (job === undefined) return [404, `Job ${id} does not exist`];
    if (what === 'logs') return [200, JSON.stringify({ logs: job.logs })];
    if (what === undefined) return [200, JSON.stringify({ ...job, type: 'SUBMISSION' })];
    if (job.status === 'PENDING' || job.status === 'RUNNING') job.status = 'STOPPED';
    return [200, JSON.stringify({ stopped: true })];
  }

  const server = createServer((request, response) => {
    void (async () => {
      const body = await bytesOf(request);
      const { method = 'GET', url = '/', headers } = request;
      asked.push(`${method} ${url}`);
      if (token !== null && headers.authorization !== `Bearer ${token}`) return response.writeHead(401).end('no');
      if (method !== 'GET' && headers['sec-fetch-mode'] !== undefined)
        return response.writeHead(405).end(`'${method}' method not allowed for browser traffic.`);
      const [status, text] = answer(method, url, body);
      if (broken !== null && url.endsWith(broken)) {
        broken = null;
        return request.socket.destroy();
      }
      return response.writeHead(status).end(text);
    })();
  });
  return {
    url: await listenInTest(server),
    jobs,
    packages,
    asked,
    close: () => closeServer(server),
    restart: () => jobs.clear(),
    breakAfter: (route) => {
      broken = route;
    },
  };
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}
