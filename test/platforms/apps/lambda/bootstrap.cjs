/** Stands in for Lambda's runtime: asks for the next invocation, and answers it, one by one. */
const { join } = require('node:path');

const api = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation`;

async function main() {
  // By its path without the extension, as Lambda's runtime loads it.
  const { handler } = require(join(process.env.LAMBDA_TASK_ROOT, 'handler.cjs'));
  for (;;) {
    const next = await fetch(`${api}/next`);
    const id = next.headers.get('lambda-runtime-aws-request-id');
    const result = await handler(await next.json(), {
      awsRequestId: id,
      functionName: 'checkout',
      invokedFunctionArn: 'arn:aws:lambda:eu-central-1:123456789012:function:checkout',
    });
    await fetch(`${api}/${id}/response`, { method: 'POST', body: JSON.stringify(result) });
  }
}
main();
