/**
 * The double as a program, for `command`: `node double-server.ts PORT [text]`. The guess 9 ends the program with a message;
 * the hint of a right guess is the program's own id; a text is put before each hint, as a server that isn't deterministic does.
 */
import { type Answers, guessing, openDouble } from './double.ts';

const [port = '0', before = ''] = process.argv.slice(2);
let steps = 0;

function session(): Answers {
  const answers = guessing();
  return (message, socket) => {
    if (message.data?.guess === 9) {
      console.error('Traceback: nine is not allowed');
      process.exit(3);
    }
    const answer = answers(message, socket) as { readonly data: { readonly observation: { readonly hint: string } } };
    const { hint } = answer.data.observation;
    const own = hint === 'Right.' ? `Right. ${process.pid}` : hint;
    const said = before === '' ? own : `${before} ${steps++} ${own}`;
    return { ...answer, data: { ...answer.data, observation: { hint: said } } };
  };
}

console.log((await openDouble({ port: Number(port), session })).url);
