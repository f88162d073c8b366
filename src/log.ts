/** The log: JSON lines in production, readable lines on a terminal. Never a body, never a secret. */
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import type { LogLevel } from './config.ts';

export type Log = Logger;

export function createLog(level: LogLevel): Log {
  if (!process.stdout.isTTY) return pino({ level, base: null });
  // In this thread: lines written right before the process ends must not be lost with a worker.
  return pino({ level, base: null }, pretty({ colorize: true, translateTime: 'SYS:HH:MM:ss.l', sync: true }));
}
