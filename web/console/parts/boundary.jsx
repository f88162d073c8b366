/** Keeps a fault of one view from taking the whole page with it. */
import { Component } from 'preact';
import { messageOf } from '../client.js';
import { Button } from './button.jsx';

/** @import { ComponentChildren } from 'preact' */

/** `at`: the address; another one may do better. @extends {Component<{ at: string, children: ComponentChildren }, { error: unknown }>} */
export class Boundary extends Component {
  /** @override */
  state = { error: /** @type {unknown} */ (null) };

  /** @override @param {unknown} error */
  static getDerivedStateFromError(error) {
    return { error };
  }

  /** @override @param {{ at: string }} before */
  componentDidUpdate({ at }) {
    if (at !== this.props.at && this.state.error !== null) this.setState({ error: null });
  }

  /** @override */
  render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <div class="empty" role="alert">
        <p class="empty-title">This page could not be displayed</p>
        <p>{messageOf(error)}</p>
        <p>Nothing was changed. Try another page, or remove everything after “?” from the address.</p>
        <Button act={() => this.setState({ error: null })}>Try again</Button>
      </div>
    );
  }
}
