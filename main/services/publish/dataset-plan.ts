/** A dataset as a repository of the Hub: its records, those held out beside it, and a card. */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { inputError } from '../../errors.ts';
import { parseJson } from '../../io/json.ts';
import { linesOf } from '../../io/lines.ts';
import { counted } from '../../text/format.ts';
import { VERSION } from '../../version.ts';
import { hashOf } from '../reports/file-hash.ts';
import { cardFields } from './card.ts';
import { type PushFile, type PushNote, type PushPlan, sorted, textFile } from './plan.ts';

export interface DatasetPush {
  readonly repo: string;
  /** Records as JSON lines. */
  readonly file: string;
  readonly license: string | null;
}

interface Split {
  readonly name: 'train' | 'test';
  readonly file: string;
  readonly records: number;
  readonly fields: readonly string[];
}

/** The records with their card. */
export async function planDatasetPush({ repo, file, license }: DatasetPush): Promise<PushPlan> {
  if (!file.endsWith('.jsonl') || !existsSync(file))
    throw inputError(
      'BAD_DATASET',
      `${file}: expected a file of records (.jsonl)`,
      'Datasets lists those of this workspace.',
    );
  const heldOut = file.replace(/\.jsonl$/, '.test.jsonl');
  const splits = [await readSplit('train', file), ...(existsSync(heldOut) ? [await readSplit('test', heldOut)] : [])];
  const own = splits.map((split): PushFile => {
    const bytes = statSync(split.file).size;
    return { path: basename(split.file), bytes, content: { file: split.file } };
  });
  const notes: readonly PushNote[] =
    license === null ? [{ message: 'The card names no licence, such as cc-by-4.0.', option: 'license' }] : [];
  return { repo, type: 'dataset', files: sorted([...own, textFile('README.md', card(repo, license, splits))]), notes };
}

async function readSplit(name: Split['name'], file: string): Promise<Split> {
  const fields = new Set<string>();
  let records = 0;
  for await (const line of linesOf(createReadStream(file))) {
    if (line.trim() === '') continue;
    records++;
    const record: unknown = parseJson(line);
    if (typeof record !== 'object' || record === null)
      throw inputError('BAD_DATASET', `${file}, record ${records}: expected an object`, 'Nothing was pushed.');
    for (const field of Object.keys(record)) fields.add(field);
  }
  return { name, file, records, fields: [...fields] };
}

function card(repo: string, license: string | null, splits: readonly Split[]): string {
  const [, name = repo] = repo.split('/');
  // A pattern, in which brackets hold the characters of a choice.
  const pathOf = (file: string): string => basename(file).replaceAll('[', '[[]');
  const dataFiles = splits.map((split) => ({ split: split.name, path: pathOf(split.file) }));
  const head = {
    ...(license !== null && { license }),
    configs: [{ config_name: 'default', data_files: dataFiles }],
    tags: ['braid'],
  };
  const rows = splits.map((split) => `| ${split.name} | ${split.records} | \`${hashOf(split.file) ?? 'gone'}\` |`);
  const fields = (splits[0]?.fields ?? []).map((field) => `\`${field}\``).join(', ');
  const total = splits.reduce((sum, { records }) => sum + records, 0);
  return `---
${cardFields(head)}---

# ${name}

${counted(total, 'record')} for training language models by reinforcement, written by Braid ${VERSION}. Fields: ${fields}.

| split | records | SHA-256 |
|---|---|---|
${rows.join('\n')}

\`\`\`python
from datasets import load_dataset

dataset = load_dataset("${repo}")
\`\`\`
`;
}
