const { visit } = require('graphql');

/** Every field is worth what the fields before it are. */
exports.costOf = function costOf(document) {
  let cost = 0;
  visit(document, {
    Field() {
      visit(document, {
        Field() {
          cost += 1;
        },
      });
    },
  });
  return cost;
};
