module.exports = {
  rootDir: __dirname,
  testMatch: ['<rootDir>/jest.cjs', '<rootDir>/jest-left.cjs'],
  transform: {},
  testEnvironment: 'node',
};
