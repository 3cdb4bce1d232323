const noAlike = {
  create(context) {
    const seen = [];
    return {
      Identifier(node) {
        const text = context.sourceCode.getText(node);
        const alike = seen.filter(
          (other) =>
            other !== text && other.toLowerCase().startsWith(text.toLowerCase().slice(0, 6)),
        );
        if (alike.length > 900) context.report({ node, message: 'too many alike' });
        seen.push(text, `${text}${node.range[0]}`);
      },
    };
  },
};

export const plugin = { rules: { 'no-alike': noAlike } };
