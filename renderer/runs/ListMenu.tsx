/** What the run list shows: its columns, and what it is grouped by. */
import { Button, Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import { LazyMenu } from '../components/LazyMenu.tsx';
import { defaultView, type ListView } from './remembered-view.ts';
import { type ColumnId, columns } from './run-columns.ts';
import { groupings } from './run-groups.ts';

export interface ListMenuProps {
  readonly view: ListView;
  /** The columns that the list shows. */
  readonly shown: readonly ColumnId[];
  readonly onChange: (change: Partial<ListView>) => void;
}

export function ListMenu({ view, shown, onChange }: ListMenuProps) {
  const toggle = (id: ColumnId): void =>
    onChange({
      columns: columns.map((column) => column.id).filter((known) => shown.includes(known) !== (known === id)),
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
                <Menu.CheckboxItem key={id} checked={shown.includes(id)} onChange={() => toggle(id)}>
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
