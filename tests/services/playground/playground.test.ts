import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareModels } from '../../../main/services/comparisons/sampled/compare.ts';
import { evaluateModels } from '../../../main/services/evaluation/evaluate.ts';
import {
  type Answer,
  type AnswerRequest,
  answer,
  composePrompt,
  MAX_WORDS,
} from '../../../main/services/playground/playground.ts';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { openJobs } from '../../../main/services/workspace/jobs.ts';
import { processTemplate } from '../../../main/tasks/interleave/prompt.ts';
import { errorOf } from '../../store/helpers.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

describe('composePrompt', () => {
  it('makes the prompt and the exact target of two texts', () => {
    const { prompt, target, alignment } = composePrompt({ a: ' one  two ', b: 'three four five' });
    expect(prompt).toContain('Process A reads: one two\nProcess B reads: three four five\n');
    expect(target).toBe('one three two four five');
    expect(alignment.words.map(({ strand }) => strand).join('')).toBe('ababb');
  });

  it('takes as many words of each as asked for, and another template', () => {
    const template = 'Mix {words}: {fragment_a} / {fragment_b}';
    const { prompt } = composePrompt({ a: 'one two three', b: 'four five six', words: 2, template });
    expect(prompt).toBe('Mix 2: one two / four five');
  });

  it('says which text is empty or too long, and what is wrong with a template', () => {
    expect(errorOf(() => composePrompt({ a: ' \n', b: 'x' }))).toMatchObject({
      code: 'TEXT_EMPTY',
      message: 'Expected text A to have at least one word, got none',
    });
    const long = 'word '.repeat(MAX_WORDS + 1);
    expect(errorOf(() => composePrompt({ a: 'x', b: long }))).toMatchObject({
      code: 'TEXT_TOO_LONG',
      message: `Expected text B to have at most ${MAX_WORDS} words, got ${MAX_WORDS + 1}`,
    });
    expect(composePrompt({ a: 'x', b: long, words: 10 }).fragments.b).toBe(10);
    expect(errorOf(() => composePrompt({ a: 'x', b: 'y', template: 'nothing' }))).toMatchObject({
      code: 'BAD_TEMPLATE',
    });
  });
});

describe('answer', () => {
  async function place() {
    const { root, store, paths, model } = await tinyWorkspace();
    const app = { store, paths, workspace: { models: join(root, 'models') }, jobs: openJobs(openChanges()) };
    const request: AnswerRequest = {
      a: 'red blue',
      b: 'one two',
      model: 'workspace:tiny-test',
      beside: [],
      temperature: 0,
      seed: 1,
      maxTokens: 12,
    };
    return { app, request, model };
  }

  async function all(stream: AsyncIterable<Answer>): Promise<Answer[]> {
    const answers: Answer[] = [];
    for await (const one of stream) answers.push(one);
    return answers;
  }

  it('streams the text and ends with the same result as an evaluation', async () => {
    const { app, request, model } = await place();
    const answers = await all(answer(app, request));
    const last = answers.at(-1);
    expect(answers.length).toBeGreaterThan(1);
    expect(answers.slice(0, -1).every(({ end }) => end === null)).toBe(true);
    const { prompt, target } = composePrompt(request);
    const evaluated = await evaluateModels({
      models: [{ name: 'tiny', folder: model }],
      dataset: [
        {
          id: 'r',
          words: 2,
          title_a: 'A',
          title_b: 'B',
          prompt,
          target,
          fragment_a: request.a,
          fragment_b: request.b,
        },
      ],
      paths: app.paths,
      maxCompletionLength: 12,
    });
    expect(last?.text).toBe(evaluated.results[0]?.items[0]?.completion);
    expect(last?.alignment.score).toBe(evaluated.results[0]?.items[0]?.alignment);
    expect(last?.end).toMatchObject({ backend: 'wasm' });
    expect(app.jobs.list()[0]).toMatchObject({ title: 'Generate with tiny-test', state: 'done' });
  });

  it('ends at a stop string, as an evaluation and a comparison do, and where a checkpoint was trained to', async () => {
    const { app, request, model } = await place();
    const whole = (await all(answer(app, request))).at(-1)?.text ?? '';
    const stop = whole.split(' ')[1] ?? '';
    const wanted = whole.slice(0, whole.indexOf(stop) + stop.length);
    const ended = (await all(answer(app, { ...request, stop: ['never', stop] }))).at(-1);
    expect(ended).toMatchObject({ text: wanted, end: { terminated: true } });
    const { prompt, target } = composePrompt(request);
    const record = {
      ...{ id: 'r', words: 2, title_a: 'A', title_b: 'B', prompt, target },
      ...{ fragment_a: request.a, fragment_b: request.b },
    };
    const models = [{ name: 'tiny', folder: model }];
    const asked = { models, paths: app.paths, maxCompletionLength: 12 };
    const given = await evaluateModels({ ...asked, dataset: [record], stopStrings: [stop] });
    expect(given.results[0]?.items[0]?.completion).toBe(wanted);
    writeFileSync(join(model, 'chat_settings.json'), JSON.stringify({ stop_strings: [stop] }));
    expect((await all(answer(app, request))).at(-1)?.text).toBe(wanted);
    const dataset = join(app.store.folder, 'one.jsonl');
    writeFileSync(dataset, JSON.stringify(record));
    const options = {
      ...asked,
      dataset,
      task: 'interleave',
      samples: 1,
      k: [1],
      threshold: 1,
      temperature: 1e-4,
    } as const;
    const compared = await compareModels({ ...options, seed: 1, backend: 'wasm', threads: 1 });
    expect(compared.models[0]?.answers[0]?.completions).toEqual([wanted]);
  });

  it('gives the same text for the same seed, and has its length from the target where none is given', async () => {
    const { app, request } = await place();
    const hot = { ...request, temperature: 1, maxTokens: undefined };
    const [one, two] = [await all(answer(app, hot)), await all(answer(app, hot))];
    expect(one.at(-1)?.text).toBe(two.at(-1)?.text);
    expect(one.at(-1)?.tokens).toBeLessThan(30);
  });

  it('rejects a model that is not there before a process is started', async () => {
    const { app, request } = await place();
    await expect(all(answer(app, { ...request, model: 'checkpoint:9' }))).rejects.toMatchObject({
      code: 'MODEL_UNKNOWN',
    });
    expect(app.jobs.list()).toEqual([]);
  });

  it('says what the model cannot hold', async () => {
    const { app, request } = await place();
    await expect(all(answer(app, { ...request, maxTokens: 30_000 }))).rejects.toMatchObject({
      message: expect.stringContaining('max_position_embeddings'),
      kind: 'input',
    });
  });

  it('ends its process when nobody listens any more, or on cancel', async () => {
    const { app, request } = await place();
    for await (const { end } of answer(app, request)) {
      expect(end).toBeNull();
      break;
    }
    await app.jobs.close();
    expect(app.jobs.list()[0]?.state).toBe('cancelled');
    const controller = new AbortController();
    const stream = all(answer(app, request, controller.signal));
    setTimeout(() => controller.abort(), 50);
    await expect(stream).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });

  it('is given the template that comes with Braid by default', () => {
    const own = composePrompt({ a: 'x', b: 'y', template: processTemplate.text });
    expect(composePrompt({ a: 'x', b: 'y' })).toEqual(own);
  });
});
