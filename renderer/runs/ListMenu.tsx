/** What the run list shows: its columns, and what it is grouped by. */
import { Button, Checkbox, Menu } from '@mantine/core';
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
          <Menu.Label>Group by</Menu.Label>
          {groupings.map((by) => (
            <Menu.Item
              key={by}
              role="menuitemradio"
              aria-checked={view.groupBy === by}
              closeMenuOnClick={false}
              leftSection={<Checkbox.Indicator radius="xl" size="xs" checked={view.groupBy === by} />}
              onClick={() => onChange({ groupBy: by })}
            >
              {by}
            </Menu.Item>
          ))}
          <Menu.Label>Columns</Menu.Label>
          {columns
            .filter(({ id }) => id !== 'name')
            .map(({ id, header }) => (
              <Menu.Item
                key={id}
                role="menuitemcheckbox"
                aria-checked={view.columns.includes(id)}
                closeMenuOnClick={false}
                leftSection={<Checkbox.Indicator size="xs" checked={view.columns.includes(id)} />}
                onClick={() => toggle(id)}
              >
                {header}
              </Menu.Item>
            ))}
          <Menu.Divider />
          <Menu.Item onClick={() => onChange(defaultView)}>Reset</Menu.Item>
        </>
      )}
    </LazyMenu>
  );
}
