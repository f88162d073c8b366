/** A response as it was sent: `fetch` decodes bodies. */
import { request } from 'node:http';

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** GETs `url`. */
export function rawResponse(url: string, headers: Readonly<Record<string, string>>): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const { statusCode: status = 0, headers: got } = response;
        resolve({ status, headers: got, body: Buffer.concat(parts) });
      });
    });
    sent.on('error', reject).end();
  });
}
