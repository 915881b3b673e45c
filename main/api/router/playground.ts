import { play, playRecord } from '../../services/playground/play.ts';
import { answer, composePrompt } from '../../services/playground/playground.ts';
import { api } from '../context.ts';

export const playground = {
  prompt: api.playground.prompt.handler(({ input }) => composePrompt(input)),
  answer: api.playground.answer.handler(({ context, input, signal }) => answer(context.app, input, signal)),
  record: api.playground.record.handler(({ context, input }) => playRecord(context.app, input)),
  play: api.playground.play.handler(({ context, input, signal }) => play(context.app, input, signal)),
};
