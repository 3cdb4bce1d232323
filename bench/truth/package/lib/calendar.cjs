// @ts-nocheck: an application as there are many.
const moment = require('moment');
const { DateTime } = require('luxon');
const { addDays, format } = require('date-fns');
const dayjs = require('dayjs');
const { orders } = require('./data.cjs');

const DAY = 'YYYY-MM-DD HH:mm';

function dayLabels(list) {
  return list.map(({ placed }) => moment(placed).add(1, 'day').format(DAY));
}

function dueDates(list) {
  const due = [];
  for (const { placed } of list) {
    due.push(DateTime.fromISO(placed, { zone: 'Europe/Berlin' }).plus({ days: 14 }).toISODate());
  }
  return due;
}

const remind = (list) => {
  let text = '';
  for (const { placed } of list)
    text = format(addDays(new Date(placed), 7), 'PPPP') + text.slice(0, 99);
  return text;
};

class Week {
  get(list) {
    return list.reduce(
      (sum, { placed }) => sum + dayjs(placed).startOf('week').add(1, 'month').valueOf(),
      0,
    );
  }
}
const week = new Week();

module.exports = {
  // A callback without a name, inline in the function that a reader would name.
  moment: { change: dayLabels, size: 5000, make: orders },
  luxon: { change: dueDates, size: 2000, make: orders },
  'date-fns': { change: remind, size: 10_000, make: orders },
  dayjs: {
    change: { name: 'Week.get' },
    size: 20_000,
    make: orders,
    run: (list) => week.get(list),
  },
};
