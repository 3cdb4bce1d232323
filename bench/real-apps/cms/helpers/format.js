exports.formatPrice = function formatPrice(amount, currency = 'EUR') {
  return amount.toLocaleString('de-DE', { style: 'currency', currency });
};
