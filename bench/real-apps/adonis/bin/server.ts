import 'reflect-metadata';
import { Ignitor } from '@adonisjs/core';

const root = new URL('../', import.meta.url);

new Ignitor(root, { importer: (path) => import(new URL(path, root).href) })
  .tap((app) => app.listen('SIGTERM', () => app.terminate()))
  .httpServer()
  .start();
