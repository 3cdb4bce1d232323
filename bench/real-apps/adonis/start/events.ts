import emitter from '@adonisjs/core/services/emitter';
import { statementOf } from '#app/services/statements';

declare module '@adonisjs/core/types' {
  interface EventsList {
    'orders:paid': { count: number };
  }
}

emitter.on('orders:paid', ({ count }) => {
  statementOf(count);
});
