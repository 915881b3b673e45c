import { Component, type ReactNode } from 'react';
import { Failed } from './Feedback.tsx';

interface State {
  readonly error: unknown;
}

/** Contains an error to one screen. React supports this in class components only. */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <Failed
        what="This screen can't be shown"
        error={this.state.error}
        onRetry={() => this.setState({ error: null })}
      />
    );
  }
}
