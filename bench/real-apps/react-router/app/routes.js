import { index, route } from '@react-router/dev/routes';

export default [
  index('routes/home.jsx'),
  route('health', 'routes/health.js'),
  route('articles/:id', 'routes/article.jsx'),
  route('orders', 'routes/orders.jsx'),
  route('graph', 'routes/graph.jsx'),
  route('calendar', 'routes/calendar.jsx'),
  route('import', 'routes/import.js'),
  route('report', 'routes/report.js'),
  route('feed', 'routes/feed.js'),
];
