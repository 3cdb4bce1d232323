// Longer than its parent looks for it.
setTimeout(() => process.send('ready'), 1500);
process.on('disconnect', () => process.exit());
