import router from '@adonisjs/core/services/router';
import { middleware } from '#start/kernel';

const Orders = () => import('#app/controllers/orders');

router.get('/health', () => ({ ok: true }));
router.get('/orders', [Orders, 'list']);
router.get('/orders/page', [Orders, 'page']);
router.get('/orders/labels', [Orders, 'labels']);
router.get('/orders/checked', [Orders, 'list']).use(middleware.checksum());
router.get('/reports/customers', [Orders, 'customers']);
router.get('/reports/pairs', [Orders, 'pairs']);
router.post('/imports', [Orders, 'import']);
router.post('/paid', [Orders, 'paid']);
router.post('/index', [Orders, 'index']);
