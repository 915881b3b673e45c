import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import { exportModel, exportWords, ggufProblemOf } from '../../../main/services/merge/export-model.ts';
import type { MergeResult } from '../../../main/services/merge/merge.ts';
import { listModels } from '../../../main/services/models/list.ts';
import type { LaunchTrainer } from '../../../main/services/trainer-process/channel.ts';
import { openTinyApp } from '../../api/transports.ts';
import { errorOf } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { writeTinyModel } from '../../tiny-model.ts';
import { jobEnd, modelHost } from '../models/places.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

const merged: MergeResult = {
  folder: '/models/mine',
  dtype: 'bfloat16',
  of: 'checkpoint',
  files: [],
  gguf: null,
  agreement: { prompts: 16, equal: 15 },
  compared_on: { task: 'interleave', dataset: '/data/10words.test.jsonl', records: 64, note: null },
};

describe('exportWords', () => {
  it('says how many answers are the same, and what llama.cpp gives from the GGUF file', () => {
    expect(exportWords('mine', 'run 1 · step 20', merged)).toBe(
      'mine (bfloat16), loaded again, answers 15 of 16 prompts as run 1 · step 20 does. In bfloat16, with 8 significant bits, what training changed is partly rounded away: where two tokens are nearly as likely, the other one may come. --dtype float32 keeps it, in twice the size. Compared on 16 of 64 records of /data/10words.test.jsonl.',
    );
    const compared_on = { task: 'interleave', dataset: null, records: 16, note: 'the model is no checkpoint' };
    expect(exportWords('mine', 'a', { ...merged, compared_on })).toMatch(
      / Compared on 16 pairs of the bundled texts \(the model is no checkpoint\)\.$/,
    );
    const file = {
      file: '/models/mine/mine.gguf',
      note: null,
      read_back: { tensors: 272, largest_difference: 0.00012 },
    };
    const gguf = { ...file, prompts: 16, equal: 14, same_tokens: 13, missed_ends: [] };
    expect(exportWords('mine', 'a', { ...merged, gguf })).toMatch(
      / llama\.cpp answers 14 of 16 from the GGUF file, and cuts 13 of 16 into the same tokens\. Compared/,
    );
    expect(exportWords('mine', 'a', { ...merged, gguf: { ...gguf, missed_ends: ['</s>', '<e>'] } })).toMatch(
      / same tokens\. llama\.cpp doesn't stop at <\/s>, <e>, with which this model ends answers/,
    );
    const unproved = { ...file, unproved: 'node-llama-cpp is not installed' };
    expect(exportWords('mine', 'a', { ...merged, gguf: unproved })).toMatch(
      / all 272 tensors .* \(largest difference 0\.00012\)\. llama\.cpp has not answered from it: node-llama-cpp is not installed\. Compared/,
    );
    const note = "llama.cpp doesn't compose characters.";
    expect(exportWords('mine', 'a', { ...merged, gguf: { ...unproved, note } })).toMatch(
      /not installed\. llama\.cpp doesn't compose characters\. Compared/,
    );
  });
});

/** An app, and an export of its model; `whileCompared` is called once it is written and about to be compared. */
async function bench(whileCompared: (models: string) => void) {
  const world = await tinyWorkspace();
  const models = join(world.root, 'models');
  const trainer: LaunchTrainer = (env) => {
    const channel = world.paths.trainer(env);
    const post: typeof channel.post = (message) => {
      if (message.kind === 'sample') whileCompared(models);
      channel.post(message);
    };
    return { ...channel, post };
  };
  const app = openTinyApp({ ...world, paths: { ...world.paths, trainer } });
  const begin = () => exportModel(app, { ref: 'workspace:tiny-test', name: 'mine', dtype: null, gguf: null });
  const names = () =>
    listModels(app)
      .filter(({ kind }) => kind === 'workspace')
      .map(({ name }) => name);
  return { app, models, begin, names };
}

const theirs = (models: string): void => {
  mkdirSync(join(models, 'mine'));
  writeFileSync(join(models, 'mine', 'config.json'), 'theirs');
};

