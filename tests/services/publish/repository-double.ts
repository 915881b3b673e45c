/** A repository of a Hugging Face Hub on this machine, by the part of its interface that a push uses. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenInTest } from '../../local-server.ts';

export interface RepositoryDouble {
  readonly url: string;
  readonly files: Map<string, Buffer>;
  /** null: there is no repository yet. */
  visibility: 'public' | 'private' | null;
  /** The paths of each commit. */
  readonly commits: string[][];
  /** How many large files were sent. */
  sent: number;
  /** Answers what would write with this status. */
  refuse: number | null;
  /** Fails the commit of this number, from 0. */
  failCommit: number | null;
}

type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

export async function repositoryDouble(
  repo: string,
  type: 'models' | 'datasets' = 'models',
): Promise<RepositoryDouble> {
  const stored = new Map<string, Buffer>();
  const double = {
    ...{ url: '', files: new Map<string, Buffer>(), visibility: null, commits: [], sent: 0 },
    ...{ refuse: null, failCommit: null },
  } as RepositoryDouble & { url: string };
  const routes: readonly (readonly [string, RegExp, Answer])[] = [
    [
      'GET',
      new RegExp(`^/api/${type}/${repo}/revision/HEAD`),
      (_, response) =>
        double.visibility === null
          ? json(response, 404, { error: 'Repository not found' })
          : json(response, 200, { _id: '1', id: repo, private: double.visibility === 'private', tags: [] }),
    ],
    ['GET', new RegExp(`^/api/${type}/${repo}/tree/main`), (_, response) => json(response, 200, listing(double.files))],
    [
      'POST',
      /^\/api\/repos\/create$/,
      (_, response, body) => {
        double.visibility = (JSON.parse(body.toString()) as { visibility: 'public' | 'private' }).visibility;
        json(response, 200, { url: `${double.url}/${repo}`, id: repo });
      },
    ],
    [
      'POST',
      /\/preupload\/main$/,
      (_, response, body) => {
        const { files } = JSON.parse(body.toString()) as { files: { path: string }[] };
        const modes = files.map(({ path }) => ({ path, uploadMode: isLarge(path) ? 'lfs' : 'regular' }));
        json(response, 200, { files: modes });
      },
    ],
    [
      'POST',
      /\/info\/lfs\/objects\/batch$/,
      (_, response, body) => {
        const { objects } = JSON.parse(body.toString()) as { objects: { oid: string; size: number }[] };
        const answered = objects.map(({ oid, size }) => ({
          ...{ oid, size },
          ...(!stored.has(oid) && { actions: { upload: { href: `${double.url}/lfs/${oid}` } } }),
        }));
        json(response, 200, { transfer: 'basic', objects: answered });
      },
    ],
    [
      'PUT',
      /^\/lfs\//,
      (request, response, body) => {
        stored.set((request.url ?? '').replace('/lfs/', ''), body);
        double.sent++;
        response.writeHead(200).end();
      },
    ],
    [
      'POST',
      /\/commit\/main$/,
      (_, response, body) => {
        if (double.commits.length === double.failCommit) return void response.destroy();
        double.commits.push(commit(double.files, stored, body.toString()));
        json(response, 200, { commitOid: '1', commitUrl: `${double.url}/commit/1`, hookOutput: '' });
      },
    ],
  ];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.method !== 'GET' && double.refuse !== null) return json(response, double.refuse, { error: 'no' });
      const { pathname } = new URL(request.url ?? '/', double.url);
      const route = routes.find(([method, path]) => method === request.method && path.test(pathname));
      if (route === undefined) return json(response, 404, { error: 'no such route' });
      route[2](request, response, Buffer.concat(parts));
    });
  });
  double.url = await listenInTest(server);
  return double;
}

/** What the Hub keeps beside git. */
const isLarge = (path: string): boolean => /\.(safetensors|png|gguf)$/.test(path);

function listing(files: ReadonlyMap<string, Buffer>) {
  return [...files].map(([path, content]) => ({
    ...{ type: 'file', path, size: content.length },
    oid: createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex'),
    ...(isLarge(path) && { lfs: { oid: sha256(content), size: content.length, pointerSize: 1 } }),
  }));
}

function commit(files: Map<string, Buffer>, stored: ReadonlyMap<string, Buffer>, body: string): string[] {
  const lines = body.split('\n').map((line) => JSON.parse(line) as { key: string; value: Record<string, string> });
  return lines
    .filter(({ key }) => key !== 'header')
    .map(({ key, value: { path = '', oid = '', content = '' } }) => {
      files.set(path, key === 'lfsFile' ? (stored.get(oid) ?? Buffer.alloc(0)) : Buffer.from(content, 'base64'));
      return path;
    });
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
