/** What `tool-masks.py` asks: a conversation with tools as the trainer samples it, of turns whose tokens are given. */
import { text } from 'node:stream/consumers';
import { loadTokenizer } from '../../main/model/tokenizer.ts';
import { openFolderTask } from '../../main/tasks/folder/folder-task.ts';
import { readTaskFolder } from '../../main/tasks/folder/source.ts';
import { promptTokens } from '../../main/trainer/batching/prompts.ts';
import type { Sampling } from '../../main/trainer/engine/engine.ts';
import { sampleEpisodes } from '../../main/trainer/rollout/episodes.ts';

const { model, question, turns } = JSON.parse(await text(process.stdin)) as {
  readonly model: string;
  readonly question: string;
  readonly turns: readonly (readonly number[])[];
};
const root = new URL('../../', import.meta.url);
const worker = new URL('main/tasks/sandbox/worker.ts', root);
const task = openFolderTask(readTaskFolder(new URL('resources/tasks/shop-tools', root).pathname), worker.pathname);
const tokenizer = loadTokenizer(model);
const record = task.parseRecord({ id: 'a', question, first: 'pen', total: 4 });
const promptIds = promptTokens(tokenizer, task, record);

async function sample(_: unknown, { turns: taking }: Sampling) {
  const [ids, toolMask]: [number[], number[]] = [[], []];
  for (const [turn, own] of turns.entries()) {
    ids.push(...own);
    toolMask.push(...own.map(() => 1));
    const asked = { completion: 0, turn, ids: own, terminated: true, room: 10_000 };
    const [answer] = await Promise.all(taking?.answer([asked]) ?? []);
    ids.push(...(answer ?? []));
    toolMask.push(...(answer ?? []).map(() => 0));
  }
  return [{ ids, toolMask, terminated: true }];
}

const sampling = { numGenerations: 1, maxNewTokens: 10_000 } as Omit<Sampling, 'turns'>;
const context = { engine: { sample }, task, tokenizer };
const [played] = await sampleEpisodes(context, [{ record, promptIds, targetIds: [] }], sampling);
task.close();
const [messages, tools] = [played?.episode?.messages, task.tools?.(record)];
console.log(
  JSON.stringify({ prompt: record.prompt, promptIds, ids: played?.ids, mask: played?.toolMask, messages, tools }),
);
