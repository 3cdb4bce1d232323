/** Function names are kept, or what is told would be one letter. */
export default {
  experimental: { serverMinification: false },
  turbopack: { root: `${import.meta.dirname}/..` },
};
