import { receivedAt } from '../../src/stalls/request-start.ts';

const TIME = 1_795_346_534_123;
const NAME = 'http.request.header.x_request_start';

test.each([
  ['nginx', `t=${TIME / 1000}`],
  ['seconds', String(TIME / 1000)],
  ['Heroku', String(TIME)],
  ['HAProxy', `t=${TIME}000`],
])('as %s has it: %s', (_who, text) => {
  expect(receivedAt({ [NAME]: [text] })).toBeCloseTo(TIME, 3);
  expect(receivedAt({ [NAME]: text })).toBeCloseTo(TIME, 3);
  expect(receivedAt({ 'http.request.header.x-request-start': [text] })).toBeCloseTo(TIME, 3);
});

test.each([[''], ['yesterday'], ['t='], ['12'], ['-1'], ['Infinity']])('not a time: %s', (text) => {
  expect(receivedAt({ [NAME]: [text] })).toBeUndefined();
});

test('no header', () => {
  expect(receivedAt({})).toBeUndefined();
  expect(receivedAt(undefined)).toBeUndefined();
});
