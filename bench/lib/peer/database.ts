/** A database that makes one small change durable for each request, measured by the load generator that comes with it. */
export interface Database {
  /** The request. */
  readonly change: string;
  /** Changes a second. */
  measure(load: DatabaseLoad): Promise<number>;
  stop(): Promise<void>;
}

export interface DatabaseLoad {
  readonly connections: number;
  /** Null: a fixed number of requests instead, for tests. */
  readonly seconds: number | null;
}

export interface Engine {
  readonly name: string;
  /** By its default settings. */
  readonly connectionsMax: number;
  /** Null where it is not installed. */
  version(): string | null;
  /** `keys`: how many values it holds, of which each request changes one. */
  start(parentFolder: string, keys: number): Promise<Database>;
}
