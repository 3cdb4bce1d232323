export function localDate(time) {
  const date = new Date(time);
  return date.toLocaleDateString('fr-FR', { dateStyle: 'full', timeZone: 'Europe/Paris' });
}
