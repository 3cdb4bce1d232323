const express = require('express');
const compression = require('compression');
const morgan = require('morgan');
const { formatPrice } = require('./helpers/format');
const { audit } = require('./middleware/audit');
const articles = require('./services/articles');
const searchIndex = require('./services/search-index');
const { extractLinks, summarize } = require('./services/scraper');

const app = express();
app.set('views', `${__dirname}/views`);
app.set('view engine', 'ejs');
app.engine('pug', require('pug').__express);
app.locals.formatPrice = formatPrice;
app.use(morgan('tiny', { skip: (req, res) => res.statusCode < 400 }));
app.use(compression());
app.use(express.json({ limit: '20mb' }));
app.use(express.text({ type: 'text/html', limit: '20mb' }));

app.get('/health', (req, res) => res.send('ok'));
app.use(require('./routes/products'));
app.use(require('./routes/orders'));
app.use(require('./routes/photos'));

app.post('/articles', (req, res) => {
  res.json({ html: articles.render(req.body.markdown) });
});
app.post('/links', (req, res) => res.json(extractLinks(req.body)));
app.post('/summary', (req, res) => res.json(summarize(req.body)));
app.post('/reindex', (req, res) => {
  searchIndex.rebuild();
  res.status(202).json({ started: true });
});
app.post('/audited', audit, (req, res) => res.json({ length: req.body.markdown.length }));

const server = app.listen(process.env.PORT, process.env.HOST);
process.on('SIGTERM', () => {
  server.close(() => {
    console.log('closed');
    process.exit(0);
  });
  server.closeAllConnections();
});
