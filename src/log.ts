/** The log: JSON lines, or readable lines on a terminal. It never contains bodies or secrets. */
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import type { LogLevel } from './config.ts';

export type Log = Logger;

export function createLog(level: LogLevel): Log {
  if (!process.stdout.isTTY) return pino({ level, base: null });
  // It runs in this thread, because lines written right before the process ends would be lost with a worker.
  return pino({ level, base: null }, pretty({ colorize: true, translateTime: 'SYS:HH:MM:ss.l', sync: true }));
}
