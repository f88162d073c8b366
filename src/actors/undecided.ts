/**
 * The changes of a cluster's leader that are not decided yet. Commands are decided on the state with all of them; everybody else
 * sees the state without any, so no read waits for the replicated log, and none shows what may never have happened
 * (invariant 4). The state has them only during a turn of commands, which is one synchronous step.
 *
 * A change is made once, and recorded (domain/state/reversible.ts): to take it back and to make it again is to exchange values.
 * It is made for the last time when the log and the disk have it.
 */
import assert from 'node:assert/strict';
import { Recording, record } from '../domain/state/reversible.ts';

/** Bounds how long a turn takes to make undecided changes again; a switch has five steps. */
const STEPS_MAX = 100_000;

/** An undecided change: its last event and its time. */
interface Entry {
  readonly lastId: number;
  readonly at: number;
  readonly recording: Recording;
}

export class Undecided {
  #entries: Entry[] = [];
  #steps = 0;
  #isInTurn = false;
  #decidedAt: number;

  /** `decidedAt`: the time of the newest event; milliseconds since 1970. */
  constructor(decidedAt: number) {
    this.#decidedAt = decidedAt;
  }

  /** Whether the state is behind the journal: there are undecided changes, and they are taken back. */
  get areTakenBack(): boolean {
    return this.#entries.length > 0 && !this.#isInTurn;
  }

  /** Time of the newest decided event, while there are undecided ones. */
  get decidedAt(): number {
    return this.#decidedAt;
  }

  /** Whether another turn can wait until more is decided: what is dear to take back is taken back once. */
  get isFull(): boolean {
    return this.#steps >= STEPS_MAX || this.#entries.at(-1)?.recording.isDear === true;
  }

  /** Begins a turn: the state has all changes. */
  begin(): void {
    if (this.#isInTurn) return;
    this.#isInTurn = true;
    for (const { recording } of this.#entries) recording.redo();
  }

  /** Makes a change. `lastAt`: the time of the event before, where nothing is undecided. */
  add({ lastId, at, lastAt }: { lastId: number; at: number; lastAt: number }, make: () => void): void {
    assert(this.#isInTurn, 'a change is made on top of all others');
    assert(lastId > (this.#entries.at(-1)?.lastId ?? 0), 'changes are made in the order of their events');
    if (this.#entries.length === 0) this.#decidedAt = lastAt;
    assert(at >= (this.#entries.at(-1)?.at ?? lastAt), 'times of changes never go back');
    const recording = new Recording();
    record(recording, make);
    this.#entries.push({ lastId, at, recording });
    this.#steps += recording.steps.length;
  }

  /** Ends a turn: the state has decided changes only. */
  end(): void {
    assert(this.#isInTurn, 'a turn ends once');
    for (let at = this.#entries.length - 1; at >= 0; at -= 1) this.#entries[at]!.recording.undo();
    this.#isInTurn = false;
  }

  /** Changes up to the event `id` are decided: the state has them from now on. */
  decide(id: number): void {
    assert(!this.#isInTurn, 'nothing is decided in the middle of a turn');
    let count = 0;
    for (const { lastId, at, recording } of this.#entries) {
      if (lastId > id) break;
      recording.redo();
      this.#steps -= recording.steps.length;
      this.#decidedAt = at;
      count += 1;
    }
    this.#entries.splice(0, count);
    assert(this.#steps >= 0, 'a change that is decided had its steps counted');
    assert(
      this.#entries.length > 0 || this.#steps === 0,
      'without undecided changes nothing is to be taken back',
    );
  }
}
