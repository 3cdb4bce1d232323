module.exports = {
  rootDir: __dirname,
  testMatch: ['<rootDir>/jest.cjs'],
  transform: {},
  testEnvironment: 'node',
  testTimeout: 120_000,
};
