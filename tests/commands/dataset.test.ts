import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { registerDataset } from '../../main/commands/dataset.ts';
import { checkoutPaths, setHostPaths } from '../../main/commands/host-paths.ts';
import { readDataset } from '../../main/services/datasets/index.ts';
import { openStore } from '../../main/store/index.ts';
import { alignmentReward } from '../../main/tasks/interleave/reward.ts';
import { interleaveTask } from '../../main/tasks/interleave/task.ts';
import { splitWords } from '../../main/text/words.ts';
import { madeTexts } from '../services/texts/made-texts.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { runCommand } from './run-command.ts';

beforeAll(() => setHostPaths(checkoutPaths(resolve(import.meta.dirname, '../..'))));

let folder = '';
beforeAll(() => setHostPaths(checkoutPaths(resolve(import.meta.dirname, '../..'))));
beforeEach(() => {
  folder = temporaryFolder();
  writeFileSync(join(folder, 'texts.json'), JSON.stringify(madeTexts(30, 40, 50, 60, 70)));
});

const run = (...args: string[]) =>
  runCommand(registerDataset, 'dataset', '--workspace', join(folder, 'workspace'), ...args);
const ours = (...args: string[]) =>
  run(
    '--texts',
    join(folder, 'texts.json'),
    '--output-dir',
    join(folder, 'out'),
    '--train',
    '20',
    '--test',
    '5',
    ...args,
  );
const lines = (name: string) =>
  readFileSync(join(folder, 'out', name), 'utf8')
    .trim()
    .split('\n');

