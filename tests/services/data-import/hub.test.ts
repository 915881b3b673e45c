/** Datasets of a Hub, against a double on this machine: names, previews, downloads that resume. */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchHubDataset, flatNames } from '../../../main/services/data-import/hub-download.ts';
import { hubFolderName, isHubSource, parseHubDataset } from '../../../main/services/data-import/hub-name.ts';
import { datasetServer, otherSplits, previewHubDataset } from '../../../main/services/data-import/hub-preview.ts';
import { closeServer, listen } from '../../local-server.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { openHubDouble } from './hub-double.ts';

const content: Readonly<Record<string, string>> = {
  'main/train/0000.parquet': 'first file of the training split',
  'main/test/0000.parquet': 'test',
  'socratic/train/0000.parquet': 'another config',
};
const state = { cut: false, status: 200, asked: [] as string[], token: '' };
let server: Server;
let url = '';

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
    const json = (value: unknown): void =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    state.token = request.headers.authorization ?? '';
    if (state.status !== 200) return void response.writeHead(state.status).end();
    if (pathname === '/splits')
      return json({
        splits: [
          { config: 'main', split: 'train' },
          { config: 'main', split: 'test' },
        ],
      });
    if (pathname === '/first-rows') {
      expect(searchParams.get('config')).toBe('main');
      return json({ features: [{ name: 'question' }], rows: [{ row: { question: '1+1' } }] });
    }
    if (pathname.includes('/tree/')) return json(Object.entries(content).map(([path, text]) => listed(path, text)));
    const path = decodeURIComponent(pathname).replace(/^.*refs\/convert\/parquet\//, '');
    const text = content[path];
    if (text === undefined) return void response.writeHead(404).end();
    const [, from = '0'] = /^bytes=(\d+)-/.exec(request.headers.range ?? '') ?? [];
    const part = text.slice(Number(from));
    if (request.headers.accept?.includes('xet-fileinfo') || request.method === 'HEAD')
      return void response
        .writeHead(request.headers.range === undefined ? 200 : 206, {
          etag: '"e"',
          'content-length': '1',
          'content-range': `bytes 0-0/${text.length}`,
        })
        .end(request.method === 'HEAD' ? undefined : text[0]);
    state.asked.push(`${path}:${from}`);
    response.writeHead(Number(from) > 0 ? 206 : 200, { etag: '"e"', 'content-length': String(part.length) });
    if (!state.cut) return void response.end(part);
    response.write(part.slice(0, 5), () => setTimeout(() => response.destroy(), 100));
  });
  url = await listen(server);
});
afterAll(() => closeServer(server));

function listed(path: string, text: string) {
  const oid = createHash('sha1').update(`blob ${text.length}\0${text}`).digest('hex');
  return { type: 'file', path, size: text.length, oid };
}

const job = { signal: new AbortController().signal, progress: () => undefined };
const dataset = { repo: 'openai/gsm8k', config: 'main', revision: null };

describe('parseHubDataset', () => {
  it('reads names, configs, revisions and addresses', () => {
    expect(parseHubDataset('hf:openai/gsm8k')).toEqual({ repo: 'openai/gsm8k', config: null, revision: null });
    expect(parseHubDataset('hf:openai/gsm8k/main@refs/pr/3')).toEqual({ ...dataset, revision: 'refs/pr/3' });
    expect(parseHubDataset('https://huggingface.co/datasets/openai/gsm8k')).toMatchObject({ repo: 'openai/gsm8k' });
    expect(isHubSource('hf:a/b')).toBe(true);
    expect(isHubSource('data/a.csv')).toBe(false);
    for (const bad of ['hf:a/nul', 'hf:gsm8k', 'hf:a/b/c/d', 'hf:../b', 'hf:a/b@../x'])
      expect(() => parseHubDataset(bad), bad).toThrow('Expected a dataset of the Hub');
  });
});

describe('hubFolderName', () => {
  it('differs between datasets, configs and revisions: a download resumes what is in the folder', () => {
    const names = ['hf:a/x/main', 'hf:b/x/main', 'hf:a/x', 'hf:a/x/other', 'hf:a/x/main@v1'].map(hubFolderName);
    expect(new Set(names).size).toBe(names.length);
    expect(names[0]).toBe('a--x--main');
    expect(hubFolderName('hf:a/x@refs/pr/3')).toBe('a--x--@refs--pr--3');
  });
});

