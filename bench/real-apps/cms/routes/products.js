const { Router } = require('express');
const { products } = require('../services/products');

const router = Router();
module.exports = router;

router.get('/products', (req, res) => {
  res.render('products', { products: products.slice(0, 2500) });
});
router.get('/related', (req, res) => {
  res.render('related', { products: products.slice(0, 1000), all: products });
});
