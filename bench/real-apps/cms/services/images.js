const { Jimp } = require('jimp');

const WIDTHS = [640, 320, 160];

exports.thumbnails = async function thumbnails(buffer) {
  const image = await Jimp.read(buffer);
  const made = [];
  for (const w of WIDTHS) {
    const small = image.clone().resize({ w }).blur(2);
    const file = await small.getBuffer('image/jpeg', { quality: 80 });
    made.push({ width: w, bytes: file.length });
  }
  return made;
};
