/** The models in those folders, as each program lays them out. Nothing is written there, and no weights are read. */
import { type Dirent, existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isJsonObject, parseJson } from '../../io/json.ts';
import { readRegular } from '../../io/read-file.ts';
import type { FoundPlace, FoundSource } from './found-places.ts';

/** A model that may be one that Braid can train. */
export interface FoundFile {
  readonly source: FoundSource;
  /** As its program calls it: `llama3.2:1b`, `HuggingFaceTB/SmolLM2-135M-Instruct`. */
  readonly name: string;
  /** A GGUF file, or a Hugging Face folder. */
  readonly path: string;
  readonly kind: 'gguf' | 'folder';
  /** Of its weights. */
  readonly bytes: number;
}

/** Of a folder: nobody has more, and a folder that isn't what it seems may have millions. */
const MOST_ENTRIES = 2000;
const MANIFEST_BYTES = 2 ** 20;

export function filesOf({ source, folder }: FoundPlace): Promise<readonly FoundFile[]> {
  switch (source) {
    case 'ollama':
      return ollamaFiles(folder);
    case 'lm-studio':
      return lmStudioFiles(folder);
    case 'hugging-face':
      return hubFiles(folder);
    case 'llama.cpp':
      return modelsIn(folder, { source, name: null });
  }
}

/** Links count as what they lead to: caches are made of them. */
async function entriesOf(folder: string): Promise<readonly string[]> {
  return (await listed(folder)).map(({ name }) => name);
}

async function foldersOf(folder: string): Promise<readonly string[]> {
  return (await listed(folder))
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(({ name }) => name);
}

async function listed(folder: string): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter(({ name }) => !name.startsWith('.')).slice(0, MOST_ENTRIES);
  } catch {
    // Not a folder, gone meanwhile, or not ours to read: it has no models for this user.
    return [];
  }
}

async function bytesOf(file: string): Promise<number | null> {
  const stats = await stat(file).catch(() => null);
  return stats?.isFile() === true ? stats.size : null;
}

/** The Hugging Face model in a folder, or each GGUF file of it. `name`: null, each file's own. */
async function modelsIn(
  folder: string,
  { source, name }: { readonly source: FoundSource; readonly name: string | null },
): Promise<readonly FoundFile[]> {
  const names = await entriesOf(folder);
  const sized = async (wanted: RegExp) => {
    const found = names.filter((one) => wanted.test(one));
    const bytes = await Promise.all(found.map((one) => bytesOf(join(folder, one))));
    return found.flatMap((one, i) => (bytes[i] === null ? [] : [{ name: one, bytes: bytes[i] ?? 0 }]));
  };
  const weights = await sized(/\.(safetensors|bin)$/);
  if (names.includes('config.json') && weights.length > 0) {
    const bytes = weights.reduce((sum, file) => sum + file.bytes, 0);
    return [{ source, name: name ?? basename(folder), path: folder, kind: 'folder', bytes }];
  }
  const files = (await sized(/\.gguf$/i)).filter(isModelFile);
  return files.map((file): FoundFile => {
    const own = file.name.replace(/\.gguf$/i, '');
    const called = name === null ? own : `${name}/${own}`;
    return { source, name: called, path: join(folder, file.name), kind: 'gguf', bytes: file.bytes };
  });
}

/** Not what belongs to another file: eyes of a model that sees, parts after the first. */
function isModelFile({ name }: { readonly name: string }): boolean {
  const [, part] = /-(\d{5})-of-\d{5}\.gguf$/i.exec(name) ?? [];
  return !/mmproj/i.test(name) && (part === undefined || Number(part) === 1);
}

/** publisher/model/files. */
async function lmStudioFiles(root: string): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = [];
  for (const publisher of await foldersOf(root))
    for (const model of await foldersOf(join(root, publisher)))
      found.push(
        ...(await modelsIn(join(root, publisher, model), { source: 'lm-studio', name: `${publisher}/${model}` })),
      );
  return found;
}

/** models--owner--name/snapshots/commit, whose files are links into blobs. */
async function hubFiles(root: string): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = [];
  for (const folder of await foldersOf(root)) {
    const [, repo] = /^models--(.+)$/.exec(folder) ?? [];
    const snapshot = repo === undefined ? null : await newestSnapshot(join(root, folder));
    if (repo === undefined || snapshot === null) continue;
    const of = { source: 'hugging-face', name: repo.replace('--', '/') } as const;
    const own = await modelsIn(snapshot, of);
    found.push(...own);
    if (own.length > 0) continue;
    // Files of some repositories lie in a folder for each kind.
    for (const inner of await foldersOf(snapshot)) found.push(...(await modelsIn(join(snapshot, inner), of)));
  }
  return found;
}

/** What "main" stands for, or the newest. */
async function newestSnapshot(repo: string): Promise<string | null> {
  const snapshots = join(repo, 'snapshots');
  const main = textOf(join(repo, 'refs/main'));
  if (main !== null && /^[0-9a-f]{7,64}$/.test(main) && existsSync(join(snapshots, main))) return join(snapshots, main);
  const all = await Promise.all(
    (await foldersOf(snapshots)).map(async (name) => {
      const path = join(snapshots, name);
      return { path, time: (await stat(path).catch(() => null))?.mtimeMs ?? 0 };
    }),
  );
  return all.sort((a, b) => b.time - a.time)[0]?.path ?? null;
}

/** manifests/registry/namespace/model/tag say which blob has the weights. */
async function ollamaFiles(root: string): Promise<readonly FoundFile[]> {
  const manifests = join(root, 'manifests');
  const found: FoundFile[] = [];
  for (const registry of await foldersOf(manifests))
    for (const namespace of await foldersOf(join(manifests, registry)))
      for (const model of await foldersOf(join(manifests, registry, namespace)))
        for (const tag of await entriesOf(join(manifests, registry, namespace, model))) {
          const blob = weightsOf(join(manifests, registry, namespace, model, tag));
          const path = blob === null ? null : join(root, 'blobs', blob);
          const bytes = path === null ? null : await bytesOf(path);
          const owner = namespace === 'library' ? '' : `${namespace}/`;
          if (path !== null && bytes !== null)
            found.push({ source: 'ollama', name: `${owner}${model}:${tag}`, path, kind: 'gguf', bytes });
        }
  return found;
}

function weightsOf(manifest: string): string | null {
  const text = textOf(manifest);
  if (text === null) return null;
  try {
    const { layers } = parseJson(text) as { readonly layers?: unknown };
    const weights = (Array.isArray(layers) ? layers : []).find(
      (layer) => isJsonObject(layer) && layer.mediaType === 'application/vnd.ollama.image.model',
    ) as { readonly digest?: unknown } | undefined;
    const [, digest] = /^sha256:([0-9a-f]{64})$/.exec(String(weights?.digest)) ?? [];
    return digest === undefined ? null : `sha256-${digest}`;
  } catch {
    return null;
  }
}

function textOf(file: string): string | null {
  try {
    return readRegular(file, MANIFEST_BYTES).toString('utf8').trim();
  } catch {
    return null;
  }
}
