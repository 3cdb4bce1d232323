const { createLoaders } = require('./loaders');

const RULES = Array.from({ length: 2500 }, (_, i) => ({
  name: `${['read', 'write', 'delete'][i % 3]}:thing-${i}`,
  pattern: `^(admin|editor-${i % 50}|viewer).*$`,
  parent: i % 3 === 0 ? undefined : `read:thing-${i - (i % 3)}`,
}));

exports.createContext = async ({ req }) => {
  const roles = (req.headers['x-roles'] ?? '').split(',').filter(Boolean);
  return {
    isOwner: req.headers.authorization !== undefined,
    permissions: resolvePermissions(roles),
    loaders: createLoaders(),
  };
};

function resolvePermissions(roles) {
  const granted = RULES.filter(
    (rule) => roles.some((role) => new RegExp(rule.pattern).test(role)) && isReachable(rule),
  );
  return granted.map(({ name }) => name);
}

const isReachable = (rule) => {
  if (rule.parent === undefined) return true;
  const parent = RULES.find(({ name }) => name.localeCompare(rule.parent) === 0);
  return parent !== undefined && isReachable(parent);
};
