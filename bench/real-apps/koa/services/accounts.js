import bcrypt from 'bcryptjs';

const ROUNDS = 10;

export class Accounts {
  #hashes = new Map();

  async register(people) {
    for (const { email, password } of people) {
      const hash = await bcrypt.hash(password, ROUNDS);
      this.#hashes.set(email, hash);
    }
    return this.#hashes.size;
  }

  login(email, password) {
    const hash = this.#hashes.get(email);
    return hash !== undefined && bcrypt.compareSync(password, hash);
  }
}
