/** What a model's files are at this moment: an evaluation counts for as long as they stay so. */
import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelParts } from '../../trainer/open-policy.ts';

/** What decides a completion: weights, adapter, shapes, tokens. Optimiser and logs don't. */
const COUNTS = /\.safetensors(\.index\.json)?$|^(adapter_config|config|generation_config|tokenizer.*)\.json$|\.jinja$/;

/** The same for the same files; sizes and times tell, as reading gigabytes would take minutes. */
export function modelFingerprint({ base, adapter, tokenizer }: ModelParts): string {
  const folders = [...new Set([base, adapter ?? base, tokenizer])];
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => COUNTS.test(name) && name !== 'optimizer.safetensors')
      .sort()
      .map((name) => {
        const { size, mtimeMs } = statSync(join(folder, name));
        return [folder, name, size, Math.round(mtimeMs)];
      }),
  );
  return createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 32);
}
