import { defineConfig } from '@adonisjs/core/app';

export default defineConfig({
  providers: [
    () => import('@adonisjs/core/providers/app_provider'),
    () => import('@adonisjs/core/providers/hash_provider'),
    () => import('@adonisjs/core/providers/edge_provider'),
    () => import('@adonisjs/core/providers/vinejs_provider'),
    () => import('@adonisjs/lucid/database_provider'),
  ],
  preloads: [
    () => import('#start/kernel'),
    () => import('#start/routes'),
    () => import('#start/events'),
    () => import('#start/fill'),
  ],
  directories: { views: '../resources/views' },
});
