import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openTask } from '../../../main/tasks/index.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { encodeStart } from '../../../main/trainer/stage/encode-start.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../../parity/fixtures/${name}`, import.meta.url));
const folder = temporaryFolderOfFile();
for (const name of readdirSync(fixture('tokenizers/qwen2')))
  copyFileSync(join(fixture('tokenizers/qwen2'), name), join(folder, name));
const config = JSON.parse(readFileSync(fixture('models/qwen2-tied-f32/config.json'), 'utf8')) as object;
writeFileSync(
  join(folder, 'config.json'),
  JSON.stringify({ ...config, vocab_size: 1000, max_position_embeddings: 999 }),
);

const definition = "title: T\nfields: { messages: messages }\nprompt: '{messages}'\nsuccess_threshold: 1\n";
const task = openTask({ name: 'talk', folder: 'talk', definition, reward: '' }, '');

describe('supervised steps on turns with a weight', () => {
  const conversation = (weights: readonly (0 | 1)[], end: readonly object[]) => {
    const turns = weights.flatMap((weight, i) => [
      { role: 'user', content: `question ${i}` },
      { role: 'assistant', content: `answer ${i}`, weight },
    ]);
    return task.parseRecord({ id: 'x', messages: [...turns, ...end] });
  };
  const encode = (weights: readonly (0 | 1)[], own: object, end: readonly object[] = []) => {
    const start = {
      config: parseConfig({ task: 'interleave', model: folder, dataset: 'x', ...own }),
      modelFolder: folder,
    };
    return encodeStart({ ...start, records: [conversation(weights, end)], evalRecords: [] }, task);
  };
  const every = { method: 'sft', assistant_only_loss: true };
  const trained = (weights: readonly (0 | 1)[], own: object = every, end: readonly object[] = []) => {
    const { tokenizer, records } = encode(weights, own, end);
    const lessons = records[0]?.lessons ?? [];
    const kept = lessons.flatMap(({ completions, predicted }) =>
      completions.map((ids, c) => tokenizer.decode(ids.filter((_, i) => predicted?.[c]?.[i] ?? true))),
    );
    return kept.join('');
  };

  it('train those alone that have none of 0', () => {
    expect(trained([1, 1, 1])).toBe('answer 0answer 1answer 2');
    expect(trained([1, 0, 1])).toBe('answer 0answer 2');
    expect(trained([0, 0, 1])).toBe('answer 2');
    expect(trained([1, 1, 0])).toBe('answer 0answer 1');
  });

  it('are those before the turn of somebody else that ends the record, if every turn is trained', () => {
    const thanks = [{ role: 'user', content: 'Thanks' }];
    const limited = { ...every, max_completion_length: 9 };
    expect(trained([1, 1], limited, thanks)).toBe('answer 0answer 1');
    const refused = (remedy: RegExp) =>
      expect.objectContaining({ code: 'NO_TARGET', remedy: expect.stringMatching(remedy) });
    expect(() => encode([1, 1], { ...limited, assistant_only_loss: false }, thanks)).toThrow(
      refused(/^Set assistant_only/),
    );
    expect(() => encode([], limited, thanks)).toThrow(refused(/^Leave the record out/));
  });

  it('refuse a record of which nothing would be trained on', () => {
    const refused = (remedy: string) => expect.objectContaining({ code: 'NO_TARGET', remedy });
    expect(() => encode([1, 0], { method: 'sft' })).toThrow(
      refused('Set assistant_only_loss, which trains its other turns, or leave the record out.'),
    );
    expect(() => encode([0, 0], every)).toThrow(refused('Leave the record out.'));
    // A target that answers are only compared with.
    expect(encode([1, 0], { method: 'grpo' }).records).toHaveLength(1);
  });
});

describe('records of which something is missing', () => {
  const tiny = fileURLToPath(new URL('../../../resources/models/tiny', import.meta.url));
  const fields = "fields: { question: text, answer: text }\nprompt: '{question}'\ntarget: '{answer}'\n";
  const asked = `title: T\n${fields}success_threshold: 1\nmax_completion_length: 9\n`;
  const qa = openTask({ name: 'qa', folder: 'qa', definition: asked, reward: '' }, '');
  const encode = (method: string, ...records: readonly (readonly [string, string])[]) => {
    const config = parseConfig({ task: 'qa', model: tiny, dataset: 'x', method });
    const parsed = records.map(([question, answer], i) => qa.parseRecord({ id: `${i}`, question, answer }));
    return encodeStart({ config, modelFolder: tiny, records: parsed, evalRecords: [] }, qa);
  };

  it('are refused by their names', () => {
    expect(() => encode('grpo', ['river', 'stone'], ['', 'stone'])).toThrow(
      expect.objectContaining({
        code: 'EMPTY_PROMPT',
        message: expect.stringMatching(/^record 1: its prompt is empty/),
      }),
    );
    const untargeted = (remedy: RegExp) =>
      expect.objectContaining({ code: 'NO_TARGET', remedy: expect.stringMatching(remedy) });
    expect(() => encode('sft', ['river', 'stone'], ['cloud', ''])).toThrow(untargeted(/^Leave the record out/));
    expect(() => encode('sft', ['cloud', ''])).toThrow(untargeted(/^Give the task a "target"/));
    expect(encode('grpo', ['cloud', '']).records).toHaveLength(1);
  });
});
