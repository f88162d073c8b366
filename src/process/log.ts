/** The log: JSON lines, or readable lines on a terminal. It never contains bodies or secrets. */
import { type DestinationStream, type Logger, pino } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type Log = Logger;

/** Only people read lines on a terminal, so no other start loads what makes them. */
const pretty = process.stdout.isTTY ? (await import('pino-pretty')).default : null;

/** `destination`: the standard output unless given. Times are ISO 8601 in UTC, and levels are named. */
export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (destination !== undefined) return pino(options, destination);
  if (pretty === null) return pino(options);
  // It runs in this thread, because lines written right before the process ends would be lost with a worker.
  return pino(options, pretty({ colorize: true, translateTime: 'SYS:HH:MM:ss.l', sync: true }));
}
