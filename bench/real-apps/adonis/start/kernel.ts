import router from '@adonisjs/core/services/router';
import server from '@adonisjs/core/services/server';

server.use([() => import('#app/middleware/timing')]);
router.use([() => import('@adonisjs/core/bodyparser_middleware')]);

export const middleware = router.named({
  checksum: () => import('#app/middleware/checksum'),
});
