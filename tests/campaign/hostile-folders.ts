/** Folders and files in a workspace that somebody else made: to be listed, inspected and refused like any others. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RandomStream } from '../../main/random.ts';
import { type HostileInput, hostileInputs } from './hostile-inputs.ts';
import { pick } from './mutate.ts';

const resources = resolve(import.meta.dirname, '../../resources');

/** By parser: where its hostile input goes, in the copy of what. */
const PLACES: Readonly<Record<string, { readonly parent: string; readonly copy: string; readonly file: string }>> = {
  'config.json': { parent: 'models', copy: 'models/tiny', file: 'config.json' },
  'tokenizer.json': { parent: 'models', copy: 'models/tiny', file: 'tokenizer.json' },
  'chat template': { parent: 'models', copy: 'models/tiny', file: 'chat_template.jinja' },
  safetensors: { parent: 'models', copy: 'models/tiny', file: 'model.safetensors' },
  'task.yaml': { parent: 'tasks', copy: 'tasks/exact-match', file: 'task.yaml' },
  'interleave dataset': { parent: 'datasets', copy: 'tasks/exact-match', file: 'records.jsonl' },
};

/** Puts one hostile folder of each kind into a workspace; returns their paths. */
export function hostileFolders(root: string, stream: RandomStream): string[] {
  return Object.entries(PLACES).map(([parser, { parent, copy, file }]) => {
    const input: HostileInput = pick(
      stream,
      hostileInputs.filter((one) => one.parser === parser),
    );
    const folder = join(root, parent, `hostile-${parser.replace(/\W+/g, '-')}`);
    mkdirSync(join(root, parent), { recursive: true });
    cpSync(join(resources, copy), folder, { recursive: true });
    writeFileSync(join(folder, file), input.bytes());
    return folder;
  });
}
