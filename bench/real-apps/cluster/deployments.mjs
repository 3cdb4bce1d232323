import { readFile } from 'node:fs/promises';
import yaml from 'js-yaml';

const text = Array.from({ length: 900 }, (_, i) =>
  `- name: service-${i}\n  image: registry/service:${i}\n  ports: [${i}, 80]\n  environment:\n    - { name: A, value: "${i}" }\n    - { name: B, value: |\n        x }\n`.replace(
    /\|\n {8}x/,
    'x',
  ),
).join('');

export async function loadDeployments() {
  await readFile(new URL(import.meta.url));
  const services = yaml.load(text);
  return { services: services.length, first: services[0].name };
}
