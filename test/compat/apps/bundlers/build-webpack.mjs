import { promisify } from 'node:util';
import TerserPlugin from 'terser-webpack-plugin';
import webpack from 'webpack';

const compiler = webpack({
  mode: 'production',
  target: 'node20',
  entry: './service.cjs',
  output: {
    path: `${import.meta.dirname}/out`,
    filename: 'webpack.cjs',
    // or the sources are `webpack:///…`
    devtoolModuleFilenameTemplate: '[absolute-resource-path]',
  },
  devtool: 'source-map',
  optimization: { minimizer: [new TerserPlugin({ terserOptions: { keep_fnames: true } })] },
});
const stats = await promisify(compiler.run.bind(compiler))();
if (stats.hasErrors()) throw new Error(stats.toString('errors-only'));
await promisify(compiler.close.bind(compiler))();
