import { describe, expect, it } from 'vitest';
import { loadTokenizer } from '../../../../main/model/tokenizer.ts';
import type { ChatTool } from '../../../../main/samples/chat-message.ts';
import { promptIds } from '../../../../main/trainer/jobs/keep-model/prompt-ids.ts';

describe('promptIds', () => {
  it('tells a model without a chat template of the tools, whose control tokens are characters', () => {
    const tokenizer = loadTokenizer('resources/models/tiny');
    const idsOf = (tools: readonly ChatTool[]) =>
      promptIds({ kind: 'messages', messages: [{ role: 'user', content: 'the sea' }], tools }, tokenizer, 4096);
    const plain = idsOf([]);
    const told = idsOf([{ type: 'function', function: { name: 'weather', description: '<|a-only|>' } }]);
    expect(told.slice(-plain.length)).toEqual(plain);
    expect(tokenizer.decode(told)).toContain('weather');
    expect(told).not.toContain(tokenizer.tokenId('<|a-only|>'));
  });
});
