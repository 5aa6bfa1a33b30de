import { adminOnlySddl } from '../windows-operations/files.ts'

/** Access list for access that is inherited from the parent directory. */
const inheritedAccess = 'O:SYG:SYD:AI'

interface AccessEntry {
  readonly inherited: boolean
  readonly account: string
}

/** Accounts that may access every file: SYSTEM and administrators. */
const trustedAccounts: ReadonlySet<string> = new Set(['SY', 'BA'])

/**
 * Service account TrustedInstaller, which owns the files of Windows itself. SDDL has no short name for it.
 */
const trustedInstaller = 'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464'

/**
 * Accounts that may own files of hyperkube. SDDL usually contains the short names SY and BA; the first two
 * SIDs are the same accounts.
 */
const trustedOwners: ReadonlySet<string> = new Set([
  ...trustedAccounts,
  'S-1-5-18',
  'S-1-5-32-544',
  trustedInstaller,
])

/**
 * Returns the owner in a security descriptor if it is not SYSTEM, Administrators or TrustedInstaller. Such an
 * owner may replace the access list at any time, so the access list does not protect the file.
 */
export function findForeignOwner(sddl: string): string | undefined {
  const owner = /^O:(S-[\d-]+|[A-Z]{2})/.exec(sddl)?.[1] ?? 'unknown'
  return trustedOwners.has(owner) ? undefined : owner
}

/**
 * Converts a security descriptor to the file mode of a plan. The mode is world-writable in three cases: the
 * owner is not trusted, there is no access list, or an entry gives access to accounts other than SYSTEM and
 * administrators. Inherited entries do not count. Otherwise, a protected list becomes a private mode, and any
 * other list becomes a mode that others can read.
 */
export function toFileMode(sddl: string, isProgram: boolean): number {
  const list = /D:(?!NO_ACCESS_CONTROL)([A-Z]*)((?:\([^)]*\))*)/.exec(sddl)
  const [, flags = '', entriesText = ''] = list ?? []
  const entries = [...entriesText.matchAll(/\(([^)]*)\)/g)].map(([, text = '']) => parseEntry(text))
  const granted = entries.filter(({ inherited, account }) => !inherited && !trustedAccounts.has(account))
  if (list === null || findForeignOwner(sddl) !== undefined || granted.length > 0)
    return isProgram ? 0o777 : 0o666
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
