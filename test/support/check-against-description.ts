/**
 * Importing this file is enough: every response that the tests of a file see is held against the OpenAPI document, and
 * the end says how many there were.
 */
import { after } from 'node:test';
import { ResponseChecker } from './response-checker.ts';
import { observeResponses } from './server.ts';

const checker = new ResponseChecker();
observeResponses((method, path, response) => checker.check(method, path, response));
after(() => console.log(checker.summary));
