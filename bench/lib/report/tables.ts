/** How each table is shown: its columns, their units and what they mean. One description for terminal and page. */
import type { TableName } from '../measurement.ts';

export type Format = 'count' | 'rate' | 'ms' | 'percent' | 'ratio' | 'bytes' | 'us' | 'ns';

export interface Column {
  readonly key: string;
  readonly title: string;
  readonly format: Format;
}

export interface TableView {
  readonly name: TableName;
  readonly title: string;
  /** The note that a reader needs to read it. */
  readonly note: string;
  /** Title of the column that names the row, and of the axis, if there is one. */
  readonly what: string;
  readonly at: string | null;
  readonly columns: readonly Column[];
}

const column = (key: string, title: string, format: Format): Column => ({ key, title, format });

/** A ratio of throughput with and without something else. */
const BESIDE_WITHOUT: readonly Column[] = [
  column('perSecond', 'requests/s', 'rate'),
  column('withoutPerSecond', 'without', 'rate'),
  column('share', 'share', 'percent'),
];

export const TABLE_VIEWS: readonly TableView[] = [
  {
    name: 'http',
    title: 'Throughput over HTTP',
    note: 'Closed loop: each connection sends its next request when it has the response to the last one. For writes, the limit also appends 300 bytes and syncs them before it responds, many at once.',
    what: 'operation',
    at: 'connections',
    columns: [
      column('perSecond', 'requests/s', 'rate'),
      column('theirs', 'limit/s', 'rate'),
      column('share', 'share', 'percent'),
      column('p50', 'p50', 'ms'),
      column('theirP50', 'limit p50', 'ms'),
      column('p99', 'p99', 'ms'),
    ],
  },
  {
    name: 'latency',
    title: 'Latency at a fixed rate',
    note: 'Open loop, without coordinated omission: requests are due at fixed times, from which latencies count. 64 connections (8 for text search), the rate 30 % of the throughput at saturation and at most 10,000/s.',
    what: 'operation',
    at: null,
    columns: [
      column('perSecond', 'rate/s', 'rate'),
      column('p50', 'p50', 'ms'),
      column('p99', 'p99', 'ms'),
      column('p999', 'p99.9', 'ms'),
      column('limitP50', 'limit p50', 'ms'),
      column('limitP99', 'limit p99', 'ms'),
      column('limitP999', 'limit p99.9', 'ms'),
    ],
  },
  {
    name: 'alone',
    title: 'One client alone',
    note: 'The median of a durable switch, with one connection, beside one write and fdatasync of as many bytes as its frame takes.',
    what: 'operation',
    at: null,
    columns: [
      column('toggleMs', 'p50', 'ms'),
      column('syncMs', 'one sync', 'ms'),
      column('ratio', 'ratio', 'ratio'),
    ],
  },
  {
    name: 'metrics',
    title: 'What metrics cost',
    note: 'Reads of one flag on two servers, one of them with METRICS=off.',
    what: 'operation',
    at: 'connections',
    columns: BESIDE_WITHOUT,
  },
  {
    name: 'kill-switch',
    title: 'From a switch to the applications',
    note: 'From the response to a switch until the first and the last of the clients has read the event. All of them run in one process, whose own reading is in the times.',
    what: 'operation',
    at: 'streams',
    columns: [
      column('firstP50', 'first p50', 'ms'),
      column('firstP99', 'first p99', 'ms'),
      column('lastP50', 'last p50', 'ms'),
      column('lastP99', 'last p99', 'ms'),
    ],
  },
  {
    name: 'idle-streams',
    title: 'Memory of an idle stream',
    note: 'Of the server process, for each stream of the second half, after garbage collections, and for a connection that has had one response and has no stream. What the kernel keeps for a socket is in neither.',
    what: 'HTTP engine',
    at: 'streams',
    columns: [
      column('heap', 'heap', 'bytes'),
      column('rss', 'resident', 'bytes'),
      column('socketHeap', 'a socket, heap', 'bytes'),
      column('socketRss', 'a socket, resident', 'bytes'),
      column('ownHeap', "the stream's own, heap", 'bytes'),
      column('ownRss', "the stream's own, resident", 'bytes'),
    ],
  },
  {
    name: 'beside-streams',
    title: 'Switches beside streams',
    note: 'Durable switches at 64 connections on two servers, one with streams that hear of all of them. The clients that read the streams share the machine.',
    what: 'operation',
    at: 'streams',
    columns: BESIDE_WITHOUT,
  },
  {
    name: 'first-attempt',
    title: 'From a change to integrations',
    note: 'From the request for a switch until its delivery arrives, one change at a time.',
    what: 'operation',
    at: 'integrations',
    columns: [column('p50', 'p50', 'ms'), column('p99', 'p99', 'ms')],
  },
  {
    name: 'beside-integrations',
    title: 'Switches beside integrations',
    note: 'Durable switches at 64 connections on two servers, one with integrations that want all of them: half deliver, a quarter have receivers that refuse connections, a quarter ones that never respond. The receivers share the machine.',
    what: 'operation',
    at: 'integrations',
    columns: [
      ...BESIDE_WITHOUT,
      column('micros', 'main thread', 'us'),
      column('withoutMicros', 'without', 'us'),
    ],
  },
  {
    name: 'usage',
    title: 'Beside reports of applications',
    note: 'Latencies at a fixed rate on one server, with and without ten reports of 350 flags a second.',
    what: 'operation',
    at: 'reads/s',
    columns: [
      column('p50', 'p50', 'ms'),
      column('aloneP50', 'alone', 'ms'),
      column('p99', 'p99', 'ms'),
      column('aloneP99', 'alone', 'ms'),
      column('ratio', 'ratio of p99', 'ratio'),
    ],
  },
  {
    name: 'sdk-reads',
    title: 'Reads by SDKs',
    note: 'Processor time of all threads of the server for one request, at 64 connections, which depends less than throughput on what else the machine does. /api/frontend is asked for 1,000 users in turn, whose responses are cached after the first time, and for users of whom none comes twice; its limit sends the response of the first of them.',
    what: 'operation',
    at: 'flags',
    columns: [
      column('micros', 'processor time', 'us'),
      column('limitMicros', 'of the limit', 'us'),
      column('share', 'share', 'percent'),
      column('perCpuSecond', 'requests per CPU second', 'rate'),
    ],
  },
  {
    name: 'one-core',
    title: 'On one processor',
    note: 'The server, and the limit, are held to one processor with all their threads; the clients take the others.',
    what: 'operation',
    at: 'connections',
    columns: [
      column('perSecond', 'requests/s', 'rate'),
      column('theirs', 'limit/s', 'rate'),
      column('share', 'share', 'percent'),
      column('p50', 'p50', 'ms'),
      column('theirP50', 'limit p50', 'ms'),
    ],
  },
  {
    name: 'peer',
    title: 'Beside another server',
    note: 'One process each, filled with the same flags over HTTP, and sent the same requests while the other one idles. The other server, which the last section names, has its default settings, but no limits of rates; so has its database, which syncs each change as this server does. The ratio is ours to theirs.',
    what: 'operation',
    at: 'connections',
    columns: [
      column('perSecond', 'requests/s', 'rate'),
      column('theirs', 'theirs/s', 'rate'),
      column('share', 'ratio', 'ratio'),
      column('p50', 'p50', 'ms'),
      column('theirP50', 'their p50', 'ms'),
    ],
  },
  {
    name: 'databases',
    title: 'Beside engines that sync each change',
    note: 'Durable switches of flags beside the smallest durable change of an engine that everybody knows, on the same disk, in turn: each by the load generator that comes with it, over its own protocol. Both keep as many keys as there are flags, and do nothing else. The ratio is ours to theirs.',
    what: 'engine',
    at: 'connections',
    columns: [
      column('perSecond', 'switches/s', 'rate'),
      column('theirs', 'its changes/s', 'rate'),
      column('share', 'ratio', 'ratio'),
    ],
  },
  {
    name: 'cluster',
    title: 'A cluster beside one node',
    note: 'Three nodes on three NATS servers, which write to the disk before they acknowledge, beside one node without replication. All processes share the machine, so throughput says what is left for the leader; the processor time of a request, of the process that was asked and of all the others together, says what it costs.',
    what: 'operation',
    at: 'at once',
    columns: [
      column('perSecond', 'requests/s', 'rate'),
      column('theirs', 'one node/s', 'rate'),
      column('share', 'share', 'percent'),
      column('p50', 'p50', 'ms'),
      column('theirP50', 'one node p50', 'ms'),
      column('micros', 'processor time', 'us'),
      column('theirMicros', 'of one node', 'us'),
      column('otherMicros', 'of all others', 'us'),
    ],
  },
  {
    name: 'cluster-log',
    title: 'The log of that cluster',
    note: 'Records that the log took meanwhile, and the changes in each. The log alone: records of 200 bytes published to a stream with three replicas.',
    what: 'operation',
    at: 'at once',
    columns: [
      column('perSecond', 'records/s', 'rate'),
      column('changes', 'changes/record', 'count'),
      column('p50', 'p50', 'ms'),
    ],
  },
  {
    name: 'cost',
    title: 'What a request costs',
    note: "Processor time of the main thread for each request at 64 connections, the kernel's part included; functions of `src` that a request calls and the files that they are in, 16 requests at once, without the encoder of MessagePack.",
    what: 'operation',
    at: null,
    columns: [
      column('micros', 'main thread', 'us'),
      column('calls', 'calls', 'count'),
      column('files', 'files', 'count'),
    ],
  },
  {
    name: 'micro',
    title: 'The parts by themselves',
    note: 'One after the other in one process, by tinybench.',
    what: 'what',
    at: null,
    columns: [column('p50', 'p50', 'ns'), column('mean', 'mean', 'ns'), column('p99', 'p99', 'ns')],
  },
  {
    name: 'flags',
    title: 'More flags in one project',
    note: 'Each flag has two strategies. Throughput at 64 connections; the ratio is to a server with the fewest flags. The start is from a snapshot; the heap is that after a collection. The overview is timed by one client until its last byte, and compressed by gzip above 50,000 flags. A snapshot is begun together with one second of switches at 64 connections: share of their throughput without it, and the longest stall of the event loop with and without. The last column is the longest stall by any read of the administrative interface, each asked alone.',
    what: 'where',
    at: 'flags',
    columns: [
      column('readPerSecond', 'read/s', 'rate'),
      column('readRatio', 'ratio', 'percent'),
      column('togglePerSecond', 'switch/s', 'rate'),
      column('toggleRatio', 'ratio', 'percent'),
      column('createPerSecond', 'create/s', 'rate'),
      column('createRatio', 'ratio', 'percent'),
      column('patchPerSecond', 'patch/s', 'rate'),
      column('patchRatio', 'ratio', 'percent'),
      column('startMs', 'start', 'ms'),
      column('heap', 'heap', 'bytes'),
      column('overviewKeptMs', 'overview', 'ms'),
      column('overviewChangedMs', 'after a change', 'ms'),
      column('snapshotMs', 'snapshot', 'ms'),
      column('snapshotShare', 'throughput beside it', 'percent'),
      column('snapshotStallMs', 'stall', 'ms'),
      column('quietStallMs', 'stall without', 'ms'),
      column('readStallMs', 'stall of a read', 'ms'),
    ],
  },
  {
    name: 'holds',
    title: 'Longest hold of the event loop by one request',
    note: 'The reads of the administrative interface that hold longest, each asked right after a switch, with the parameters of a flag that is there. Of several requests the least counts: other work on the machine can only make it longer.',
    what: 'route',
    at: 'flags',
    columns: [column('holdMs', 'longest hold', 'ms')],
  },
  {
    name: 'projects',
    title: 'More projects',
    note: 'The same flags in more projects. Throughput at 64 connections that go round the projects; the ratio is to a server with one project.',
    what: 'what',
    at: 'projects',
    columns: [
      column('readPerSecond', 'read/s', 'rate'),
      column('readRatio', 'ratio', 'percent'),
      column('togglePerSecond', 'switch/s', 'rate'),
      column('toggleRatio', 'ratio', 'percent'),
      column('startMs', 'start', 'ms'),
      column('heap', 'heap', 'bytes'),
    ],
  },
  {
    name: 'events',
    title: 'More events',
    note: 'Switches of the same flags. Searches are timed by one client; 64 ask for the newest 10 of a type. Reads of a flag run at 2,000/s (open loop) while texts are searched without a pause. Start from a snapshot, and by replay of all events.',
    what: 'what',
    at: 'events',
    columns: [
      column('filterMs', 'by filter', 'ms'),
      column('newestPerSecond', 'newest of a type/s', 'rate'),
      column('newestPerCpuSecond', 'per CPU second', 'rate'),
      column('newestP99', 'p99', 'ms'),
      column('textMs', 'by text', 'ms'),
      column('readBesideTextP50', 'reads beside it p50', 'ms'),
      column('readBesideTextP99', 'p99', 'ms'),
      column('startMs', 'start', 'ms'),
      column('replayMs', 'start by replay', 'ms'),
      column('replayPerSecond', 'events/s', 'rate'),
      column('heap', 'heap', 'bytes'),
      column('rss', 'resident', 'bytes'),
    ],
  },
  {
    name: 'console',
    title: 'The list of flags in a browser',
    note: "The console's list of one project in Chromium, beside the server: from the last byte of the data until rows are painted, and from a key in the search until what is left is painted; medians and 90th percentiles over five loads of the page and 55 keys. Slowed down: with a processor four times slower, a key until the list follows it, and until it is painted in its field (INP; the 98th percentile), and a press on a switch until it has moved; the first visit, to a project of 50 flags, without a cache, by a line of 150 ms and 1.6 Mbit/s besides, until the largest part is painted (LCP).",
    what: 'where',
    at: 'flags',
    columns: [
      column('listMs', 'list shown', 'ms'),
      column('slowListMs', 'p90', 'ms'),
      column('keyMs', 'a key in the search', 'ms'),
      column('slowKeyMs', 'p90', 'ms'),
      column('slowedKeyMs', 'a key, slowed down', 'ms'),
      column('slowedSlowKeyMs', 'p90', 'ms'),
      column('slowedEchoMs', 'seen in its field, p98', 'ms'),
      column('slowedSwitchMs', 'a switch, slowed down', 'ms'),
      column('visitMs', 'first visit', 'ms'),
    ],
  },
];

export function formatted(value: number | undefined, format: Format): string {
  if (value === undefined) return '–';
  switch (format) {
    case 'count':
    case 'rate':
      return Math.round(value).toLocaleString('en');
    case 'ms':
      return `${significant(value)} ms`;
    case 'us':
      return `${significant(value)} µs`;
    case 'ns':
      return value >= 1e6
        ? `${significant(value / 1e6)} ms`
        : value >= 1000
          ? `${significant(value / 1000)} µs`
          : `${Math.round(value)} ns`;
    case 'percent':
      return `${Math.round(value * 100)} %`;
    case 'ratio':
      return `${significant(value)} ×`;
    case 'bytes':
      return value >= 2 ** 20
        ? `${significant(value / 2 ** 20)} MiB`
        : value >= 1024
          ? `${significant(value / 1024)} KiB`
          : `${Math.round(value)} B`;
  }
}

function significant(value: number): string {
  return value >= 100
    ? Math.round(value).toLocaleString('en')
    : value >= 10
      ? value.toFixed(1)
      : value.toFixed(2);
}
