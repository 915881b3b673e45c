import { answer, composePrompt } from '../../services/playground/playground.ts';
import { api } from '../context.ts';

export const playground = {
  prompt: api.playground.prompt.handler(({ input }) => composePrompt(input)),
  answer: api.playground.answer.handler(({ context, input, signal }) => answer(context.app, input, signal)),
};
