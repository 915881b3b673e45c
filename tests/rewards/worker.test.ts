import '@tensorflow/tfjs-backend-cpu';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { type ClassifierInput, loadSequenceClassifier } from '../../main/model/sequence-classifier.ts';
import type { ChatMessage } from '../../main/samples/chat-message.ts';
import { reachOf } from '../../main/tasks/external/access.ts';
import type { FolderSource } from '../../main/tasks/folder/source.ts';
import { openTask } from '../../main/tasks/index.ts';
import type { Answer, Task } from '../../main/tasks/task.ts';
import { buildKernels } from '../../main/tensor/kernels/build.ts';
import { processPaths } from '../processes/paths.ts';
import { rewardWorker } from '../tasks/sandbox/scoring.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { specOf } from './answers.ts';

const fixtures = join(import.meta.dirname, '../parity/fixtures');
const CHAT = '{% for m in messages %}{{ m.role }} {{ m.content }} {% endfor %}';
const REFUSING = `{% for m in messages %}{% if m.content == 'two' %}{{ raise_exception('no twos') }}{% endif %}{% endfor %}${CHAT}`;

/** A reward model with a chat template. */
function rewardModel(template: string): string {
  const folder = temporaryFolder();
  cpSync(join(fixtures, 'classifiers/llama'), folder, { recursive: true });
  cpSync(join(fixtures, 'bert/tokenizer.json'), join(folder, 'tokenizer.json'));
  const config: object = JSON.parse(readFileSync(join(fixtures, 'bert/tokenizer_config.json'), 'utf8'));
  writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify({ ...config, chat_template: template }));
  return folder;
}

/** A task that is rewarded by the model alone, through the thread of such components. */
function openJudged(classifier: string, worker = processPaths().externalRewards): Task {
  const spec = specOf<'classifier'>({ classifier });
  const task: FolderSource = {
    name: 'judged',
    folder: '/tasks/judged',
    reward: '',
    definition: `title: Judged
fields: { word: text }
system: Be brief.
prompt: 'Say {word}'
max_completion_length: 16
success_threshold: 1
rewards: { helpful: { weight: 1, classifier: ${classifier} } }
`,
  };
  return openTask(task, rewardWorker, {
    worker,
    allowed: [reachOf('helpful', spec, {})?.hash ?? ''],
    keys: {},
    cacheFolder: temporaryFolder(),
    models: { helpful: classifier },
    kernelsFile: buildKernels(),
  });
}

const answered = (task: Task, completion: string, messages?: readonly ChatMessage[]): Answer => ({
  record: task.parseRecord({ word: 'one' }),
  completion,
  tokens: 1,
  finish: 'stop',
  ...(messages && { messages }),
});

describe('the thread of components outside the sandbox', () => {
  it('gives a reward model the conversation: the system message, the prompt and every turn', async () => {
    await tf.setBackend('cpu');
    const folder = rewardModel(CHAT);
    const turns: readonly ChatMessage[] = [
      { role: 'assistant', content: 'one' },
      { role: 'user', content: 'And the next?' },
      { role: 'assistant', content: 'two' },
    ];
    const asked: readonly ChatMessage[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Say one' },
    ];
    const conversations: ClassifierInput[] = [
      [...asked, { role: 'assistant', content: 'one' }],
      [...asked, ...turns],
    ];
    const classifier = loadSequenceClassifier(folder);
    const expected = classifier.classify(conversations).map((logits) => logits?.[0] ?? Number.NaN);
    classifier.dispose();
    expect(expected[0]).not.toBeCloseTo(expected[1] ?? 0, 4);
    const task = openJudged(folder);
    const scores = task.score([answered(task, 'one'), answered(task, 'one\ntwo', turns)]);
    task.close();
    expect(scores.map(({ failure }) => failure)).toEqual([null, null]);
    scores.forEach(({ components }, i) => {
      expect(components.helpful).toBeCloseTo(expected[i] ?? 0, 4);
    });
  }, 60_000);

  it('says at once why it cannot start', () => {
    const task = openJudged(rewardModel(CHAT), join(temporaryFolder(), 'none.ts'));
    expect(() => task.score([answered(task, 'one')])).toThrow(
      expect.objectContaining({
        code: 'REWARD_THREAD',
        message: expect.stringContaining("can't start: Cannot find module"),
      }),
    );
    task.close();
  });

  it('gives the reason as the failure of the batch where a component throws, and continues with the next', () => {
    const task = openJudged(rewardModel(REFUSING));
    const failed = task.score([answered(task, 'one'), answered(task, 'two')]);
    expect(failed.map(({ failure }) => failure)).toEqual([
      expect.stringContaining('no twos'),
      expect.stringContaining('no twos'),
    ]);
    expect(task.score([answered(task, 'one')])[0]?.failure).toBeNull();
    task.close();
  }, 60_000);
});

