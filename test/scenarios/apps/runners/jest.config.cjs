module.exports = {
  rootDir: __dirname,
  testMatch: ['<rootDir>/jest.cjs'],
  transform: {},
  testEnvironment: 'node',
};
