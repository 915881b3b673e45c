import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { addRecord, type NewChatRecord, recordTargets } from '../../../main/services/chat/add-record.ts';
import { datasetFiles } from '../../../main/services/datasets/files.ts';
import { openTinyApp } from '../../api/transports.ts';
import { addRun } from '../../store/helpers.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

const messages = [
  { role: 'user', content: 'When does the ferry leave?' },
  { role: 'assistant', content: 'At seven.' },
] as const;

const record: NewChatRecord = { task: 'conversation', dataset: { name: 'ferries' }, side: 'train', messages };

describe('addRecord', () => {
  it('makes a dataset of it, and adds others to either side', async () => {
    const app = openTinyApp(await tinyWorkspace());
    const first = await addRecord(app, record);
    expect(first).toMatchObject({ name: 'ferries', id: 'chat-1', trainN: 1, testN: 0 });
    const dataset = { id: first.datasetId };
    expect(await addRecord(app, { ...record, dataset, messages: messages.slice(0, 1) })).toMatchObject({
      datasetId: first.datasetId,
      id: 'chat-2',
      trainN: 2,
    });
    expect(await addRecord(app, { ...record, dataset, side: 'test' })).toMatchObject({
      id: 'chat-3',
      trainN: 2,
      testN: 1,
    });
    const row = app.store.datasets.get(first.datasetId);
    // The same prompt is on both sides.
    expect(row).toMatchObject({ task: 'conversation', trainN: 2, testN: 1, leakage: { titles: 1 } });
    const files = datasetFiles(row?.file ?? '');
    const lines = (file: string): unknown[] =>
      readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
    expect(lines(files.train)).toEqual([
      { id: 'chat-1', messages },
      { id: 'chat-2', messages: messages.slice(0, 1) },
    ]);
    expect(lines(files.test)).toEqual([{ id: 'chat-3', messages }]);
    expect(recordTargets(app)).toContainEqual({
      task: 'conversation',
      title: 'Conversation',
      datasets: [{ id: first.datasetId, name: 'ferries', trainN: 2, testN: 1 }],
    });
  });

  it('refuses what could not be read again, a name that is taken, and a dataset in use', async () => {
    const app = openTinyApp(await tinyWorkspace());
    const { datasetId } = await addRecord(app, record);
    const file = app.store.datasets.get(datasetId)?.file ?? '';
    const refused = async (change: Partial<NewChatRecord>, code: string): Promise<void> =>
      expect(addRecord(app, { ...record, ...change })).rejects.toMatchObject({ code, kind: 'input' });
    await refused({}, 'DATASET_EXISTS');
    await refused({ dataset: { name: '../elsewhere' } }, 'BAD_NAME');
    await refused({ dataset: { id: 99 } }, 'DATASET_UNKNOWN');
    await refused({ task: 'countdown' }, 'NOT_CONVERSATIONS');
    await refused({ dataset: { name: 'wrong' }, messages: [messages[1]] }, 'BAD_RECORD');
    const run = addRun(app.store, { dataset: file, task: 'conversation' });
    app.store.runs.setState(run, 'running', null);
    await refused({ dataset: { id: datasetId } }, 'DATASET_IN_USE');
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(1);
  });
});
