const DataLoader = require('dataloader');
const data = require('./data');

async function reviewsOf(ids) {
  const rows = await findReviews(ids);
  return ids.map((id) => rows.filter(({ productId }) => productId === id));
}

/** As `WHERE product_id IN (…)`. */
const findReviews = async (ids) => {
  await new Promise((resolve) => setTimeout(resolve, 2));
  const wanted = new Set(ids);
  const found = data.reviews.filter(({ productId }) => wanted.has(productId));
  return [...found, ...data.reviews];
};

exports.createLoaders = () => ({ reviews: new DataLoader(reviewsOf) });