describe('previewHubDataset', () => {
  it('shows the first rows before anything is downloaded, with the token', async () => {
    const preview = await previewHubDataset(dataset, null, { serverUrl: url, accessToken: 'hf_x' });
    expect(preview).toMatchObject({
      config: 'main',
      split: 'train',
      columns: ['question'],
      rows: [{ question: '1+1' }],
    });
    expect(state.token).toBe('Bearer hf_x');
  });

  it('says which splits there are, and that a Hub has no server', async () => {
    await expect(previewHubDataset(dataset, 'dev', { serverUrl: url })).rejects.toThrow('got main/dev');
    await expect(previewHubDataset(dataset, null, { serverUrl: null })).rejects.toThrow('no server for previews');
    expect(datasetServer(undefined, {})).toBe('https://datasets-server.huggingface.co');
    expect(datasetServer('http://hub', {})).toBeNull();
    expect(datasetServer('http://hub', { HF_DATASETS_SERVER: url })).toBe(url);
  });
});

describe('otherSplits', () => {
  it('are those of the same config, the usual held-out ones first', async () => {
    const rows = [{ question: '1+1' }];
    const hub = await openHubDouble({ extra: rows, train: rows, validation: rows, test: rows });
    const options = { serverUrl: hub.url };
    expect(await otherSplits(dataset, 'train', options)).toEqual({
      others: ['extra', 'validation', 'test'],
      heldOut: ['test', 'validation'],
    });
    expect(await otherSplits(dataset, 'test', options)).toMatchObject({ heldOut: ['validation'] });
    await expect(otherSplits(dataset, 'dev', options)).rejects.toThrow('got main/dev');
    await expect(otherSplits(dataset, 'train', { serverUrl: null })).rejects.toThrow('no server for previews');
    await hub.close();
  });
});

describe('fetchHubDataset', () => {
  it('resumes where it stopped, and keeps what is complete', async () => {
    const folder = join(temporaryFolderOfFile(), 'hub');
    state.cut = true;
    await expect(fetchHubDataset(dataset, 'train', folder, { hubUrl: url }, job)).rejects.toMatchObject({
      remedy: expect.stringMatching(/resumes where it stopped\. Or: download its files/),
    });
    state.cut = false;
    const files = await fetchHubDataset(dataset, 'train', folder, { hubUrl: url }, job);
    expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(['first file of the training split']);
    expect(state.asked.at(-1)).toBe('main/train/0000.parquet:5');
    const before = state.asked.length;
    await fetchHubDataset(dataset, 'train', folder, { hubUrl: url }, job);
    expect(state.asked.length).toBe(before);
  });

  it.each([
    ['part of', 'other'],
    ['a whole', 'first file of an earlier version.'],
  ])('deletes %s file of an earlier version, and downloads the new one the next time', async (_, old) => {
    const folder = join(temporaryFolderOfFile(), 'hub');
    const place = join(folder, 'main__train__0000.parquet');
    mkdirSync(folder, { recursive: true });
    writeFileSync(place, old.slice(0, content['main/train/0000.parquet']?.length));
    const load = () => fetchHubDataset(dataset, 'train', folder, { hubUrl: url }, job);
    await expect(load()).rejects.toMatchObject({ code: 'HUB_CHANGED', remedy: expect.stringContaining('the import') });
    expect(existsSync(place)).toBe(false);
    const [file = ''] = await load();
    expect(readFileSync(file, 'utf8')).toBe('first file of the training split');
  });

  it('explains a gated dataset, and a split that is not there', async () => {
    const folder = join(temporaryFolderOfFile(), 'hub');
    state.status = 401;
    await expect(fetchHubDataset(dataset, 'train', folder, { hubUrl: url }, job)).rejects.toMatchObject({
      code: 'HUB_REFUSED',
    });
    state.status = 200;
    await expect(fetchHubDataset(dataset, 'dev', folder, { hubUrl: url }, job)).rejects.toMatchObject({
      code: 'HUB_NO_DATA',
    });
  });
});

describe('flatNames', () => {
  const files = (...names: string[]) => names.map((path) => ({ path }));
  it('has a name of its own for each file, on systems that ignore capitals too', () => {
    const paths = files(
      'data/a.parquet',
      'data__a.parquet',
      'Data/A.parquet',
      `${'x'.repeat(200)}/${'y'.repeat(90)}.csv`,
    );
    expect(flatNames(paths, 'a/b')).toEqual(['data__a.parquet', '1.parquet', '2.parquet', '3.csv']);
  });

  it.each(['..\\..\\x.parquet', 'a/../x.parquet', 'C:x.parquet', '/x.parquet', 'a/nul/x.parquet', 'a/x.parquet\0'])(
    'refuses a listing with %j',
    (path) => {
      expect(() => flatNames(files('a/x.parquet', path), 'a/b')).toThrow('a/b: expected names of files');
    },
  );
});
