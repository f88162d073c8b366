/**
 * Importing this file is enough: every answer that the tests of a file see is held against the OpenAPI document, and
 * the end says how many there were.
 */
import { after } from 'node:test';
import { AnswerChecker } from './answer-checker.ts';
import { observeAnswers } from './server.ts';

const checker = new AnswerChecker();
observeAnswers((method, path, answer) => checker.check(method, path, answer));
after(() => console.log(checker.summary));
