/** What an HTTP worker is started with, and the messages beside parcels. */

import type { TransportLimits } from '../transport/transport-limits.ts';
import type { EngineDescriptor } from '../transport/uws/uws-acceptor.ts';
import type { SurfaceOutline } from './error-shapes.ts';
import type { RequestParcel, ResponseParcel } from './parcel.ts';

export interface WorkerStart {
  /** `ChangeMarks`. */
  readonly marks: SharedArrayBuffer;
  /** `WorkerFigures`. */
  readonly figures: SharedArrayBuffer;
  /** One number, which becomes 1 when the engine is closed: only then may the thread end. */
  readonly closed: SharedArrayBuffer;
  /** Of this worker: its share of those of the process. */
  readonly limits: TransportLimits;
  readonly trustedProxies: readonly string[];
  readonly basePath: string;
  /** False: the main thread sees every request, since it logs or traces each. */
  readonly keeps: boolean;
  /** Whether responses are counted and timed. */
  readonly metered: boolean;
}

export type ToWorker =
  /** The server is ready to respond, or pages of other origins may call. */
  | {
      readonly kind: 'surfaces';
      readonly surfaces: readonly SurfaceOutline[];
      readonly origins: readonly string[];
    }
  | { readonly kind: 'parcel'; readonly parcel: ResponseParcel }
  | { readonly kind: 'drain' }
  | { readonly kind: 'close' };

export type FromWorker =
  | { readonly kind: 'ready'; readonly engine: EngineDescriptor }
  | { readonly kind: 'parcel'; readonly parcel: RequestParcel }
  | {
      readonly kind: 'log';
      readonly level: 'warn' | 'error';
      readonly fields: object;
      readonly message: string;
    }
  /** It cannot go on. */
  | { readonly kind: 'fault'; readonly stack: string };
