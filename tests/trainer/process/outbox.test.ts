import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { HostEvent } from '../../../main/trainer/process/host-port.ts';
import { openOutbox } from '../../../main/trainer/process/outbox.ts';

const progress = (done: number): HostEvent => ({ kind: 'progress', done, total: 2, unit: 'rows' });
const text: HostEvent = { kind: 'text', text: 'so far', tokens: 2 };
const messages: HostEvent = { kind: 'messages', messages: [{ role: 'user', content: 'next' }], tokens: 2 };

function open() {
  const sent: (readonly HostEvent[])[] = [];
  return { sent, ...openOutbox(async (batch) => void sent.push(batch)) };
}

describe('openOutbox', () => {
  it('sends the events of a turn together', async () => {
    const { sent, emit } = open();
    emit(progress(1));
    emit(progress(2));
    expect(sent).toEqual([]);
    await setImmediate();
    expect(sent).toEqual([[progress(1), progress(2)]]);
  });

  it('sends texts and conversations while the work continues, after what came before them', async () => {
    const { sent, emit } = open();
    emit(progress(1));
    emit(text);
    emit(messages);
    emit(text);
    expect(sent).toEqual([[progress(1), text], [messages], [text]]);
    await setImmediate();
    expect(sent).toHaveLength(3);
  });

  it('beats at once, and not at every token', () => {
    const { sent, emit } = open();
    for (let token = 0; token < 9; token++) emit({ kind: 'alive' });
    expect(sent).toEqual([[{ kind: 'alive', memoryBytes: expect.any(Number) }]]);
  });

  it('has sent everything once it is flushed', async () => {
    const { sent, emit, flush } = open();
    emit(progress(1));
    await flush();
    expect(sent).toEqual([[progress(1)]]);
  });
});
