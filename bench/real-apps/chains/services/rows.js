import asyncLib from 'async';
import fastq from 'fastq';
import pLimit from 'p-limit';
import pMap from 'p-map';
import PQueue from 'p-queue';

const rows = Array.from({ length: 20000 }, (_, id) => ({ id, name: ` Row ${id} `, price: id }));
const toRecord = async ({ id, name, price }) => ({ id, name: name.trim(), cents: price * 100 });

export async function importLimited() {
  const limit = pLimit(5);
  const records = await Promise.all(rows.map((row) => limit(toRecord, row)));
  return records.length;
}

export async function importInBatches() {
  const records = await pMap(rows, toRecord, { concurrency: 10 });
  const again = await pMap(records, async (record) => record.cents, { concurrency: 10 });
  return again.length;
}

export async function importQueued() {
  const queue = new PQueue({ concurrency: 5 });
  const records = await queue.addAll(rows.map((row) => () => toRecord(row)));
  return records.length;
}

export async function importInOrder() {
  const worker = fastq.promise(toRecord, 4);
  const records = await Promise.all(rows.map((row) => worker.push(row)));
  const ids = await asyncLib.mapLimit(records, 5, async ({ id }) => id);
  return ids.length;
}
