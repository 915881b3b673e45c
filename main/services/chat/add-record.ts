/** Makes a conversation of a chat a record of a dataset: of a task whose records bring their own messages. */
import { basename } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import type { ChatMessage } from '../../samples/chat-message.ts';
import type { NewDataset } from '../../store/datasets.ts';
import { checkDefinition, conversationField, type TaskDefinition } from '../../tasks/folder/definition.ts';
import { importTarget } from '../data-import/import-dataset.ts';
import { datasetFiles } from '../datasets/files.ts';
import { checkUnused, requireDataset } from '../library/catalogue.ts';
import type { Library } from '../library/library.ts';
import { listTasks, requireSource } from '../tasks/task-list.ts';
import { liesInWorkspace } from '../workspace/own-folders.ts';
import type { HostPaths } from '../workspace/paths.ts';

/** A task that takes conversations, with its datasets. */
export interface RecordTarget {
  readonly task: string;
  readonly title: string | null;
  readonly datasets: readonly {
    readonly id: number;
    readonly name: string;
    readonly trainN: number;
    readonly testN: number;
  }[];
}

export interface NewChatRecord {
  readonly task: string;
  /** A dataset of that task, or the name of a new one. */
  readonly dataset: { readonly id: number } | { readonly name: string };
  readonly side: 'train' | 'test';
  /** The assistant's last turn, if they end with one, is the record's target. */
  readonly messages: readonly ChatMessage[];
}

export interface AddedRecord {
  readonly datasetId: number;
  readonly name: string;
  /** The record's. */
  readonly id: string;
  readonly trainN: number;
  readonly testN: number;
}

export interface RecordPlace {
  readonly library: Library;
  readonly paths: Pick<HostPaths, 'resources'>;
}

/** The tasks that a conversation can be a record of. */
export function recordTargets({ library: { store }, paths }: RecordPlace): readonly RecordTarget[] {
  const places = { workspace: store.folder, paths };
  const datasets = store.datasets.list().filter(({ file }) => liesInWorkspace(store, file));
  return listTasks(places).flatMap(({ name, title, problem }) => {
    if (problem !== null || messagesField(requireSource(name, places).definition) === null) return [];
    const own = datasets.filter(({ task }) => task === name);
    return [
      { task: name, title, datasets: own.map(({ id, name: of, trainN, testN }) => ({ id, name: of, trainN, testN })) },
    ];
  });
}

/** The field that takes the conversation; null: none does, or the task wants other fields too. */
function messagesField(definition: string): string | null {
  const checked = checkDefinition(definition);
  if ('faults' in checked) return null;
  const field = conversationField(checked.definition);
  return field === undefined || needsMore(checked.definition, field) ? null : field;
}

function needsMore({ fields }: Pick<TaskDefinition, 'fields'>, conversation: string): boolean {
  return Object.entries(fields).some(([name, type]) => name !== conversation && !type.endsWith('?'));
}

/** Adds the record, to a dataset that nothing uses at the time, or to a new one. */
export async function addRecord(place: RecordPlace, request: NewChatRecord): Promise<AddedRecord> {
  const { library, paths } = place;
  const { store, workers, changes } = library;
  const { task, dataset, side, messages } = request;
  const source = requireSource(task, { workspace: store.folder, paths });
  const field = messagesField(source.definition);
  if (field === null)
    throw inputError('NOT_CONVERSATIONS', `The records of ${task} are not conversations`, 'Choose another task.');
  const row = 'id' in dataset ? requireDataset(store, dataset.id) : null;
  if (row !== null) checkUnused(store, row);
  if (row !== null && row.task !== task)
    throw inputError('WRONG_TASK', `The dataset ${row.name} is of ${row.task}, not of ${task}`, 'Choose another one.');
  const entry = row ?? newEntry(task, importTarget(library, 'name' in dataset ? dataset.name : '', false));
  const files = datasetFiles(entry.file);
  const options = { task: source, files, side, fields: { [field]: messages }, idStem: 'chat' };
  const { id, ...counts } = await workers.run('appendRecord', options).catch((error: unknown) => {
    throw explained(error, task);
  });
  const datasetId = store.transaction(() => store.datasets.record({ ...entry, ...counts }));
  changes.publish('datasets');
  changes.publish('tasks');
  const { trainN, testN } = counts;
  return { datasetId, name: entry.name, id, trainN, testN };
}

function newEntry(task: string, file: string): Omit<NewDataset, 'trainN' | 'testN'> {
  return { name: basename(file, '.jsonl'), file, task, words: null, template: null, textHash: null, seed: 42 };
}

function explained(error: unknown, task: string): unknown {
  if (!(error instanceof BraidError) || error.code !== 'BAD_RECORD') return error;
  return inputError('BAD_RECORD', `The task ${task} can't take this conversation: ${error.message}`);
}
