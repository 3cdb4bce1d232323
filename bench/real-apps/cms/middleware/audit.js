const { createHash } = require('node:crypto');

/** Writes down who changed what, once the answer is out. */
exports.audit = (req, res, next) => {
  res.on('finish', () => {
    const words = req.body.markdown.split(/\s+/);
    let chain = '';
    for (const word of words.slice(0, 40000))
      chain = createHash('sha256').update(chain).update(word).digest('hex');
    app.last = chain;
  });
  next();
};

const app = { last: '' };