describe('braid dataset', () => {
  it('names the words that the model has no tokens for', async () => {
    const foreign = madeTexts(30, 40, 50, 60, 70).map((text) => ({ ...text, text: text.text.replaceAll('w1', 'ж1') }));
    writeFileSync(join(folder, 'texts.json'), JSON.stringify(foreign));
    const { stdout, stderr } = await ours('--words', '10', '--json');
    expect(stderr).toMatch(/10words\.jsonl: With the model tiny: \d+ of 500 words contain characters/);
    expect(JSON.parse(stdout).stages[0].unwritable).toMatch(/has no token for/);
  });

  it('writes a training and a test file for each word count', async () => {
    const { stdout, error } = await ours('--words', '25,10', '--json');
    expect(error).toBeNull();
    expect(readdirSync(join(folder, 'out')).sort()).toEqual([
      '10words.jsonl',
      '10words.test.jsonl',
      '25words.jsonl',
      '25words.test.jsonl',
    ]);
    expect([lines('10words.jsonl').length, lines('10words.test.jsonl').length]).toEqual([20, 5]);
    expect(JSON.parse(stdout)).toMatchObject({
      origin: 'files',
      texts: 5,
      seed: 42,
      template: { name: 'process', version: 1 },
      stages: [
        { words: 10, train: 20, test: 5, held_out_clean: true },
        { words: 25, train: 20, test: 5, held_out_clean: true },
      ],
      shortages: [],
    });
  });

  it('writes one dataset of several word counts, shortest first', async () => {
    const { stdout } = await ours('--words', '25,10', '--mixed', '--json');
    const [stage, ...others] = JSON.parse(stdout).stages;
    expect(others).toEqual([]);
    expect(stage).toMatchObject({ words: 25, train: 40, test: 10, held_out_clean: true });
    expect(stage.file).toMatch(/10-25words\.jsonl$/);
    const words = lines('10-25words.jsonl').map((line) => JSON.parse(line).words);
    expect(words).toEqual([...new Array(20).fill(10), ...new Array(20).fill(25)]);
    expect(readdirSync(join(folder, 'out')).sort()).toEqual(['10-25words.jsonl', '10-25words.test.jsonl']);
  });

  it('reports the stages of a curriculum that the texts are insufficient for, and writes the others', async () => {
    const { stdout, stderr, error } = await ours('--curriculum', '--json');
    expect(error).toBeNull();
    const report = JSON.parse(stdout);
    expect(report.stages.map((stage: { words: number }) => stage.words)).toEqual([10, 25]);
    expect(report.shortages.map((stage: { words: number }) => stage.words)).toEqual([50, 100, 200, 500]);
    expect(stderr).toContain(
      'Skipped: 50 words: expected at least 4 texts of 50 words or more, got 3; add 1 such text',
    );
  });

  it('fails with bad input when the texts suffice for no stage', async () => {
    const { error } = await ours('--words', '200');
    expect(error).toMatchObject({ code: 'TEXTS_TOO_SHORT', kind: 'input' });
    expect(error?.message).toContain('200 words: expected at least 4 texts');
    expect(readdirSync(folder)).toEqual(['texts.json']);
  });

  it('is determined by the seed', async () => {
    await ours('--words', '10', '--seed', '1');
    const first = lines('10words.jsonl');
    await ours('--words', '10', '--seed', '1');
    expect(lines('10words.jsonl')).toEqual(first);
    await ours('--words', '10', '--seed', '2');
    expect(lines('10words.jsonl')).not.toEqual(first);
  });

  it("uses the user's template", async () => {
    const template = join(folder, 'short.txt');
    writeFileSync(template, '{fragment_a} / {fragment_b}');
    await ours('--words', '10', '--template', template);
    expect(JSON.parse(lines('10words.jsonl')[0] ?? '').prompt).toContain(' / ');
  });

  it.each([
    [[], 'Expected --curriculum, or word counts such as --words 10,25; got neither'],
    [['--words', '10,x'], 'Expected --words to be a whole number of at least 1, got "x"'],
    [['--words', '10,'], 'Expected --words to be a whole number of at least 1, got ""'],
    [['--words', '10', '--train', '0'], 'Expected --train to be a whole number of at least 1, got "0"'],
    [['--words', '10', '--seed', '-1'], 'Expected --seed to be a whole number of at least 0, got "-1"'],
  ])('refuses %j', async (args, message) => {
    const { error } = await ours(...args);
    expect(error).toMatchObject({ kind: 'input', message });
  });

  it('rejects an output folder that is a file', async () => {
    const { error } = await ours('--words', '10', '--output-dir', join(folder, 'texts.json'));
    expect(error).toMatchObject({ code: 'BAD_FOLDER', kind: 'input' });
    expect(error?.message).toContain('got a file on that path');
  });

  it("records datasets in the workspace's own folder, even the first one", async () => {
    const { error } = await run('--texts', join(folder, 'texts.json'), '--words', '10', '--train', '20', '--test', '5');
    expect(error).toBeNull();
    const store = openStore(join(folder, 'workspace/braid.db'));
    expect(store.datasets.list()).toMatchObject([{ name: '10words', words: 10, testN: 5 }]);
    store.close();
  });

  it('cuts Chinese texts into words, whose records score 1 for their target', async () => {
    const texts = [
      '春天的早晨，小河边的柳树发出了嫩芽。孩子们在草地上奔跑，笑声传得很远。',
      '老人坐在长椅上看书，偶尔抬头望望天空，云慢慢地飘过屋顶，风很轻。',
      '夏天的夜里，青蛙在池塘边叫个不停，星星一颗一颗地亮起来，月亮很圆。',
      '秋天来了，果园里的苹果红了，工人们忙着采摘，把篮子装得满满的，准备运走。',
      '冬天下了一场大雪，街上很安静，只有面包店的灯还亮着，飘出热面包的香味。',
    ];
    writeFileSync(join(folder, 'texts.json'), JSON.stringify(texts));
    expect((await ours('--words', '10')).error).toBeNull();
    const records = readDataset(join(folder, 'out/10words.jsonl'), interleaveTask);
    expect(records).toHaveLength(20);
    for (const { target, words, fragment_a } of records) {
      expect([words, splitWords(fragment_a).length, splitWords(target).length]).toEqual([10, 10, 20]);
      expect(alignmentReward(target, target)).toBe(1);
    }
  });
});
