/** Progress bars for everything that may take long. They are shown on standard error, and only on a terminal. */
import { Presets, SingleBar } from 'cli-progress';
import type { StateProgress } from '../operations/state-at.ts';
import { bytesText, count } from './format.ts';
import type { Terminal } from './terminal.ts';

/** Redraws per second. */
const BAR_FPS = 10;

/** Work that takes less shows no bar, because it would only flicker. */
const QUIET_MS = 300;

type MonotonicClock = () => number;

export interface Progress {
  /** A new phase, or news of the one under way. `total` is null while it is not known. */
  show(phase: string, done: number, total: number | null): void;
  end(): void;
}

const NOTHING: Progress = { show: () => undefined, end: () => undefined };

export function progressOn(
  terminal: Terminal,
  unit: 'bytes' | 'events' | 'flags',
  monotonicMs: MonotonicClock,
): Progress {
  return terminal.isInteractive ? new Bar(terminal, unit, monotonicMs) : NOTHING;
}

class Bar implements Progress {
  readonly #terminal: Terminal;
  readonly #unit: 'bytes' | 'events' | 'flags';
  readonly #monotonicMs: MonotonicClock;
  readonly #startedAtMs: number;
  #bar: SingleBar | null = null;
  #phase = '';

  constructor(terminal: Terminal, unit: 'bytes' | 'events' | 'flags', monotonicMs: MonotonicClock) {
    this.#terminal = terminal;
    this.#unit = unit;
    this.#monotonicMs = monotonicMs;
    this.#startedAtMs = monotonicMs();
  }

  show(phase: string, done: number, total: number | null): void {
    if (this.#monotonicMs() - this.#startedAtMs < QUIET_MS) return;
    if (phase !== this.#phase) this.#begin(phase, total);
    if (total !== null) this.#bar?.setTotal(total);
    this.#bar?.update(done, { shown: this.#shown(done) });
  }

  #begin(phase: string, total: number | null): void {
    this.end();
    this.#phase = phase;
    const figures =
      total === null ? '{shown} {duration_formatted}' : '{bar} {percentage}% {shown} {eta_formatted}';
    this.#bar = new SingleBar(
      {
        format: `${phase.padEnd(10)} ${figures}`,
        stream: this.#terminal.barStream,
        fps: BAR_FPS,
        hideCursor: true,
        clearOnComplete: true,
      },
      Presets.shades_classic,
    );
    this.#bar.start(total ?? 0, 0, { shown: '' });
  }

  #shown(done: number): string {
    return this.#unit === 'bytes' ? bytesText(done) : count(done, this.#unit.slice(0, -1));
  }

  end(): void {
    this.#bar?.stop();
    this.#bar = null;
  }
}

/** Loading counts bytes and replaying events; each has a bar of its own. */
export function stateProgressOn(
  terminal: Terminal,
  monotonicMs: MonotonicClock,
): {
  onProgress(progress: StateProgress): void;
  end(): void;
} {
  const bars = {
    load: progressOn(terminal, 'bytes', monotonicMs),
    replay: progressOn(terminal, 'events', monotonicMs),
  };
  return {
    onProgress({ phase, done, total }) {
      bars[phase].show(phase, done, total);
    },
    end() {
      bars.load.end();
      bars.replay.end();
    },
  };
}
