import { expect, it } from 'vitest';
import { quotingInWords, usualQuoting } from '../../main/text/quoted-tokens.ts';

it('finds the control tokens of the usual models in texts', () => {
  const texts = [
    ...['a <|eot_id|> b', '<|im_start|>user', 'so</s>', '<end_of_turn>', '[INST] do [/INST]', '<pad>'],
    ...['a < b |> c', '<script>', '<strong>', 'f(x)|>g', '[instance]', '<|', 'plain'],
  ];
  const { records, of, tokens } = usualQuoting(texts.map((text) => [text]));
  expect([records, of]).toEqual([6, 13]);
  expect(tokens).toEqual(['<|eot_id|>', '<|im_start|>', '</s>', '<end_of_turn>', '[INST]', '[/INST]', '<pad>']);
});

it('names the first three, and says nothing where there is nothing', () => {
  expect(quotingInWords(usualQuoting([['plain'], []]))).toBeNull();
  expect(quotingInWords(usualQuoting([['<s>'], ['x']]))).toBe('1 of 2 records contains <s>');
  const many = usualQuoting([['<s> </s>'], ['</s> <pad> <eos>']]);
  expect(quotingInWords(many)).toBe('2 of 2 records contain <s> </s> <pad>');
});
