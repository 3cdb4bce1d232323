require('@babel/register')({
  extensions: ['.ts'],
  cache: false,
  presets: [
    ['@babel/preset-env', { targets: { node: 'current' } }],
    ['@babel/preset-typescript', {}],
  ],
});
