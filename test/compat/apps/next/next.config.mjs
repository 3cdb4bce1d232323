/** Function names are kept, or the name reported would be one letter. */
export default {
  experimental: { serverMinification: false },
  turbopack: { root: `${import.meta.dirname}/..` },
};
