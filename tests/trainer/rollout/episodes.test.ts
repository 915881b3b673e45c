import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { encodeConversation, loadTokenizer } from '../../../main/model/tokenizer.ts';
import type { Completion } from '../../../main/samples/completion.ts';
import { openFolderTask } from '../../../main/tasks/folder/folder-task.ts';
import { readTaskFolder } from '../../../main/tasks/folder/source.ts';
import type { Environment, EnvironmentTurn } from '../../../main/tasks/task.ts';
import { promptTokens } from '../../../main/trainer/batching/prompts.ts';
import type { Sampling } from '../../../main/trainer/engine/engine.ts';
import { sampleEpisodes } from '../../../main/trainer/rollout/episodes.ts';
import { rewardWorker } from '../../tasks/sandbox/scoring.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const TEMPLATE = `{% if tools %}<|start_header_id|>system<|end_header_id|>{{ tools | tojson }} <tool_call><|eot_id|>{% endif %}
{%- for message in messages %}<|start_header_id|>{{ message.role }}<|end_header_id|>{{ message.content }}
{%- for call in message.tool_calls or [] %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor %}<|eot_id|>{% endfor %}
{%- if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>{% endif %}`;

/** A tokenizer with this chat template, and the shop's task. */
function opened(template = TEMPLATE) {
  const folder = join(temporaryFolder(), 'model');
  cpSync(join(import.meta.dirname, '../../parity/fixtures/tokenizers/llama3'), folder, { recursive: true });
  writeFileSync(join(folder, 'chat_template.jinja'), template);
  const shop = join(import.meta.dirname, '../../../resources/tasks/shop-tools');
  const task = openFolderTask(readTaskFolder(shop), rewardWorker);
  onTestFinished(() => task.close());
  const tokenizer = loadTokenizer(folder);
  const record = task.parseRecord({ id: 'a', question: 'How much are 2 pens?', first: 'pen', total: 4 });
  const promptIds = promptTokens(tokenizer, task, record);
  return { tokenizer, task, prompts: [{ record, promptIds, targetIds: [] }] };
}

const CALL = '<tool_call>{"name": "price", "arguments": {"article": "pen"}}</tool_call>';

/** An engine whose model says these turns. */
function saying({ tokenizer }: Pick<ReturnType<typeof opened>, 'tokenizer'>, said: readonly string[]) {
  const end = tokenizer.eosTokenId ?? tokenizer.tokenId('<|eot_id|>') ?? -1;
  return {
    sample: async (_: unknown, { turns }: Sampling): Promise<readonly Completion[]> => {
      const [begun] = turns?.opens
        ? turns.answer([{ completion: 0, turn: -1, ids: [], terminated: true, room: 500 }])
        : [];
      const ids = [...((await begun) ?? [])];
      const toolMask = ids.map(() => 0);
      for (const [turn, text] of said.entries()) {
        const own = [...tokenizer.encode(text), end];
        ids.push(...own);
        toolMask.push(...own.map(() => 1));
        const asked = { completion: 0, turn, ids: own, terminated: true, room: 500 };
        const [answer] = await Promise.all(turns?.answer([asked]) ?? []);
        if (answer === null || answer === undefined) break;
        ids.push(...answer);
        toolMask.push(...answer.map(() => 0));
      }
      return [{ ids, toolMask, terminated: true }];
    },
  };
}

const sampling = { numGenerations: 1, maxNewTokens: 500 } as Omit<Sampling, 'turns'>;

describe('sampleEpisodes with tools', () => {
  it('answers calls until a turn has none: the tokens are those of the whole conversation, the results masked', async () => {
    const place = opened();
    const { tokenizer, task, prompts } = place;
    const engine = saying(place, [CALL, '2 * 2 = 4', 'never said']);
    const [played] = await sampleEpisodes({ engine, task, tokenizer }, prompts, sampling);
    const messages = played?.episode?.messages ?? [];
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'call01000', type: 'function', function: { name: 'price', arguments: { article: 'pen' } } }],
        outcome: { done: false },
      },
      { role: 'tool', content: '2', name: 'price', tool_call_id: 'call01000' },
      { role: 'assistant', content: '2 * 2 = 4', outcome: { done: true } },
    ]);
    const asked = [{ role: 'user' as const, content: prompts[0]?.record.prompt ?? '' }];
    const whole = tokenizer.chat([...asked, ...messages], false, prompts[0] && task.tools?.(prompts[0].record));
    const ids = [...(prompts[0]?.promptIds ?? []), ...(played?.ids ?? [])];
    expect(ids).toEqual(tokenizer.encode(whole));
    const masked = (played?.ids ?? []).filter((_, i) => played?.toolMask?.[i] === 0);
    expect(tokenizer.decode(masked)).toBe('tool2assistant');
  });

  it('tells a model without tools in its template of them, and answers as the user', async () => {
    const place = opened(TEMPLATE.replace(/\{% if tools %\}.*?\{% endif %\}/s, ''));
    const { tokenizer, task, prompts } = place;
    const text = tokenizer.decode([...(prompts[0]?.promptIds ?? [])]);
    expect(text).toMatch(/^system.*<tools>\n\{"type":"function","function":\{"name":"price".*<tool_call>/s);
    const engine = saying(place, [CALL, '4']);
    const [played] = await sampleEpisodes({ engine, task, tokenizer }, prompts, sampling);
    expect(tokenizer.decode(played?.ids ?? [])).toContain('user<tool_response>\n2\n</tool_response>assistant');
  });

  it('shows a call that can’t be read as it was written', async () => {
    const place = opened();
    const { tokenizer, task, prompts } = place;
    const broken = '<tool_call>{"name": }</tool_call>';
    const [played] = await sampleEpisodes({ engine: saying(place, [broken, '4']), task, tokenizer }, prompts, sampling);
    const [said, result] = played?.episode?.messages ?? [];
    expect(said).toEqual({ role: 'assistant', content: broken, outcome: { done: false } });
    // Neither is one lost that nobody answered.
    const environment = { maxTurns: 2, maxTurnTokens: null, hasTools: true, step: () => ['price: gone'] };
    const lost = { engine: saying(place, [CALL, '4']), task: { ...task, environment }, tokenizer };
    const [failed] = await sampleEpisodes(lost, prompts, sampling);
    expect(failed?.episode?.messages).toEqual([{ role: 'assistant', content: '', tool_calls: [expect.anything()] }]);
    expect(failed?.episode?.failure).toBe('price: gone');
    expect(result?.content).toMatch(/^\{"error":"This call can't be read: /);
  });
});

describe('sampleEpisodes where the environment begins', () => {
  const record = { id: 'a', prompt: 'The game:' };

  /** Begins with `first`, and says the same to each turn. */
  function game(first: string | { readonly failure: string }) {
    const tokenizer = loadTokenizer(join(import.meta.dirname, '../../parity/fixtures/tokenizers/llama3'));
    const asked: EnvironmentTurn[] = [];
    const environment: Environment = {
      ...{ maxTurns: 2, maxTurnTokens: null, opens: true },
      step: (turns) => {
        asked.push(...turns);
        return turns.map(({ turn }) => {
          if (typeof first === 'object') return first.failure;
          const message = turn === 0 ? first : 'Higher.';
          return { message, rewards: turn === 0 ? null : { reward: turn }, done: false, state: turn };
        });
      },
    };
    const task = { environment, quoted: () => [] as string[] } as unknown as Parameters<typeof promptTokens>[1];
    const promptIds = promptTokens(tokenizer, task, record);
    return { tokenizer, task, asked, prompts: [{ record, promptIds, targetIds: [] }] };
  }

  it.each(['Guess <|eot_id|> from 0 to 9.', '\n\nGuess.\n'])(
    'puts %j at the end of the prompt, masked',
    async (first) => {
      const { tokenizer, task, asked, prompts } = game(first);
      const engine = saying({ tokenizer }, ['5', '7']);
      const [played] = await sampleEpisodes({ engine, task, tokenizer }, prompts, sampling);
      const { ids = [], toolMask = [], episode } = played ?? {};
      const opening = ids.slice(0, toolMask.indexOf(1));
      const content = `The game:\n\n${first}`;
      const whole = encodeConversation(tokenizer, [{ role: 'user', content }], true);
      const read = [...(prompts[0]?.promptIds ?? []), ...opening];
      if (!first.startsWith('\n')) expect(read).toEqual(whole);
      expect(tokenizer.decode(read)).toBe(tokenizer.decode(whole));
      expect(episode?.messages.map(({ role, content: words }) => [role, words])).toEqual([
        ['user', first],
        ['assistant', '5'],
        ['user', 'Higher.'],
        ['assistant', '7'],
        ['user', 'Higher.'],
      ]);
      expect(asked.map(({ turn, state, messages }) => [turn, state, messages.length])).toEqual([
        [0, null, 1],
        [1, 0, 3],
        [2, 1, 5],
      ]);
      expect(episode?.rewards).toEqual({ reward: 3 });
    },
  );

  it('ends a completion that can’t begin with its first turn, as failed', async () => {
    for (const [first, failure] of [
      [{ failure: 'no place' }, 'no place'],
      ['much '.repeat(600), expect.stringMatching(/begins with \d+ tokens/)],
    ] as const) {
      const { tokenizer, task, asked, prompts } = game(first);
      const engine = saying({ tokenizer }, ['5', 'never said']);
      const [played] = await sampleEpisodes({ engine, task, tokenizer }, prompts, sampling);
      expect(played?.episode).toMatchObject({ failure, messages: [] });
      expect([asked.length, played?.toolMask?.filter((one) => one === 1).length]).toEqual([1, 2]);
    }
  });
});
