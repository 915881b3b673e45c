/** Bundled files: the tiny model and the source texts. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readCorpus } from '../texts/index.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { type Check, fail, guarded, ok } from './check.ts';

const MODEL_FILES = ['config.json', 'tokenizer.json', 'model.safetensors'] as const;
const AGAIN = 'Restore the missing files with git checkout, or install Braid again.';

export function checkBundled(paths: Pick<HostPaths, 'resources' | 'datasets'>): Check[] {
  return [
    checkModel(join(paths.resources, 'models/tiny')),
    guarded('Source texts', AGAIN, () => checkTexts(paths.datasets)),
  ];
}

function checkModel(folder: string): Check {
  const missing = MODEL_FILES.filter((name) => !existsSync(join(folder, name)));
  if (missing.length === 0) return ok('Bundled model', folder);
  return fail('Bundled model', `${missing.join(', ')} missing from ${folder}`, AGAIN);
}

function checkTexts(folder: string): Check {
  const files = readdirSync(folder).filter((name) => name.endsWith('_texts.json'));
  if (files.length === 0) return fail('Source texts', `expected *_texts.json in ${folder}, got none`, AGAIN);
  const texts = readCorpus(files.map((name) => join(folder, name)));
  return ok('Source texts', `${texts.length} in ${files.length} files`);
}
