import Fuse from 'fuse.js';
import { articles } from './articles.js';

export function search(text) {
  const fuse = new Fuse(articles, { keys: ['title'], threshold: 0.4 });
  return fuse.search(text, { limit: 3 }).map(({ item }) => item.title);
}
