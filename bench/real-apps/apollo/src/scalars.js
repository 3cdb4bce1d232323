const { format, formatDistance, parseISO } = require('date-fns');
const { GraphQLScalarType } = require('graphql');

const NOW = new Date('2026-01-01T00:00:00Z');

exports.DateScalar = new GraphQLScalarType({
  name: 'Date',
  serialize(value) {
    return `${format(value, "EEEE, do MMMM yyyy 'at' HH:mm")} (${formatDistance(value, NOW, { addSuffix: true })})`;
  },
  parseValue: parseISO,
});
