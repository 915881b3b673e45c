import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHAT_SETTINGS } from '../../../main/model/chat-settings.ts';
import { disposeModel } from '../../../main/model/model.ts';
import { openLane } from '../../../main/services/playground/lane.ts';
import { errorOf } from '../../store/helpers.ts';
import { writeTinyModel } from '../../tiny-model.ts';
import { modelHost } from '../models/places.ts';

async function places() {
  const host = modelHost();
  for (const name of ['base', 'trained']) disposeModel(await writeTinyModel(join(host.workspace.models, name)));
  const chat = { system_prompt: 'Be brief.', chat_template_kwargs: {} };
  mkdirSync(host.workspace.models, { recursive: true });
  writeFileSync(join(host.workspace.models, 'trained', CHAT_SETTINGS), JSON.stringify(chat));
  return { host, chat };
}

describe('openLane', () => {
  it('asks a model without settings as the first beside it that has some, and says so', async () => {
    const { host, chat } = await places();
    const [base, trained] = ['workspace:base', 'workspace:trained'];
    expect(openLane(host, { model: base, beside: [trained] })).toMatchObject({
      name: 'base',
      askedAs: 'trained',
      model: { chat },
      beside: [{ base: join(host.workspace.models, 'trained') }],
    });
    const alone = openLane(host, { model: base, beside: [] });
    expect(alone).toMatchObject({ askedAs: null, beside: [] });
    expect(alone.model.chat).toBeUndefined();
    const other = openLane(host, { model: trained, beside: [base] });
    expect(other).toMatchObject({ askedAs: null });
    expect(other.model.chat).toBeUndefined();
  });

  it('leaves out of the others what cannot be opened, but not its own model', async () => {
    const { host } = await places();
    expect(openLane(host, { model: 'workspace:base', beside: ['workspace:gone'] }).beside).toEqual([]);
    expect(errorOf(() => openLane(host, { model: 'workspace:gone', beside: [] }))).toMatchObject({
      code: 'MODEL_UNKNOWN',
    });
  });
});
