/** A Hugging Face Hub on this machine: lists and serves the files of one model, in ranges, and fails on request. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenInTest } from '../../local-server.ts';

export interface HubDouble {
  readonly url: string;
  /** Every request for a file's content: its path and the first byte that was asked for. */
  readonly asked: (readonly [path: string, from: number])[];
  /** Answers every request with this status. */
  status: number;
  /** Cuts the line after so many bytes of a file. */
  cutAfter: number;
  /** Sends the first byte of this file and no more. */
  stall: string;
  files: Readonly<Record<string, Buffer>>;
}

export async function hubDouble(repo: string, files: Readonly<Record<string, Buffer>>): Promise<HubDouble> {
  const hub = { url: '', asked: [], status: 200, cutAfter: Number.POSITIVE_INFINITY, stall: '', files } as HubDouble & {
    url: string;
  };
  const server = createServer((request, response) => answer(hub, repo, request, response));
  hub.url = await listenInTest(server);
  return hub;
}

function answer(hub: HubDouble, repo: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', hub.url);
  if (hub.status !== 200) return void response.writeHead(hub.status).end();
  const tree = `/api/models/${repo}/tree/main`;
  if (url.pathname.startsWith(tree)) {
    const list = listed(hub, url.pathname.slice(tree.length + 1));
    return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list));
  }
  const path = url.pathname.replace(`/${repo}/resolve/main/`, '');
  const content = hub.files[path];
  if (content === undefined) return void response.writeHead(404).end();
  give(hub, path, content, request, response);
}

/** What lies in a folder itself: files, and the folders without theirs. */
function listed({ files }: HubDouble, folder: string): readonly object[] {
  const before = folder === '' ? '' : `${folder}/`;
  const inside = Object.entries(files).filter(([path]) => path.startsWith(before));
  const isDeep = (path: string): boolean => path.slice(before.length).includes('/');
  const folders = inside.flatMap(([path]) => (isDeep(path) ? [before + path.slice(before.length).split('/')[0]] : []));
  return [
    ...[...new Set(folders)].map((path) => ({ type: 'directory', path, size: 0 })),
    ...inside.flatMap(([path, content]) => {
      const { length: size } = content;
      const lfs = path.endsWith('.safetensors') && { lfs: { oid: sha256(content), size, pointerSize: 1 } };
      return isDeep(path) ? [] : [{ type: 'file', path, size, ...lfs }];
    }),
  ];
}

function give(hub: HubDouble, path: string, content: Buffer, request: IncomingMessage, response: ServerResponse): void {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  const [from, to] = [Number(first ?? 0), Math.min(Number(last ?? content.length - 1), content.length - 1)];
  const part = content.subarray(from, to + 1);
  response.writeHead(first === undefined ? 200 : 206, {
    ...{ etag: `"${sha256(content)}"`, 'content-length': String(part.length) },
    ...(first !== undefined && { 'content-range': `bytes ${from}-${to}/${content.length}` }),
  });
  if (request.headers.accept?.includes('xet-fileinfo')) return void response.end(part);
  hub.asked.push([path, from]);
  if (path === hub.stall) return void response.write(part.subarray(0, 1));
  if (part.length <= hub.cutAfter) return void response.end(part);
  response.write(part.subarray(0, hub.cutAfter), () => setTimeout(() => response.destroy(), 600));
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
