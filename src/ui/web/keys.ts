import { formatRoute, pages, type Route } from './route.ts'

/** Handles a key that no input field takes. Returns true if the key has a meaning. */
export function handleKey(key: string, { cluster }: Route, refresh: () => void): boolean {
  const page = pages[Number(key) - 1]
  if (cluster !== undefined && page !== undefined) {
    location.hash = formatRoute({ cluster, page })
    return true
  }
  switch (key) {
    case '/':
      document.getElementById('filter')?.focus()
      return true
    case 'f':
      location.hash = '#/'
      return true
    case 'r':
      refresh()
      return true
    case 'j':
      moveFocus(1)
      return true
    case 'k':
      moveFocus(-1)
      return true
    default:
      return false
  }
}

/** Moves the focus to the next or previous row that has a link. */
function moveFocus(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  const index = links.findIndex((link) => link === document.activeElement)
  const next = index === -1 ? 0 : Math.min(links.length - 1, Math.max(0, index + step))
  links[next]?.focus()
}
