// Under node:test, as an ES module. The test that fails has to: its message is read from outside.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { INVALID_SPAN_CONTEXT, trace } from '@opentelemetry/api';
import { EventLoopInstrumentation } from 'opentelemetry-instrumentation-event-loop';
import { expectNoBlocks, recordBlocks } from 'opentelemetry-instrumentation-event-loop/testing';
import { renderAtOnce, renderInSteps } from './report.cjs';

test('records', async () => {
  const [block, ...others] = await recordBlocks(() => renderAtOnce(200));
  assert.deepEqual(others, []);
  assert.ok(block.durationMillis >= 200);
  assert.equal(block.code.functionName, 'hashRow');
  assert.equal(block.code.file, fileURLToPath(import.meta.resolve('./report.cjs')));
});

test('passes', async () => {
  assert.equal(await expectNoBlocks(() => renderInSteps(300, 20)), 'report');
});

test('fails', () => expectNoBlocks(() => renderAtOnce(200), { thresholdMillis: 50 }));

test('what the function throws is thrown', async () => {
  const lost = new Error('lost');
  const throwsAtOnce = () => {
    throw lost;
  };
  await assert.rejects(recordBlocks(throwsAtOnce), lost);
  await assert.rejects(
    expectNoBlocks(async () => throwsAtOnce()),
    lost,
  );
});

test('ignored functions, files and folders may block, others not', async () => {
  const isIgnored = async (ignore) => {
    const run = () => renderAtOnce(150);
    try {
      await expectNoBlocks(run, { ignore });
      return true;
    } catch (error) {
      assert.equal(error.name, 'EventLoopBlockedError');
      return false;
    }
  };
  for (const place of [
    'hashRow',
    'renderAtOnce',
    'report.cjs',
    'apps/runners/report.cjs',
    './runners',
  ])
    assert.equal(await isIgnored(['unknown', place]), true, place);
  for (const place of ['Row', 'port.cjs', 'renderInSteps', 'apps/report.cjs'])
    assert.equal(await isIgnored([place]), false, place);
});

test('what came before and what comes after does not count', async () => {
  renderAtOnce(150);
  const recorded = recordBlocks(() => {}, { thresholdMillis: 50 });
  assert.deepEqual(await recorded, []);
  renderAtOnce(150);
  assert.deepEqual(await recordBlocks(() => {}, { thresholdMillis: 50 }), []);
});

test('one at a time', async () => {
  const first = recordBlocks(() => renderInSteps(100, 20));
  await assert.rejects(
    recordBlocks(() => {}),
    /another recording of blocks is under way/,
  );
  assert.deepEqual(await first, []);
});

test('a bad option is named', async () => {
  await assert.rejects(
    recordBlocks(() => {}, { thresholdMillis: 0 }),
    /option thresholdMillis is 0/,
  );
  await assert.rejects(
    expectNoBlocks(() => {}, { thresholdMillis: '5' }),
    TypeError,
  );
  const wrong = [{ threshold: 5 }, { ignore: 'hashRow' }, { ignore: [/hashRow/] }];
  for (const options of wrong)
    await assert.rejects(
      expectNoBlocks(() => {}, options),
      TypeError,
    );
  await assert.rejects(
    recordBlocks(() => {}, { ignored: [] }),
    {
      name: 'TypeError',
      message: 'recordBlocks: unknown option ignored; the nearest is thresholdMillis',
    },
  );
});

test('an instrumentation of the application waits meanwhile, goes on afterwards, and gets no block', async () => {
  const blocks = [];
  const provider = {
    getTracer: () => ({
      startSpan: (...args) => blocks.push(args) && trace.wrapSpanContext(INVALID_SPAN_CONTEXT),
    }),
  };
  const ofApplication = new EventLoopInstrumentation();
  ofApplication.setTracerProvider(provider);
  await recordBlocks(() => renderAtOnce(150), { thresholdMillis: 50 });
  assert.equal(blocks.length, 0);
  await ofApplication.forceFlush();
  renderAtOnce(150);
  await ofApplication.forceFlush();
  assert.equal(blocks.length, 1);
  ofApplication.disable();
});
