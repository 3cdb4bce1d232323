module.exports = {
  rootDir: __dirname,
  testMatch: ['<rootDir>/{one,two,three,four}.cjs'],
  transform: {},
  testEnvironment: 'node',
};
