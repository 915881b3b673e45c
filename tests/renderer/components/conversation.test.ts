import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { Conversation } from '../../../renderer/components/Conversation.tsx';

it('shows the thoughts of a turn before its words and calls', () => {
  const call = { type: 'function' as const, function: { name: 'price', arguments: { of: 'pen' } } };
  const turn = { role: 'assistant' as const, content: 'Let me see.', reasoning_content: 'Look it up.' };
  const messages = [{ ...turn, tool_calls: [call] }];
  const html = renderToStaticMarkup(createElement(Conversation, { messages, label: 'Prompt' }));
  expect(html.replaceAll(/<[^>]*>/g, '|').replaceAll(/\|+/g, '|')).toBe(
    '|Model|thinks| |Look it up.|Let me see.|calls| |price| |of| pen|',
  );
});
