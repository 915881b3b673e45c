/** The fingerprint of a model's current files: an evaluation is valid while it is unchanged. */
import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelParts } from '../../../trainer/policy/model-parts.ts';
import { REFERENCE_FILE } from '../../../trainer/policy/reference.ts';

/** The files that determine completions: weights, adapter, config, tokenizer, system prompt. Optimiser state and logs don't. */
const COUNTS =
  /\.safetensors(\.index\.json)?$|^(adapter_config|chat_settings|config|generation_config|tokenizer.*)\.json$|\.jinja$/;

/** Of a checkpoint's training. */
const NOT_THE_MODEL: readonly string[] = ['optimizer.safetensors', REFERENCE_FILE];

/** Equal for equal files, and the same limit of completions where one is recorded; uses sizes and times, as reading gigabytes would take minutes. */
export function modelFingerprint({ base, adapter, tokenizer, chat }: ModelParts, limit: number | null = null): string {
  const folders = [...new Set([base, adapter ?? base, tokenizer])];
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => COUNTS.test(name) && !NOT_THE_MODEL.includes(name))
      .sort()
      .map((name) => {
        const { size, mtimeMs } = statSync(join(folder, name));
        return [folder, name, size, Math.round(mtimeMs)];
      }),
  );
  return createHash('sha256')
    .update(JSON.stringify([...files, ...(chat === undefined ? [] : [chat]), ...(limit === null ? [] : [limit])]))
    .digest('hex')
    .slice(0, 32);
}
