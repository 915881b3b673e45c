/** The views of a screen, beside its title; each has an address. */
import { useLocation } from 'wouter';
import { Link } from './Link.tsx';
import classes from './ScreenTabs.module.css';

export interface ScreenTabsProps {
  /** Accessible name: "Texts and datasets". */
  readonly label: string;
  readonly views: readonly { readonly path: string; readonly label: string }[];
}

export function ScreenTabs({ label, views }: ScreenTabsProps) {
  const [location] = useLocation();
  return (
    <nav className={classes.tabs} aria-label={label}>
      {views.map(({ path, label: name }) => (
        <Link key={path} href={path} aria-current={location === path ? 'page' : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  );
}
