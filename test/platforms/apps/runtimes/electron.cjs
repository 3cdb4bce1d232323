/** The main process of an Electron application without a window. */
const { app } = require('electron');

app.whenReady().then(async () => {
  const { measure } = await import('./blocks.mjs');
  console.log(JSON.stringify(await measure()));
  app.exit(0);
});
