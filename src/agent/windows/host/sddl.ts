import { closedAccess } from '../operations/files.ts'

/** As the directory above says. */
export const inheritedAccess = 'O:SYG:SYD:AI'

interface Entry {
  readonly inherited: boolean
  readonly who: string
}

/** Whom every file of a host is open to: the system and administrators. */
const own: ReadonlySet<string> = new Set(['SY', 'BA'])

/**
 * Who may enter, in the words of a plan. A mode without rights for others is a list of its own with the system and
 * administrators; any other mode is what the directory above says. Whatever else was granted is more than either.
 */
export function modeOf(sddl: string, isProgram: boolean): number {
  const [, flags = '', list = ''] = /D:([A-Z]*)((?:\([^)]*\))*)/.exec(sddl) ?? []
  const entries = [...list.matchAll(/\(([^)]*)\)/g)].map(([, text = '']) => entryOf(text))
  const granted = entries.filter(({ inherited, who }) => !inherited && !own.has(who))
  if (granted.length > 0) return isProgram ? 0o777 : 0o666
  if (flags.includes('P')) return isProgram ? 0o700 : 0o600
  return isProgram ? 0o755 : 0o644
}

/** What a mode is in the words of Windows. */
export function accessFor(mode: number, kind: 'file' | 'directory'): string {
  return (mode & 0o007) === 0 ? closedAccess[kind] : inheritedAccess
}

function entryOf(text: string): Entry {
  const [, flags = '', , , , who = ''] = text.split(';')
  return { inherited: flags.includes('ID'), who }
}