describe('the record that a command is given', () => {
  /** What a command is sent of a completion, as it reports it. */
  function sent(definition: string, record: object, more: Pick<Answer, 'messages' | 'asked'> = {}) {
    const script = `process.stdin.once('data', (text) => {
  const line = JSON.parse(String(text));
  process.stdout.write(JSON.stringify({ id: line.id, error: JSON.stringify({ record: line.record, prompt: line.prompt, messages: line.messages, utf8: process.env.PYTHONUTF8 }) }) + '\\n');
});`;
    const files = { 'say.mjs': script };
    const command = [process.execPath, 'say.mjs'];
    const spec = specOf<'command'>({ command });
    const rewards = `rewards: { r: { weight: 1, command: ${JSON.stringify(command)} } }`;
    const task = openTask(
      {
        ...{ name: 'sent', folder: '/tasks/sent', reward: '', files },
        definition: `title: Sent\n${definition}\nmax_completion_length: 16\nsuccess_threshold: 1\n${rewards}\n`,
      },
      rewardWorker,
      {
        ...{
          worker: processPaths().externalRewards,
          keys: {},
          cacheFolder: temporaryFolder(),
          models: {},
          kernelsFile: '',
        },
        allowed: [reachOf('r', spec, files)?.hash ?? ''],
      },
    );
    const given: Answer = { record: task.parseRecord(record), completion: 'x', tokens: 1, finish: 'stop' };
    const [score] = task.score([{ ...given, ...more }]);
    task.close();
    return JSON.parse(score?.failure?.replace('r: ', '') ?? 'null');
  }
  const turns = [
    { role: 'user', content: 'One?' },
    { role: 'assistant', content: 'One.' },
  ] as const;

  it("has a conversation's own turns, the right answer among them", () => {
    const definition = "fields: { messages: messages }\nprompt: '{messages}'";
    expect(sent(definition, { messages: turns })).toEqual({
      ...{ record: { id: 'line-1', messages: turns }, prompt: 'One?', utf8: '1' },
    });
  });

  it('has no messages that are made of its fields, and beside it those of several turns', () => {
    const definition = "fields: { word: text }\nsystem: Be brief.\nprompt: 'Say {word}'";
    expect(sent(definition, { word: 'one' }, { messages: turns })).toMatchObject({
      prompt: 'Be brief.\n\nSay one',
      record: { id: 'line-1', word: 'one' },
      messages: turns,
    });
  });

  it("comes with the prompt under a run's system message, in the form that it had", () => {
    const asked: readonly ChatMessage[] = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Say one' },
    ];
    const formed = "fields: { word: text }\nsystem: Be brief.\nprompt: 'Say {word}'";
    expect(sent(formed, { word: 'one' }, { asked })).toMatchObject({ prompt: 'Be kind.\n\nSay one' });
    const own = "fields: { messages: messages }\nprompt: '{messages}'";
    const given = sent(own, { messages: turns }, { asked });
    expect(given.prompt).toBe('System: Be kind.\n\nUser: Say one\n\nAssistant:');
    expect(given.record.messages).toEqual(turns);
  });
});
