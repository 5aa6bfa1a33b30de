import { adminOnlySddl } from '../operations/files.ts'

/** Access list for access that is inherited from the parent directory. */
export const inheritedAccess = 'O:SYG:SYD:AI'

interface AccessEntry {
  readonly inherited: boolean
  readonly account: string
}

/** Accounts that may access every file: SYSTEM and administrators. */
const trustedAccounts: ReadonlySet<string> = new Set(['SY', 'BA'])

/**
 * Converts an access list to the file mode of a plan. Entries for other accounts count as world-writable. A
 * protected list means a private mode; inheritance means a mode with access for others.
 */
export function toFileMode(sddl: string, isProgram: boolean): number {
  const [, flags = '', list = ''] = /D:([A-Z]*)((?:\([^)]*\))*)/.exec(sddl) ?? []
  const entries = [...list.matchAll(/\(([^)]*)\)/g)].map(([, text = '']) => parseEntry(text))
  const granted = entries.filter(({ inherited, account }) => !inherited && !trustedAccounts.has(account))
  if (granted.length > 0) return isProgram ? 0o777 : 0o666
  if (flags.includes('P')) return isProgram ? 0o700 : 0o600
  return isProgram ? 0o755 : 0o644
}

/** Converts a file mode to an access list in SDDL. */
export function toSddl(mode: number, kind: 'file' | 'directory'): string {
  return (mode & 0o007) === 0 ? adminOnlySddl[kind] : inheritedAccess
}

function parseEntry(text: string): AccessEntry {
  const [, flags = '', , , , who = ''] = text.split(';')
  return { inherited: flags.includes('ID'), account: who }
}
