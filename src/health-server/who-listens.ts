/** Who has the port that the health server is to have. */
import { get } from 'node:http';

const PATIENCE_MILLIS = 1000;
const MAX_LENGTH = 10_000;

/** For a log message. Never rejects. */
export function whoListens(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const noAnswer = () => resolve('what listens there does not answer GET /livez');
    const timeout = AbortSignal.timeout(PATIENCE_MILLIS);
    get({ host, port, path: '/livez', agent: false, signal: timeout }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('error', noAnswer);
      response.on('data', (part: string) => {
        text = (text + part).slice(0, MAX_LENGTH);
      });
      response.on('end', () => resolve(describe(response.statusCode, text)));
    }).on('error', noAnswer);
  });
}

function describe(statusCode: number | undefined, text: string): string {
  try {
    const { status, pid } = JSON.parse(text);
    if (typeof status === 'string' && Number.isInteger(pid))
      return `process ${pid}, which has this package too, answers there`;
  } catch {
    // It is not our JSON.
  }
  return `another program answers there, GET /livez with ${statusCode}: choose another port`;
}
