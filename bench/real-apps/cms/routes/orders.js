const { Router } = require('express');
const { products } = require('../services/products');

const router = Router();
module.exports = router;

router.get('/orders', (req, res, next) => {
  const orders = products.map((product, i) => ({
    id: i,
    product,
    lines: Array.from({ length: 8 }, (_, n) => ({ n, text: `Line <${n}> & more` })),
  }));
  res.render('orders.pug', { orders, title: 'Orders' }, (error, html) => {
    if (error) return next(error);
    res.send(html);
  });
});
