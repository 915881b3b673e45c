/** The frame of the three tabs: texts, making datasets, datasets. */
import type { ReactNode } from 'react';
import { Screen } from '../components/Screen.tsx';
import { ScreenTabs } from '../components/ScreenTabs.tsx';
import classes from './Texts.module.css';

const views = [
  { path: '/texts', label: 'Texts' },
  { path: '/texts/make', label: 'Make datasets' },
  { path: '/texts/datasets', label: 'Datasets' },
] as const;

export interface TextsScreenProps {
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function TextsScreen({ about, actions, children }: TextsScreenProps) {
  const tabs = (
    <>
      <ScreenTabs label="Texts and datasets" views={views} />
      {about}
    </>
  );
  return (
    <Screen title="Texts & datasets" about={tabs} actions={actions}>
      <div className={classes.body}>{children}</div>
    </Screen>
  );
}
