import { defineConfig } from '@adonisjs/core/http';

export const appKey = 'a key of thirty-two characters..';
export const http = defineConfig({ cookie: {} });
