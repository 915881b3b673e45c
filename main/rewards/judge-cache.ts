/**
 * Answers of judges, kept on disk by what was asked: a resumed run pays for nothing twice, and the same answers give the
 * same run. A file holds what the judge wrote and its tokens; the address is part of its name's hash, the key is not.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '../io/atomic-write.ts';
import { readRegular } from '../io/read-file.ts';

const answerSchema = z.object({
  answer: z.string(),
  input_tokens: z.number().min(0),
  output_tokens: z.number().min(0),
  /** Its end is missing. */
  cut: z.boolean().optional(),
});

/** What a judge wrote, and what it counted. */
export type JudgeAnswer = Readonly<z.infer<typeof answerSchema>>;

export interface JudgeCache {
  /** null: it isn't kept. */
  get(key: string): JudgeAnswer | null;
  set(key: string, answer: JudgeAnswer): void;
}

/** Identifies a request: where it goes, and all that is asked. */
export function cacheKey(url: string, request: object): string {
  return createHash('sha256')
    .update(JSON.stringify([url, request]))
    .digest('hex');
}

/** Opens the cache of a folder, which is made with the first answer. */
export function openJudgeCache(folder: string): JudgeCache {
  const fileOf = (key: string): string => join(folder, key.slice(0, 2), `${key}.json`);
  return {
    get: (key) => {
      try {
        return answerSchema.parse(JSON.parse(readRegular(fileOf(key)).toString('utf8')));
      } catch {
        // None is kept, or it was damaged: it is asked again.
        return null;
      }
    },
    set: (key, answer) => {
      const file = fileOf(key);
      mkdirSync(dirname(file), { recursive: true });
      writeFileAtomic(file, `${JSON.stringify(answer)}\n`);
    },
  };
}
