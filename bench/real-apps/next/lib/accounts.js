import bcrypt from 'bcryptjs';

const hash = bcrypt.hashSync('secret', 4).replace('$04$', '$10$');

export function checkPassword(password) {
  return bcrypt.compareSync(password, hash);
}
