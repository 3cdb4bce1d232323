const MASKED = /\b[\w.+-]+@[\w-]+\.\w+\b|\+\d[\d ]{6,}\d/g;

/** Nobody but the owner sees addresses and numbers. */
exports.maskPlugin = () => ({
  async requestDidStart() {
    return {
      async willSendResponse({ response, contextValue }) {
        if (contextValue.isOwner || response.body.kind !== 'single') return;
        const { singleResult } = response.body;
        singleResult.data = mask(singleResult.data);
      },
    };
  },
});

function mask(value) {
  if (typeof value === 'string') return value.replace(MASKED, '***');
  if (Array.isArray(value)) return value.map(mask);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mask(inner)]));
}
