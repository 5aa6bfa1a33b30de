import { z } from 'zod'
import { defineChange, timestamp, defineRead, atMostOne, windowsPath } from './operation.ts'

const facts = z
  .object({
    Kind: z.enum(['file', 'directory']),
    Length: z.int(),
    LastWriteTimeUtc: timestamp,
  })
  .transform((raw) => ({ kind: raw.Kind, size: raw.Length, modified: raw.LastWriteTimeUtc }))

const pathInput = z.strictObject({ path: windowsPath })

/**
 * Operations on files and their access lists. Large files are not transferred; the agent downloads them
 * itself.
 */
export const fileOperations = {
  stat: defineRead({ name: 'files.stat', input: pathInput, output: atMostOne(facts), uses: ['Get-Item'] }),
  /** Computes the SHA-256 of a file. For a large program this takes seconds. */
  digest: defineRead({
    name: 'files.digest',
    input: pathInput,
    output: atMostOne(
      z.object({ Hash: z.string().regex(/^[0-9A-Fa-f]{64}$/) }).transform(({ Hash }) => Hash.toLowerCase()),
    ),
    uses: ['Test-Path', 'Get-FileHash'],
    timeoutMs: 120_000,
  }),
  read: defineRead({
    name: 'files.read',
    input: pathInput,
    output: atMostOne(z.object({ Text: z.string() }).transform(({ Text }) => Text)),
    uses: ['Test-Path', '[IO.File]::ReadAllText'],
  }),
  /** Writes a file atomically, in UTF-8 without a byte order mark. */
  write: defineChange({
    name: 'files.write',
    input: z.strictObject({ path: windowsPath, text: z.string().max(1_000_000) }),
    uses: ['Test-Path', '[IO.File]::WriteAllText', '[IO.File]::Replace', '[IO.File]::Move'],
  }),
  /**
   * Moves a file to a path that must not exist. A running program can be moved, but neither overwritten nor
   * removed.
   */
  move: defineChange({
    name: 'files.move',
    input: z.strictObject({ from: windowsPath, to: windowsPath }),
    uses: ['[IO.File]::Move'],
  }),
  /** Removes a file. A missing file is not an error. */
  remove: defineChange({ name: 'files.remove', input: pathInput, uses: ['[IO.File]::Delete'] }),
  /** Returns the access list of a file in SDDL. */
  access: defineRead({
    name: 'files.access',
    input: pathInput,
    output: atMostOne(z.object({ Sddl: z.string() }).transform(({ Sddl }) => Sddl)),
    uses: ['Test-Path', 'Get-Acl'],
  }),
  /** Sets an access list in SDDL. The schema accepts only characters that occur in SDDL. */
  grant: defineChange({
    name: 'files.grant',
    input: z.strictObject({
      path: windowsPath,
      sddl: z
        .string()
        .max(4000)
        .regex(/^[A-Za-z0-9:;()_-]+$/),
    }),
    uses: ['Get-Acl', 'Set-Acl'],
  }),
  /** Restricts access to SYSTEM and administrators, whatever the parent directory allows. */
  close: defineChange({ name: 'files.close', input: pathInput, uses: ['Get-Acl', 'Set-Acl'] }),
}

/** Access lists that `close` sets. Files in a directory inherit the list of the directory. */
export const adminOnlySddl = {
  directory: 'O:SYG:SYD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)',
  file: 'O:SYG:SYD:PAI(A;;FA;;;SY)(A;;FA;;;BA)',
} as const
