export let render = () => 'old';

export function install(view) {
  render = view;
}
