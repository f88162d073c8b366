/** PUT a flag's variants: weights to distribute, and the same list in every environment. */
import { httpScenario } from '../lib/http-scenario.ts';
import { flagPath, flagsInTurn } from '../lib/paths.ts';

const variants = (value: string) =>
  ['red', 'green', 'blue'].map((name) => ({
    name,
    weight: 0,
    weightType: 'variable',
    stickiness: 'default',
    payload: { type: 'string', value },
    overrides: [],
  }));

export const variantsPut = httpScenario({
  name: 'variants-put',
  title: 'Replace variants',
  limit: 'group-commit',
  goalConnections: [],
  async prepare(_, load) {
    const paths = flagsInTurn(load).map((number) => `${flagPath(number)}/variants`);
    const all = (value: string) => paths.map((path) => ({ method: 'PUT', path, body: variants(value) }));
    return { requests: [...all('first'), ...all('second')] };
  },
});
