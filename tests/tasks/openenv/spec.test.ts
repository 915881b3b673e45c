import { describe, expect, it } from 'vitest';
import { reachOf } from '../../../main/tasks/external/access.ts';
import { checkDefinition } from '../../../main/tasks/folder/definition.ts';
import { checkOpenEnv, type GivenOpenEnv, pagesOf, socketOf } from '../../../main/tasks/openenv/spec.ts';

const FIELDS = { seed: 'number', word: 'text' };
const action = { guess: '{completion}' };
const openenv = 'ws://127.0.0.1:8000';
const check = (given: GivenOpenEnv) => checkOpenEnv({ openenv, action, ...given }, FIELDS);
const reach = (given: GivenOpenEnv, files = {}) => {
  const { spec } = check(given);
  return spec && reachOf('environment', spec, files);
};

describe('checkOpenEnv', () => {
  it('fills in what may be left out', () => {
    expect(check({})).toMatchObject({
      spec: { kind: 'openenv', reset: { seed: '{seed}' }, message: '{observation}', timeout_s: 60, command: null },
      faults: [],
    });
    expect(checkOpenEnv({ openenv, action }, {}).spec?.reset).toEqual({});
    expect(checkOpenEnv({}, FIELDS)).toEqual({ spec: null, faults: [] });
  });

  it.each<[GivenOpenEnv, string]>([
    [{ action: undefined }, 'expected "action" beside "openenv"'],
    [{ openenv: undefined }, '"action" is of an OpenEnv server, and "openenv" names none'],
    [{ openenv: 'ws://games.example' }, 'is plain http on another machine'],
    [{ openenv: 'ftp://127.0.0.1' }, '"openenv":'],
    [{ openenv: 'wss://games.example', command: ['serve'] }, 'expected an address of this machine'],
    [{ openenv: 'wss://games.example', allow_plain_http: true }, '"allow_plain_http" is for plain http'],
    [{ openenv: 'ws://127.0.0.1:{port}' }, '{port} is a free port for a server that "command" starts'],
    [{ files: ['a.py'] }, '"files" are for a "command"'],
    [{ command: [''] }, 'expected a program and its arguments'],
    [{ command: ['a'], files: ['../b'] }, 'expected a file of the task\'s folder, got "../b"'],
    [{ reset: { word: '{wrd}' } }, '"reset" names {wrd}, which is not in "fields"; did you mean "word"?'],
    [{ reset: { word: '{completion}' } }, '"reset" names {completion}'],
    [{ action: { guess: '{completion}', word: '{wrd}' } }, '"action" names {wrd}'],
    [{ action: { guess: '{completion:last-numbr}' } }, 'did you mean "last-number"?'],
    [{ action: { guess: '{word}' } }, 'expected {completion} in "action"'],
    [{ action: '{completion}' }, 'expected "action" to be an object'],
    [{ start: 'wrd' }, '"start" names wrd, which is not in "fields"; did you mean "word"?'],
  ])('says what is wrong with %j', (given, why) => {
    expect(check(given).faults.map(({ reason }) => reason)).toEqual([expect.stringContaining(why)]);
  });

  it('names the line in task.yaml, and wants one reward beside it', () => {
    const definition = `title: Game
fields: { seed: number }
prompt: Play
max_completion_length: 64
success_threshold: 1
environment:
  max_turns: 3
  openenv: ${openenv}
  action: { guess: '{complete}' }
`;
    const faultsOf = (text: string) => {
      const checked = checkDefinition(text);
      return 'faults' in checked ? checked.faults : [];
    };
    expect(faultsOf(definition)[0]).toMatchObject({ line: 9 });
    const two = `${definition.replace('complete}', 'completion}')}rewards: { a: 1, b: 1 }\n`;
    expect(faultsOf(two)).toEqual([{ line: 10, reason: expect.stringContaining('expected one weight in "rewards"') }]);
  });
});

describe('the addresses', () => {
  it.each([
    ['ws://127.0.0.1:8000', 'http://127.0.0.1:8000', 'ws://127.0.0.1:8000/ws'],
    ['https://games.example/echo/', 'https://games.example/echo', 'wss://games.example/echo/ws'],
    ['wss://games.example/ws', 'https://games.example', 'wss://games.example/ws'],
  ])('of %s', (given, pages, socket) => expect([pagesOf(given), socketOf(given)]).toEqual([pages, socket]));
});

describe('reachOf an environment', () => {
  it('identifies an address by itself, and a command with its files', () => {
    const one = reach({});
    expect(one).toMatchObject({
      host: '127.0.0.1:8000',
      isPlain: false,
      text: expect.stringContaining('which is sent'),
    });
    expect(reach({ message: '{observation} again' })?.hash).toBe(one?.hash);
    expect(reach({ openenv: 'ws://127.0.0.1:8001' })?.hash).not.toBe(one?.hash);
    const command = { openenv: 'ws://127.0.0.1:{port}', command: ['python3', 'server.py', '{port}'] };
    const run = reach(command, { 'server.py': 'x' });
    expect(run).toMatchObject({ host: null, text: expect.stringContaining('["python3","server.py","{port}"]') });
    expect(reach(command, { 'server.py': 'y' })?.hash).not.toBe(run?.hash);
  });

  it('says that plain http on another machine can be read on the way', () => {
    expect(reach({ openenv: 'ws://games.example', allow_plain_http: true })).toMatchObject({ isPlain: true });
  });
});
