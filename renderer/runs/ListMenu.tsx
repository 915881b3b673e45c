/** What the run list shows: its columns, and what it is grouped by. */
import { Button, Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import { LazyMenu } from '../components/LazyMenu.tsx';
import { defaultView, type ListView } from './remembered-view.ts';
import { type ColumnId, columns } from './run-columns.ts';
import { groupings } from './run-groups.ts';

export interface ListMenuProps {
  readonly view: ListView;
  readonly onChange: (change: Partial<ListView>) => void;
}

export function ListMenu({ view, onChange }: ListMenuProps) {
  const toggle = (id: ColumnId): void =>
    onChange({
      columns: columns
        .map((column) => column.id)
        .filter((known) => (known === id ? !view.columns.includes(id) : view.columns.includes(known))),
    });
  return (
    <LazyMenu trigger={<Button variant="default">View</Button>}>
      {() => (
        <>
          <Part label="Group by">
            {groupings.map((by) => (
              <Menu.RadioItem
                key={by}
                value={by}
                checked={view.groupBy === by}
                onChange={() => onChange({ groupBy: by })}
              >
                {by}
              </Menu.RadioItem>
            ))}
          </Part>
          <Part label="Columns">
            {columns
              .filter(({ id }) => id !== 'name')
              .map(({ id, header }) => (
                <Menu.CheckboxItem key={id} checked={view.columns.includes(id)} onChange={() => toggle(id)}>
                  {header}
                </Menu.CheckboxItem>
              ))}
          </Part>
          <Menu.Divider />
          <Menu.Item onClick={() => onChange(defaultView)}>Reset</Menu.Item>
        </>
      )}
    </LazyMenu>
  );
}

interface PartProps {
  readonly label: string;
  readonly children: ReactNode;
}

function Part({ label, children }: PartProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div role="group" aria-label={label}>
      <Menu.Label>{label}</Menu.Label>
      {children}
    </div>
  );
}
