const moment = require('moment');

exports.openingHours = function openingHours() {
  const days = [];
  for (let i = 0; i < 2500; i++) {
    const day = moment('2026-01-01', 'YYYY-MM-DD').add(i, 'days');
    if (day.isoWeekday() < 6) days.push(day.format('dddd, MMMM Do YYYY'));
  }
  return days.length;
};