describe('ggufProblemOf', () => {
  it('says why llama.cpp cannot use a model, which the dialog then does not offer', async () => {
    const host = modelHost();
    const folder = join(host.workspace.models, 'own');
    disposeModel(await writeTinyModel(folder, { vocabSize: 605 }));
    expect(ggufProblemOf(host, 'workspace:own')).toMatch('it is a WordLevel model');
    cpSync(new URL('../../parity/fixtures/tokenizers/qwen2', import.meta.url), folder, { recursive: true });
    expect(ggufProblemOf(host, 'workspace:own')).toBeNull();
    for (const ref of ['bundled:tiny', 'bundled:tiny-reply'])
      expect(ggufProblemOf(host, ref)).toMatch('it is WordPiece');
    expect(errorOf(() => ggufProblemOf(host, 'workspace:none'))).toMatchObject({ code: 'MODEL_UNKNOWN' });
  });
});

describe('exportModel', () => {
  it('names the model only when it is compared, and refuses a second export of that name until then', async () => {
    const seen: unknown[] = [];
    const { app, models, begin, names } = await bench(() => {
      seen.push(names(), errorOf(begin));
    });
    expect(begin()).toMatchObject({ ref: 'workspace:mine' });
    expect(await jobEnd(app)).toMatchObject({ state: 'done', error: null });
    expect(seen).toEqual([['tiny-test'], expect.objectContaining({ code: 'EXPORT_BUSY' })]);
    expect(readdirSync(models).sort()).toEqual(['mine', 'tiny-test']);
    expect(readdirSync(join(models, 'mine'))).toContain('model.safetensors');
    expect(errorOf(begin)).toMatchObject({ code: 'MODEL_EXISTS' });
  });

  it('writes to a folder elsewhere, and lists the model from there', async () => {
    const { app, models } = await bench(() => undefined);
    const into = temporaryFolder();
    const wanted = { ref: 'workspace:tiny-test', name: 'mine', into, dtype: null, gguf: null };
    expect(exportModel(app, wanted)).toMatchObject({ ref: `folder:${join(into, 'mine')}` });
    expect(await jobEnd(app)).toMatchObject({ state: 'done', error: null });
    expect(readdirSync(models)).toEqual(['tiny-test']);
    expect(listModels(app).map(({ ref }) => ref)).toContain(`folder:${join(into, 'mine')}`);
    expect(errorOf(() => exportModel(app, wanted))).toMatchObject({ code: 'MODEL_EXISTS' });
    const missing = { ...wanted, into: join(into, 'none') };
    expect(errorOf(() => exportModel(app, missing))).toMatchObject({ code: 'FOLDER_MISSING' });
  });

  it('keeps what took its name meanwhile, and discards the export', async () => {
    const { app, models, begin } = await bench(theirs);
    begin();
    expect(await jobEnd(app)).toMatchObject({
      state: 'failed',
      error: { code: 'OUTPUT_EXISTS', message: expect.stringContaining(join(models, 'mine')) },
    });
    expect(readFileSync(join(models, 'mine', 'config.json'), 'utf8')).toBe('theirs');
    expect(readdirSync(models).sort()).toEqual(['mine', 'tiny-test']);
  });

  it('deletes only its own files when it fails or is cancelled, and names them as the user does', async () => {
    const { app, models, begin } = await bench(() => {
      theirs(models);
      const [staging = ''] = readdirSync(models).filter((name) => name.startsWith('.mine.'));
      rmSync(join(models, staging, 'mine', 'model.safetensors'));
    });
    begin();
    const failed = await jobEnd(app);
    expect(failed).toMatchObject({
      state: 'failed',
      error: { message: expect.stringContaining(join(models, 'mine')) },
    });
    expect(failed?.error?.message).not.toContain('.mine.');
    expect(readdirSync(models).sort()).toEqual(['mine', 'tiny-test']);

    rmSync(join(models, 'mine'), { recursive: true });
    const { jobId } = begin();
    theirs(models);
    app.jobs.cancel(jobId);
    expect(await jobEnd(app)).toMatchObject({ state: 'cancelled' });
    expect(readFileSync(join(models, 'mine', 'config.json'), 'utf8')).toBe('theirs');
    expect(readdirSync(models).sort()).toEqual(['mine', 'tiny-test']);
  });
});
