/** A thread of a bare limit server: connections are handed to it, as to an HTTP worker. */
import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { loadUws } from '../../../src/http/transport/uws/uws-module.ts';
import { type BareResponse, responderOf, serveBare } from './bare-app.ts';

assert(parentPort !== null, 'runs as a worker thread only');
const uws = await loadUws();
const app = uws.App();
serveBare(app, responderOf(workerData as BareResponse));
// Without it, the thread would end: the library does not hold it for an app that listens on nothing.
parentPort.on('message', () => undefined);
parentPort.postMessage((app as unknown as { getDescriptor(): number }).getDescriptor());
