/** A Hub on this machine with one dataset of one config, `main`, as parquet, and its dataset server. */
import { createServer } from 'node:http';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { closeServer, listen } from '../../local-server.ts';

export interface HubDouble {
  readonly url: string;
  /** What was asked for, in order: paths without their host. */
  readonly asked: string[];
  close(): Promise<void>;
}

type Rows = readonly Readonly<Record<string, string>>[];

/** Opens the Hub; `splits` are the rows by split. */
export async function openHubDouble(splits: Readonly<Record<string, Rows>>): Promise<HubDouble> {
  const files = new Map(
    Object.entries(splits).map(([split, rows]) => [`main/${split}/0000.parquet`, Buffer.from(parquetOf(rows))]),
  );
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
    asked.push(pathname);
    const json = (value: unknown): void =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (pathname === '/splits')
      return json({ splits: Object.keys(splits).map((split) => ({ config: 'main', split })) });
    if (pathname === '/first-rows') {
      const rows = splits[searchParams.get('split') ?? ''] ?? [];
      return json({
        features: Object.keys(rows[0] ?? {}).map((name) => ({ name })),
        rows: rows.map((row) => ({ row, truncated_cells: [] })),
      });
    }
    if (pathname.includes('/tree/'))
      return json([...files].map(([path, { length }]) => ({ type: 'file', path, size: length })));
    const bytes = files.get(decodeURIComponent(pathname).replace(/^.*refs\/convert\/parquet\//, ''));
    if (bytes === undefined) return void response.writeHead(404).end();
    if (request.headers.accept?.includes('xet-fileinfo') || request.method === 'HEAD')
      return void response
        .writeHead(request.headers.range === undefined ? 200 : 206, {
          etag: '"e"',
          'content-length': '1',
          'content-range': `bytes 0-0/${bytes.length}`,
        })
        .end(request.method === 'HEAD' ? undefined : bytes.subarray(0, 1));
    response.writeHead(200, { etag: '"e"', 'content-length': String(bytes.length) }).end(bytes);
  });
  return {
    url: await listen(server),
    asked,
    close: () => closeServer(server),
  };
}

function parquetOf(rows: Rows): ArrayBuffer {
  const columns = Object.keys(rows[0] ?? {});
  return parquetWriteBuffer({
    columnData: columns.map((name) => ({ name, data: rows.map((row) => row[name] ?? ''), type: 'STRING' as const })),
  });
}
