/** The archive of an adapter, as a server packs it: a (gzipped) tar with PEFT's two files, converted to ours. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { ADAPTER_CONFIG, ADAPTER_WEIGHTS, encodeAdapterConfig } from '../../model/peft.ts';
import { encodeSafetensors, openSafetensors } from '../../model/safetensors.ts';
import { formatBytes } from '../../text/format.ts';
import type { CheckpointFile } from '../engine/engine.ts';
import { badAnswer } from './errors.ts';

const BLOCK = 512;
const REGULAR = new Set(['0', '\0', '']);

/** The regular files of a tar, by base name. */
export function untar(bytes: Buffer): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (let at = 0; at + BLOCK <= bytes.length; ) {
    const header = bytes.subarray(at, at + BLOCK);
    const name = text(header, 0, 100);
    if (name === '') break;
    const size = Number.parseInt(text(header, 124, 12), 8);
    const end = at + BLOCK + size;
    // A size below 0 would lead back, and around without an end.
    if (!Number.isInteger(size) || size < 0 || end > bytes.length)
      throw badAnswer('archive', 'a whole tar, got a cut one');
    if (REGULAR.has(text(header, 156, 1))) files.set(name.split('/').at(-1) ?? name, bytes.subarray(at + BLOCK, end));
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

function text(header: Buffer, from: number, length: number): string {
  const field = header.subarray(from, from + length);
  const end = field.indexOf(0);
  return field
    .subarray(0, end < 0 ? length : end)
    .toString('utf8')
    .trim();
}

const configSchema = z.looseObject({ r: z.int().min(1), lora_alpha: z.number().positive() });

/** Beside the layers that are counted: headers, an adapter on the head, a tokenizer. */
const ARCHIVE_SLACK = 64 * 2 ** 20;

/** Bytes that the archive of an adapter of so many numbers may unpack to: twice as many in float32. */
export function archiveLimit(trainable: number): number {
  return 2 * 4 * trainable + ARCHIVE_SLACK;
}

/** PEFT's files of an adapter over `baseModel`, float32 under our names; it may unpack to `limit` bytes. */
export function adapterFromArchive(archive: Buffer, baseModel: string, limit: number): readonly CheckpointFile[] {
  const files = untar(isGzip(archive) ? unzip(archive, limit) : archive);
  const [weights, config] = [files.get(ADAPTER_WEIGHTS), files.get(ADAPTER_CONFIG)];
  if (weights === undefined || config === undefined)
    throw badAnswer(
      'archive',
      `${ADAPTER_WEIGHTS} and ${ADAPTER_CONFIG}, got ${[...files.keys()].join(', ') || 'nothing'}`,
    );
  const parsed = configSchema.safeParse(jsonOr(config.toString('utf8')));
  if (!parsed.success) throw badAnswer('archive', `"r" and "lora_alpha" in ${ADAPTER_CONFIG}`);
  const { r, lora_alpha: alpha } = parsed.data;
  const tensors = readTensors(weights);
  const targetModules = [...new Set(tensors.map(({ name }) => /\.(\w+)\.lora_[AB]\.weight$/.exec(name)?.[1] ?? ''))];
  if (tensors.length === 0 || targetModules.includes(''))
    throw badAnswer(
      'archive',
      `tensors of LoRA, got ${tensors.find(({ name }) => !/\.lora_[AB]\.weight$/.test(name))?.name ?? 'none'}`,
    );
  return [
    [ADAPTER_WEIGHTS, encodeSafetensors(tensors)],
    [ADAPTER_CONFIG, encodeAdapterConfig({ r, alpha, targetModules, useRslora: false }, baseModel)],
  ];
}

/** Float32, under PEFT's names without an adapter's name in them. */
function readTensors(weights: Buffer) {
  const folder = mkdtempSync(join(tmpdir(), 'braid-adapter-'));
  try {
    const path = join(folder, ADAPTER_WEIGHTS);
    writeFileSync(path, weights);
    const file = openSafetensors(path);
    try {
      return [...file.entries]
        .map(([name, { shape }]) => ({ name: peftName(name), shape, data: file.read(name) }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    } finally {
      file.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function peftName(name: string): string {
  const plain = name
    .replace(/\.lora_([AB])\.\w+\.weight$/, '.lora_$1.weight')
    .replace(/\.lora_([AB])$/, '.lora_$1.weight');
  return plain.startsWith('base_model.model.') ? plain : `base_model.model.${plain}`;
}

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function unzip(bytes: Buffer, limit: number): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: limit });
  } catch (error) {
    if (error instanceof RangeError)
      throw badAnswer('archive', `an adapter of at most ${formatBytes(limit)}, got a larger one`);
    throw badAnswer('archive', 'a whole archive, got a damaged one');
  }
}

function jsonOr(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}
