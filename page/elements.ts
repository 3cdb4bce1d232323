/**
 * The page's elements. Guarantees: what comes from the application only ever becomes text, or the
 * path of a link whose scheme is written here.
 */
type Child = Node | string | false | undefined;

/** An element; a function is a listener, everything else an attribute. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Record<string, string | number | boolean | ((event: never) => void) | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(name, value as EventListener);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== false && child !== undefined));
  return element;
}

let sections = 0;

/** A part of the page with a heading, which is its name. */
export function section(title: string, ...children: Child[]): HTMLElement {
  const id = `section-${++sections}`;
  return h('section', { 'aria-labelledby': id }, h('h2', { id }, title), ...children);
}

/** What an empty part of the page says. */
export function empty(title: string, ...children: Child[]): HTMLElement {
  return h('div', {}, h('p', {}, h('strong', {}, title)), h('p', {}, ...children));
}

export function button(text: string, click: () => void, label?: string): HTMLElement {
  return h('button', { type: 'button', 'aria-label': label, title: label, click }, text);
}

export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** What is said in passing. */
export const aside = (...children: Child[]) => h('p', { class: 'aside' }, ...children);

export const code = (text: string) => h('code', {}, text);

/** Names of colours of the style sheet. */
export const legend = (names: Record<string, string>) =>
  h(
    'span',
    { class: 'legend' },
    ...Object.entries(names).map(([color, name]) => h('span', {}, swatch(color), name)),
  );

/** A colour of the style sheet. A style attribute would be against the page's own policy. */
export function swatch(color: string): HTMLElement {
  const element = h('span', { class: 'swatch', 'aria-hidden': 'true' });
  element.style.background = `var(--${color})`;
  return element;
}

/** A file and a line, which VS Code opens; text if there is no such file. */
export function place(
  file: string,
  line: number | undefined,
  column: number | undefined,
  short: string,
) {
  const text = line === undefined || line === 0 ? short : `${short}:${line}`;
  const path = file.split('\\').join('/');
  const isAbsolute = path.startsWith('/') || /^[A-Za-z]:\//.test(path);
  if (!isAbsolute) return h('span', { class: 'place' }, text);
  const encoded = `${path.startsWith('/') ? '' : '/'}${path}`
    .split('/')
    .map(encodeURIComponent)
    .join('/');
  const href = `vscode://file${encoded}:${line || 1}:${column ?? 1}`;
  return h('a', { class: 'place', href, title: 'Open in VS Code' }, text);
}
