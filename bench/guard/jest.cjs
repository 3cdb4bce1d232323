require('./cases.cjs').define(test);
