import { defineConfig } from '@adonisjs/core/bodyparser';

export default defineConfig({
  json: { limit: '20mb', types: ['application/json'] },
  form: { types: [] },
  multipart: { types: [] },
});
