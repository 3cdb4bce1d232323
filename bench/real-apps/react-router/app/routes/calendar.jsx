import { addDays, format, getISOWeek } from 'date-fns';

const first = new Date(Date.UTC(2026, 0, 1));

function Calendar({ years }) {
  const weeks = new Map();
  for (let i = 0; i < years * 365; i++) {
    const day = addDays(first, i);
    const week = `${format(day, 'yyyy')}-${getISOWeek(day)}`;
    weeks.set(week, `${weeks.get(week) ?? ''} ${format(day, 'EEEE d MMMM')}`);
  }
  return (
    <ul>
      {[...weeks].slice(0, 50).map(([week, text]) => (
        <li key={week}>{text}</li>
      ))}
    </ul>
  );
}

export default function Page() {
  return <Calendar years={12} />;
}
