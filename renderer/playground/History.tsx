/** Earlier questions to the playground; a click brings one back with its models, settings and answers. */

import { Menu, Table } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { beginning } from '../components/beginning.ts';
import { Confirm } from '../components/Confirm.tsx';
import { ago, counted, score } from '../components/format.ts';
import { MoreMenu } from '../components/MoreMenu.tsx';
import { PlainButton } from '../components/PlainButton.tsx';
import { Panel } from '../components/Screen.tsx';
import type { Form } from './form.ts';
import type { Asked } from './history.ts';

export interface HistoryProps {
  readonly history: readonly Asked[];
  readonly onAsked: (asked: Asked) => void;
  readonly onClear: () => void;
}

export function History({ history, onAsked, onClear }: HistoryProps) {
  const [isClearing, setClearing] = useState(false);
  const clear = useMutation({
    mutationFn: async () => onClear(),
    onSuccess: () => setClearing(false),
  });
  if (history.length === 0) return null;
  return (
    <Panel
      title="History"
      actions={
        <MoreMenu label="Actions for the history">
          {() => <Menu.Item onClick={() => setClearing(true)}>Clear …</Menu.Item>}
        </MoreMenu>
      }
    >
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Prompt</Table.Th>
            <Table.Th>Settings</Table.Th>
            <Table.Th ta="right">Scores</Table.Th>
            <Table.Th ta="right">Asked</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {history.map((asked) => (
            <Table.Tr key={asked.at}>
              <Table.Td>
                <PlainButton onClick={() => onAsked(asked)}>{promptOf(asked.form)}</PlainButton>
              </Table.Td>
              <Table.Td className="soft">{settingsOf(asked.form)}</Table.Td>
              <Table.Td ta="right" className="mono">
                {asked.scores.map((value) => score(value)).join('  ')}
              </Table.Td>
              <Table.Td ta="right" className="soft">
                {ago(asked.at)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Confirm
        opened={isClearing}
        title="Clear the history?"
        action="Clear"
        dangerous
        mutation={clear}
        onClose={() => setClearing(false)}
      >
        <p>
          {history.length === 1 ? 'The prompt and its answers are' : `${history.length} prompts and their answers are`}{' '}
          deleted.
        </p>
      </Confirm>
    </Panel>
  );
}

const SHOWN = 32;

function start(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length <= SHOWN ? line : `${beginning(line, SHOWN)}…`;
}

function promptOf({ mode, a, b, task, index }: Form): string {
  return mode === 'texts' ? `${start(a)} / ${start(b)}` : `${task}, record ${index + 1}`;
}

function settingsOf({ mode, words, temperature, samples }: Form): string {
  return [
    ...(mode === 'record' ? [] : [words === null ? 'all words' : counted(words, 'word')]),
    temperature === 0 ? 'greedy' : `temperature ${temperature}`,
    ...(temperature > 0 && samples > 1 ? [`${samples} samples`] : []),
  ].join(', ');
}
