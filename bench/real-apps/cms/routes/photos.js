const { Router } = require('express');
const multer = require('multer');
const { thumbnails } = require('../services/images');

const upload = multer({ storage: multer.memoryStorage() });
const router = Router();
module.exports = router;

router.post('/photos', upload.single('photo'), async (req, res, next) => {
  try {
    res.json(await thumbnails(req.file.buffer));
  } catch (error) {
    next(error);
  }
});
