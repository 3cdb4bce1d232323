import { route } from '@react-router/dev/routes';

export default [route(':what', 'routes/what.jsx')];
