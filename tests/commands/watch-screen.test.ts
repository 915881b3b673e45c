import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { openWatchScreen, type WatchTerminal } from '../../main/commands/watch-screen.ts';

function terminal(isTTY: boolean) {
  const keys = new EventEmitter();
  const log: string[] = [];
  const stdin = Object.assign(keys, {
    isTTY,
    setRawMode: (raw: boolean) => void log.push(`raw ${raw}`),
    resume: () => void log.push('resume'),
    pause: () => void log.push('pause'),
  });
  const stdout = { write: (text: string) => log.push(text) > 0 };
  return { keys, log, terminal: { stdin, stdout } as unknown as WatchTerminal };
}

describe('openWatchScreen', () => {
  it('takes the screen, draws in place, and gives everything back once', () => {
    const { keys, log, terminal: of } = terminal(true);
    const screen = openWatchScreen(of, () => undefined);
    expect(log).toEqual(['raw true', 'resume', '\x1b[?1049h\x1b[?25l\x1b[?7l']);
    screen.draw(['one', 'two']);
    expect(log.at(-1)).toBe('\x1b[Hone\x1b[K\r\ntwo\x1b[K\x1b[J');
    log.length = 0;
    screen.close();
    screen.close();
    expect(log).toEqual(['\x1b[?7h\x1b[?25h\x1b[?1049l', 'raw false', 'pause']);
    expect(keys.listenerCount('data')).toBe(0);
  });

  it('quits with q, and tells Ctrl-C and arrow keys apart', () => {
    const { keys, terminal: of } = terminal(true);
    const heard: string[] = [];
    openWatchScreen(of, (key) => heard.push(key));
    for (const data of ['x', '\x1b[A', 'q', 'Q', '\x03']) keys.emit('data', Buffer.from(data));
    expect(heard).toEqual(['quit', 'quit', 'interrupt']);
  });

  it('needs no keyboard', () => {
    const { keys, log, terminal: of } = terminal(false);
    openWatchScreen(of, () => undefined).close();
    expect(log).toEqual(['\x1b[?1049h\x1b[?25l\x1b[?7l', '\x1b[?7h\x1b[?25h\x1b[?1049l']);
    expect(keys.listenerCount('data')).toBe(0);
  });
});
