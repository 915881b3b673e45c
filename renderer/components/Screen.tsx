/** The building blocks of every screen: a heading with actions, and panels. */
import { type ReactNode, type Ref, useContext, useEffect } from 'react';
import { IsPrerendering } from '../frame/is-prerendering.ts';
import classes from './Screen.module.css';
import { visible } from './visible.ts';

export interface ScreenProps {
  readonly title: string;
  /** Shown beside the title: state, lineage. */
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A screen; its title is also the window's. */
export function Screen({ title, about, actions, children }: ScreenProps) {
  const isPrerendering = useContext(IsPrerendering);
  useEffect(() => {
    if (!isPrerendering) document.title = `${title} · Braid`;
  }, [title, isPrerendering]);
  return (
    <div className={classes.screen}>
      <header className={classes.header}>
        <h1>{visible(title)}</h1>
        <div className={classes.about}>{about}</div>
        <div className={classes.actions}>{actions}</div>
      </header>
      {children}
    </div>
  );
}

export interface PanelProps {
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
  /** For a panel that takes the focus when it opens. */
  readonly ref?: Ref<HTMLElement>;
}

/** A framed part of a screen. */
export function Panel({ title, actions, children, className, ref }: PanelProps) {
  return (
    <section className={`${classes.panel} ${className ?? ''}`} {...(ref !== undefined && { ref, tabIndex: -1 })}>
      {(title !== undefined || actions !== undefined) && (
        <div className={classes.panelHead}>
          <h2>{title}</h2>
          <div className={classes.actions}>{actions}</div>
        </div>
      )}
      {children}
    </section>
  );
}
